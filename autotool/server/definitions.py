"""From what targets hold to the catalog that a server offers: cleaned, named, told as the config says, filtered."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from autotool import __version__
from autotool.catalog import Catalog
from autotool.config import Config, ToolSection, output_rules
from autotool.errors import ConfigError
from autotool.model import Bounds, Description, Refusal, ToolSpec, stated
from autotool.policy import wording
from autotool.policy.redact import Redactor
from autotool.policy.rules import Rules
from autotool.policy.sanitize import clean_candidate
from autotool.policy.tokens import secret_kind
from autotool.protocol.methods import ServerInfo
from autotool.schema import mirrored, naming
from autotool.schema.icons import icons_of
from autotool.server.plan import Plan


def catalog_of(description: Description, config: Config, *, redactor: Redactor, strict: bool = True) -> Catalog:
    """The tools that exist: cleaned, named, and filtered by the allowlist.

    Args:
        redactor: masks secrets in what is told of tools.
        strict: whether a tool that the config names must exist.

    Raises:
        ConfigError: the config names a tool that does not exist, or the allowlist leaves nothing.
    """
    candidates = [clean_candidate(candidate) for candidate in description.candidates]
    catalog = Catalog.build(wording.masked(candidates, redactor), description.refusals)
    catalog = _with_sound_headers(catalog, config.tool)
    if strict:
        _check_sections(catalog, config.tool)
    catalog = _told(catalog, config.tool)
    rules = Rules(config.tools.allow, config.tools.deny)
    notes = rules.check(catalog.tools) if strict else ()
    if not catalog.tools:
        raise ConfigError("there is no tool to serve", hint="; ".join(one.reason for one in catalog.refusals[:3]))
    permitted = catalog.select(lambda tool: rules.permits(tool) and _is_wanted(tool, config))
    if not permitted.tools:
        what = "`read_only`, `allow` and `deny`" if config.tools.read_only else "`allow` and `deny`"
        raise ConfigError(
            f"`[tools]`: {what} leave no tool", hint="`autotool list --config /dev/null` shows all of them."
        )
    return replace(permitted, notes=notes)


def _is_wanted(tool: ToolSpec, config: Config) -> bool:
    return tool.candidate.hints.read_only or not config.tools.read_only


def _with_sound_headers(catalog: Catalog, sections: Mapping[str, ToolSection]) -> Catalog:
    """Without the tools whose marks for headers break a rule."""
    kept: list[ToolSpec] = []
    refusals = list(catalog.refusals)
    for tool in catalog.tools:
        broken, hint = mirrored.problem(tool.candidate.input_schema), "The rules are the protocol's for `x-mcp-header`."
        section = sections.get(tool.name)
        forced = {name for name, one in section.params.items() if one.force} if section is not None else set[str]()
        secret = (
            [] if broken else [name for name in mirrored.unforced(tool.candidate.input_schema) if secret_kind(name)]
        )
        if set(secret) - forced:
            broken = f"the name of `{secret[0]}` looks secret, and the header that mirrors it is logged on its way"
            hint = (
                "Say `autotool.Header(…, force=True)`, or `force = true` of the parameter in the config, if it is none."
            )
        if broken:
            refusals.append(Refusal(tool.candidate.key, broken, hint))
        else:
            kept.append(_without_force(tool))
    return replace(catalog, tools=tuple(kept), refusals=tuple(refusals))


def _without_force(tool: ToolSpec) -> ToolSpec:
    one = tool.candidate
    if next(mirrored.marked(one.input_schema), None) is None:
        return tool
    parameters = tuple(replace(known, schema=mirrored.published(known.schema)) for known in one.parameters)
    candidate = replace(one, input_schema=mirrored.published(one.input_schema), parameters=parameters)
    return replace(tool, candidate=candidate)


def _check_sections(catalog: Catalog, sections: Mapping[str, ToolSection]) -> None:
    for name in sections:
        if catalog.find(name) is None:
            near = " or ".join(f"`{other}`" for other in catalog.nearest(name))
            hint = f"Did you mean {near}?" if near else "`autotool list` shows the names."
            raise ConfigError(f"`[tool.{name}]` names a tool that does not exist", hint=hint)


def _told(catalog: Catalog, sections: Mapping[str, ToolSection]) -> Catalog:
    """The tools as the config has them. Sections go by the names that tools have without the config."""
    found: dict[str, ToolSpec] = {}
    for tool in catalog.tools:
        section = sections.get(tool.name)
        made = tool if section is None else _as_said(tool, section)
        if made.name in found:
            raise ConfigError(
                f"`[tool.{tool.name}] name`: there is another tool named `{made.name}`", hint="Choose another name."
            )
        found[made.name] = made
    return replace(catalog, tools=tuple(found.values()))


def _as_said(tool: ToolSpec, section: ToolSection) -> ToolSpec:
    if section.params:
        from autotool.policy.overrides import overridden

        tool = overridden(tool, section.params)
    one = tool.candidate
    candidate = replace(
        one,
        title=section.title or one.title,
        description=section.description or one.description,
        tags=(*one.tags, *section.tags),
        icons=icons_of(section.icons, f"`[tool.{tool.name}]`") or one.icons,
        hints=stated(one.hints, section, "the config says so"),
        bounds=Bounds(
            one.bounds.timeout_s if section.timeout is None else section.timeout,
            one.bounds.max_output_bytes if section.max_output is None else section.max_output,
            one.bounds.rate_limit if section.rate_limit is None else section.rate_limit,
            one.bounds.concurrency if section.concurrency is None else section.concurrency,
        ),
        approval=section.approval or one.approval,
        output=output_rules(section).over(one.output),
    )
    if section.name is None:
        return replace(tool, candidate=candidate)
    if not naming.is_legal(section.name):
        raise ConfigError(
            f"`[tool.{tool.name}] name`: {section.name!r} is no tool name",
            hint="Letters, digits, `_` and `-`, at most 64.",
        )
    return replace(tool, name=section.name, candidate=candidate)


def server_info(description: Description, plan: Plan) -> ServerInfo:
    """How the server names itself: the config's name, the wrapped distribution's, or the first target's."""
    name, version, summary = description.package
    fallback = plan.targets[0].location.rpartition("/")[2].removesuffix(".py") if plan.targets else _command_name(plan)
    return ServerInfo(plan.config.server.name or name or fallback, version or __version__, summary)


def _command_name(plan: Plan) -> str:
    names = [*plan.config.workers, *plan.config.command, *plan.config.program]
    return names[0] if len(names) == 1 else "autotool"
