"""From the words on the command line to a plan."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from autotool import config, settings
from autotool.config import ProgramSection
from autotool.errors import ConfigError, TargetError
from autotool.introspect.targets import parse_target
from autotool.server import Plan


@dataclass(frozen=True, slots=True)
class Flags:
    """What a person typed; None stands for what they did not."""

    targets: Sequence[str]
    include: Sequence[str] | None = None
    exclude: Sequence[str] | None = None
    recursive: bool = False
    config: str | None = None
    debug: bool = False
    inline: bool = False
    timeout: str | None = None
    host: str | None = None
    port: int | None = None
    uds: str | None = None
    commands: Sequence[str] | None = None
    budget: str | None = None
    no_auth: bool = False
    read_only: bool = False
    reload: bool = False
    locked: bool = False


def plan_for(flags: Flags) -> Plan:
    """Merge flags, environment and file.

    Raises:
        OperatorError: a setting or a target is wrong, or there is nothing to serve.
    """
    path = Path(flags.config) if flags.config is not None else settings.find_file(Path.cwd())
    merged = settings.gather(
        path,
        {
            "server": {"host": flags.host, "port": flags.port, "uds": flags.uds},
            "tools": {
                "include": tuple(flags.include) if flags.include else None,
                "exclude": tuple(flags.exclude) if flags.exclude else None,
                "recursive": flags.recursive or None,
                "read_only": flags.read_only or None,
                "locked": flags.locked or None,
            },
            "defaults": {"timeout": flags.timeout},
            "auth": {"open": flags.no_auth or None},
        },
    )
    is_configured = not flags.targets and not flags.commands
    if not is_configured:
        # What a person names is served, and nothing else.
        merged = replace(merged, targets=(), workers={}, command={}, program=programs_of(flags))
    targets = tuple(parse_target(text) for text in flags.targets or merged.targets)
    if not (targets or merged.workers or merged.command or merged.program):
        raise TargetError(
            "nothing to serve was named",
            hint="Name a module (`autotool serve statistics`) or a command (`--command 'git log'`), or write an autotool.toml.",
        )
    if flags.reload and flags.inline:
        raise ConfigError(
            "--reload and --inline exclude each other", hint="A reload is a new worker; inline there is none."
        )
    return Plan(
        merged,
        targets,
        inline=flags.inline,
        debug=flags.debug,
        is_configured=is_configured,
        reload=flags.reload,
        config_file=str(path or Path.cwd() / settings.FILE_NAME),
    )


def programs_of(flags: Flags) -> dict[str, ProgramSection]:
    """The sections of the programs that `--command` names.

    Raises:
        ConfigError: one of them cannot be taken apart into words, or the budget is no size.
    """
    try:
        budget = ProgramSection.budget if flags.budget is None else int(config.size(flags.budget))
    except ValueError as error:
        raise ConfigError(f"--budget: {error}") from None
    found: dict[str, ProgramSection] = {}
    for text in flags.commands or ():
        try:
            words = tuple(shlex.split(text))
        except ValueError as error:
            raise ConfigError(f"--command {text!r}: {error}", hint="Write it as in a shell: 'git log'.") from None
        if not words:
            raise ConfigError("--command names no program", hint="For example --command 'git log'.")
        found[tool_name(words)] = ProgramSection(run=words, budget=budget)
    return found


def tool_name(words: Sequence[str]) -> str:
    """The name of a command's tool: its words, the program's without folder and ending."""
    first = Path(words[0]).name
    stem = first.rpartition(".")[0] or first
    names = [stem if first.endswith((".sh", ".py", ".exe", ".pl", ".rb", ".js")) else first]
    names += [word for word in words[1:] if not word.startswith("-")]
    return "_".join(names)


def asked_for(words: Sequence[str]) -> tuple[list[str], str, list[str]]:
    """`[TARGET] TOOL [NAME=VALUE]...`, as `show` and `call` take it: targets, the tool's name, and the values.

    Raises:
        ConfigError: no tool is named.
    """
    names = [word for word in words[:2] if "=" not in word]
    if not names:
        raise ConfigError("no tool is named", hint="`autotool list` shows the names.")
    return list(names[:-1]), names[-1], list(words[len(names) :])
