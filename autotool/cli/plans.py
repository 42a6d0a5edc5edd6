"""From the words on the command line to a plan."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from autotool import settings
from autotool.errors import TargetError
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
            },
            "defaults": {"timeout": flags.timeout},
        },
    )
    named = tuple(flags.targets) or merged.targets
    if not named:
        raise TargetError(
            "nothing to serve was named",
            hint="Name a module: `autotool serve statistics`, or list `targets` in autotool.toml.",
        )
    targets = tuple(parse_target(text) for text in named)
    return Plan(merged, targets, inline=flags.inline, debug=flags.debug, is_configured=not flags.targets)
