"""A program that is written in Python, whatever library reads its command line."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from autotool.commands.form import UNSET, Form, Value

MOST_LEVELS = 8
"""How deep commands are read below commands; a group may hold itself."""

TELLING = frozenset({"--help", "--version", "--install-completion", "--show-completion"})
"""Switches by which a program tells of itself and does nothing."""


@dataclass(frozen=True, slots=True)
class Level:
    """One word of a program's command and what may stand behind it: the program itself first, then its subcommands."""

    word: str
    form: Form


@dataclass(frozen=True, slots=True)
class Leaf:
    """One command of a program.

    Attributes:
        levels: from the program to the command.
        description: what it does; may be "".
        warnings: what a person should know about it.
        reason: why it cannot be served, or "".
    """

    levels: tuple[Level, ...]
    description: str = ""
    warnings: tuple[str, ...] = ()
    reason: str = ""

    @property
    def words(self) -> tuple[str, ...]:
        """The words of the command, the program's name first."""
        return tuple(level.word for level in self.levels)


@dataclass(frozen=True, slots=True)
class Program:
    """A program: its commands, and how one is run.

    Attributes:
        run: called with the words after the program's name; gives what the tool gives, or exits.
        serial: the object whose holders do not run at the same time; None when calls may overlap.
    """

    name: str
    leaves: Sequence[Leaf]
    run: Callable[[list[str]], Any]
    serial: object | None = None


class Names:
    """Gives the parameters of one command names that are their own: options first, operands after them."""

    def __init__(self) -> None:
        self._taken: set[str] = set()

    def option(self, flags: Sequence[str]) -> str:
        """The longest long spelling without its dashes, or the next that is free."""
        long = [flag for flag in flags if flag.startswith("--")]
        short = [flag for flag in flags if flag not in long]
        shown = [_plain(flag.lstrip("-/+")) for flag in (*sorted(long, key=len, reverse=True), *short)]
        names = [name if name and not name[0].isdigit() else f"opt_{name}" for name in shown]
        return self._take([*names, f"{names[0]}_option"])

    def operand(self, shown: Any, otherwise: str) -> str:
        """How the program calls it, in lower case."""
        name = _plain(shown).lower() if isinstance(shown, str) else ""
        name = name or _plain(otherwise).lower() or "operand"
        name = f"operand_{name}" if name[0].isdigit() else name
        return self._take([name, f"{name}_operand"])

    def _take(self, names: Sequence[str]) -> str:
        more = (f"{names[-1]}_{number}" for number in range(2, 1000))
        name = next(one for one in (*names, *more) if one not in self._taken)
        self._taken.add(name)
        return name


def _plain(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9]+", "_", text).strip("_")


_SECRET_NAME = re.compile(r"passw|pwd|passphrase|secret|token|api_?key|credential|private_?key", re.IGNORECASE)
_SHORTEST_SECRET = 4


def is_kept_back(name: str, value: Any) -> bool:
    """Whether a default is not shown: it comes from the environment of this process, or the option's name is a secret's."""
    if not isinstance(value, str) or not value:
        return False
    from_environment = len(value) >= _SHORTEST_SECRET and value in os.environ.values()
    return from_environment or bool(_SECRET_NAME.search(name))


def json_default(value: Any) -> Any:
    """A default that is plain data, or None."""
    if isinstance(value, os.PathLike):
        value = os.fspath(cast("os.PathLike[str]", value))
    if isinstance(value, str) and Path(value).is_absolute():
        return None  # a folder of this machine says nothing to a caller
    if isinstance(value, str | int | float | bool):
        return value
    if isinstance(value, list | tuple) and value:
        items = [json_default(item) for item in cast("Sequence[Any]", value)]
        return items if all(isinstance(item, str | int | float) for item in items) else None
    return None


def fitting(default: Any, value: Value, *, is_list: bool = False) -> Any:
    """A plain default as the option's type has it, or `UNSET`: programs have `"5"` for a number and 5 for a text."""
    if is_list:
        items = [fitting(item, value) for item in default] if isinstance(default, list) else [UNSET]
        return UNSET if any(item is UNSET for item in items) else items
    if default is None or isinstance(default, list) or isinstance(default, bool) != (value.type == "boolean"):
        return UNSET
    if value.choices and str(default) not in value.choices:
        return UNSET
    if value.type not in ("integer", "number"):
        return default if isinstance(default, bool) else str(default)
    try:
        number = float(default)
        return int(default) if value.type == "integer" else number if math.isfinite(number) else UNSET
    except (ValueError, OverflowError):
        return UNSET
