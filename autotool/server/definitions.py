"""From what targets hold to the catalog that a server offers: cleaned, named, told as the config says, filtered."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from autotool import __version__
from autotool.catalog import Catalog
from autotool.config import Config, ToolSection
from autotool.errors import ConfigError
from autotool.model import Description, ToolSpec, stated
from autotool.policy.rules import Rules
from autotool.policy.sanitize import clean_candidate
from autotool.protocol.methods import ServerInfo
from autotool.server.plan import Plan


def catalog_of(description: Description, config: Config, *, strict: bool = True) -> Catalog:
    """The tools that exist: cleaned, named, and filtered by the allowlist.

    Args:
        strict: whether a tool that the config names must exist.

    Raises:
        ConfigError: the config names a tool that does not exist, or the allowlist leaves nothing.
    """
    catalog = Catalog.build([clean_candidate(candidate) for candidate in description.candidates], description.refusals)
    rules = Rules(config.tools.allow, config.tools.deny)
    if strict:
        _check_sections(catalog, config.tool)
        rules.check([tool.name for tool in catalog.tools])
    catalog = replace(catalog, tools=tuple(_told(tool, config.tool.get(tool.name)) for tool in catalog.tools))
    permitted = catalog.select(lambda tool: rules.permits(tool.name))
    if not permitted.tools:
        raise ConfigError(
            "`[tools] allow` and `deny` leave no tool", hint="`autotool list --config /dev/null` shows all of them."
        )
    return permitted


def _check_sections(catalog: Catalog, sections: Mapping[str, ToolSection]) -> None:
    for name in sections:
        if catalog.find(name) is None:
            near = " or ".join(f"`{other}`" for other in catalog.nearest(name))
            hint = f"Did you mean {near}?" if near else "`autotool list` shows the names."
            raise ConfigError(f"`[tool.{name}]` names a tool that does not exist", hint=hint)


def _told(tool: ToolSpec, section: ToolSection | None) -> ToolSpec:
    if section is None:
        return tool
    candidate = replace(
        tool.candidate,
        title=section.title or tool.candidate.title,
        description=section.description or tool.candidate.description,
        hints=stated(tool.candidate.hints, section, "the config says so"),
    )
    return replace(tool, candidate=candidate)


def server_info(description: Description, plan: Plan) -> ServerInfo:
    """How the server names itself: the config's name, the wrapped distribution's, or the first target's."""
    name, version, summary = description.package
    fallback = plan.targets[0].location.rpartition("/")[2].removesuffix(".py") if plan.targets else _command_name(plan)
    return ServerInfo(plan.config.server.name or name or fallback, version or __version__, summary)


def _command_name(plan: Plan) -> str:
    names = [*plan.config.command, *plan.config.program]
    return names[0] if len(names) == 1 else "autotool"
