"""Console scripts: the commands that installed distributions bring along."""

from __future__ import annotations

import importlib.metadata
import sys
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from autotool.errors import TargetError
from autotool.introspect.importing import nearest, one_line
from autotool.introspect.reached import LIBRARIES


@dataclass(frozen=True, slots=True)
class Script:
    """A console script: its name, the object behind it, and name, version and summary of its distribution.

    Attributes:
        libraries: those of `reached.LIBRARIES` that its distribution asks for.
    """

    name: str
    value: Any
    module: str
    package: tuple[str, str, str]
    libraries: tuple[str, ...] = LIBRARIES


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
    return Script(name, value, entry.module, _package(entry), _libraries(entry))


def libraries_of(module: ModuleType) -> tuple[str, ...]:
    """The libraries that a module may read its command line with: the standard library's own modules use none."""
    is_standard = module.__name__.partition(".")[0] in sys.stdlib_module_names
    return () if is_standard else LIBRARIES


def _libraries(entry: importlib.metadata.EntryPoint) -> tuple[str, ...]:
    """Importing each takes a tenth of a second; `rich-click` asks for click as well."""
    if entry.dist is None:
        return LIBRARIES
    needed = " ".join(entry.dist.requires or ()).lower()
    return tuple(name for name in LIBRARIES if name in needed)


def _package(entry: importlib.metadata.EntryPoint) -> tuple[str, str, str]:
    if entry.dist is None:
        return ("", "", "")
    facts = entry.dist.metadata
    return (facts["Name"] or "", entry.dist.version, facts["Summary"] or "")
