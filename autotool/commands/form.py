"""The form of a program's command line: its options, operands and subcommands, as plain data.

Filled from a help text (`commands.help_page`) or from live click, Typer and argparse objects (`sources`). `commands.argv` writes
a command line after it, `commands.arguments` makes a tool's arguments of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

ValueType = Literal["string", "integer", "number", "boolean", "path", "date"]

UNSET: Any = object()
"""No default is known."""


@dataclass(frozen=True, slots=True)
class Value:
    """What one word of a command line may be.

    Attributes:
        type: `boolean` for a word that stands for true or false; a switch without a word has no `Value`.
        choices: the only words, in the order shown; empty for any.
        metavar: how the program calls it, `FILE`; may be "".
    """

    type: ValueType = "string"
    choices: tuple[str, ...] = ()
    minimum: float | None = None
    maximum: float | None = None
    metavar: str = ""


@dataclass(frozen=True, slots=True)
class Option:
    """One option, under all its spellings.

    Attributes:
        name: the parameter's name: the longest long spelling without its dashes, `-` as `_`.
        flags: every spelling, as shown, in that order: `("-o", "--output")`.
        value: what follows it; None for a switch.
        is_optional_value: it may stand alone or with a value (`--color[=WHEN]`).
        words: how many words follow it, when not one (`--pair LO HI`); empty means one.
        least: of an option that takes any number of words (`--tags [TAG ...]`) the least; None for the others.
        is_repeatable: it may be given several times, each with its value.
        is_counted: a switch that counts (`-vvv`).
        joint: how the help joins a value to the preferred spelling: `=`, a space, or nothing (`-Wa,<options>`); "" when
            it does not say.
        no_dash: a value that begins with a dash would be an option, even where it is joined to this one (click, where a value
            may be left out).
        after_operands: it must stand behind the operands (the tests of `find`).
        negative: the spelling that switches it off (`--no-color`), or "".
        is_required: the program does not run without it.
        default: the value that is used without it, as JSON data, where an object says so; `UNSET` from texts.
        description: in words, its default included.
        danger: why it is not offered unless a person names it, or "".
    """

    name: str
    flags: tuple[str, ...]
    value: Value | None = None
    is_optional_value: bool = False
    words: tuple[Value, ...] = ()
    least: int | None = None
    is_repeatable: bool = False
    is_counted: bool = False
    joint: Literal["", "=", " ", "none"] = ""
    no_dash: bool = False
    after_operands: bool = False
    negative: str = ""
    is_required: bool = False
    default: Any = UNSET
    description: str = ""
    danger: str = ""


@dataclass(frozen=True, slots=True)
class Operand:
    """One operand (a positional argument).

    Attributes:
        name: the parameter's name, lower case.
        least: how many words it takes at least; 0 when it may be left out.
        most: how many at most; None for any number.
        after_dashes: it stands behind a `--` of its own (`[--] <path>...` of git).
        takes_options: every word behind its first belongs to it, options too; where it stands first, a `--` would as well.
        default: as for options.
        danger: why it is not offered unless a person names it, or "".
    """

    name: str
    value: Value = Value()
    least: int = 1
    most: int | None = 1
    after_dashes: bool = False
    takes_options: bool = False
    default: Any = UNSET
    description: str = ""
    danger: str = ""

    @property
    def is_array(self) -> bool:
        """Whether it takes several words."""
        return self.most != 1


@dataclass(frozen=True, slots=True)
class Subcommand:
    """A command of a program that has several: its word and the line that the program says of it."""

    name: str
    summary: str = ""


Style = Literal["getopt", "posix", "argparse", "click", "git", "other"]
"""How a program takes its words apart. `posix`: as getopt does, but `--option=value` is not certain. `other`: nothing is known, not even that `--` ends the options."""


@dataclass(frozen=True, slots=True)
class Form:
    """What may stand on a command line.

    Attributes:
        summary: what the program does, one or two sentences; may be "".
        exclusive: groups of parameter names of which at most one may be given.
        one_required: those of `exclusive` of which one must be given.
        unread: lines that look like options or usage but could not be read; they are left out, not guessed.
        file_signs: signs behind which the program would read a file of words (argparse's `fromfile_prefix_chars`).
        is_confident: whether this describes the program; if not, only a list of arguments can be offered.
    """

    summary: str = ""
    options: tuple[Option, ...] = ()
    operands: tuple[Operand, ...] = ()
    subcommands: tuple[Subcommand, ...] = ()
    exclusive: tuple[tuple[str, ...], ...] = ()
    one_required: tuple[tuple[str, ...], ...] = ()
    style: Style = "other"
    unread: tuple[str, ...] = ()
    file_signs: str = ""
    is_confident: bool = True
