"""Console scripts: the commands that installed distributions bring along."""

from __future__ import annotations

import importlib.metadata
from dataclasses import dataclass
from typing import Any

from autotool.errors import TargetError
from autotool.introspect.importing import nearest, one_line


@dataclass(frozen=True, slots=True)
class Script:
    """A console script: its name, the object behind it, and name, version and summary of its distribution."""

    name: str
    value: Any
    module: str
    package: tuple[str, str, str]


def exists(name: str) -> bool:
    """Whether a distribution in this environment brings the script along."""
    return bool(importlib.metadata.entry_points(group="console_scripts", name=name))


def load(name: str) -> Script:
    """Import what stands behind the script `name`.

    Raises:
        TargetError: there is no such script, or its import fails.
    """
    found = list(importlib.metadata.entry_points(group="console_scripts", name=name))
    if not found:
        known = {entry.name for entry in importlib.metadata.entry_points(group="console_scripts")}
        raise TargetError(
            f"there is no console script `{name}` in this Python's environment",
            hint=nearest(name, known) or "A program outside of it is served with `--command`.",
        )
    entry = found[0]
    try:
        value = entry.load()
    except (Exception, SystemExit) as error:
        raise TargetError(f"the console script `{name}` does not import: {one_line(error)}") from error
    return Script(name, value, entry.module, _package(entry))


def _package(entry: importlib.metadata.EntryPoint) -> tuple[str, str, str]:
    if entry.dist is None:
        return ("", "", "")
    facts = entry.dist.metadata
    return (facts["Name"] or "", entry.dist.version, facts["Summary"] or "")
