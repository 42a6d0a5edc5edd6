"""A program that is written in Python, whatever library reads its command line."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autotool.commands.form import Form


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


def json_default(value: Any) -> Any:
    """A default that is plain data, or None."""
    if isinstance(value, str) and Path(value).is_absolute():
        return None  # a folder of this machine says nothing to a caller
    if isinstance(value, str | int | float | bool):
        return value
    if isinstance(value, list | tuple) and value and all(isinstance(item, str | int | float) for item in value):
        return list(value)
    return None
