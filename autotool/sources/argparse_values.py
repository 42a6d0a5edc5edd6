"""The options and operands of an `argparse` parser: what their words may be, and what they are without."""

from __future__ import annotations

import argparse
import copy
import enum
import itertools
from collections.abc import Iterable
from dataclasses import replace
from typing import Any, cast

from autotool.commands.form import UNSET, Operand, Option, Value, ValueType
from autotool.sources.program_base import Names, fitting, is_kept_back, json_default

_MOST_CHOICES = 200
_TYPES: tuple[tuple[type, ValueType], ...] = ((int, "integer"), (float, "number"), (bool, "boolean"))
_SWITCHES = ("_StoreConstAction", "_AppendConstAction", "_CountAction")  # store_true and store_false are of the first


def is_kind(action: argparse.Action, *names: str) -> bool:
    """Whether an action is one of argparse's own by these names, or made after one."""
    return any(cls.__name__ in names for cls in type(action).__mro__)


def help_of(parser: argparse.ArgumentParser, action: argparse.Action) -> str:
    """The help of one argument in one line, as `--help` would write it out; a default that is kept back is not in it."""
    if not action.help or action.help == argparse.SUPPRESS:
        return ""
    shown = action
    if is_kept_back(action.dest, action.default):
        shown = copy.copy(action)
        shown.default = "not shown"
    try:
        text = parser._get_formatter()._expand_help(shown)
    except Exception:
        text = str(action.help)
    return " ".join(text.split())


def option(action: argparse.Action, said: str, names: Names) -> Option:
    """An argument that begins with a dash."""
    flags, nargs = tuple(action.option_strings), action.nargs
    is_pair = isinstance(action, argparse.BooleanOptionalAction)
    negatives = [flag for flag in flags if is_pair and flag.startswith("--no-")]
    flags = tuple(flag for flag in flags if flag not in negatives) or flags
    base = Option(names.option(flags), flags, is_required=action.required, description=said)
    if is_pair:
        switched = action.default if isinstance(action.default, bool) else UNSET
        return replace(base, negative=negatives[0] if negatives else "", default=switched)
    if is_kind(action, *_SWITCHES) or nargs == 0:
        return replace(base, is_counted=is_kind(action, "_CountAction"))
    value = _value(action)
    repeats = is_kind(action, "_AppendAction")
    is_open = nargs in ("*", "+", argparse.REMAINDER, argparse.PARSER)
    is_list = repeats or is_open or (isinstance(nargs, int) and nargs > 1)
    base = replace(base, default=_default(action, value, is_list=is_list))
    if isinstance(nargs, int) and nargs > 1:
        return replace(base, words=(value,) * nargs)
    if is_open:
        return replace(base, value=value, least=1 if nargs in ("+", argparse.PARSER) else 0)
    return replace(base, value=value, is_optional_value=nargs == "?", is_repeatable=repeats)


def operand(action: argparse.Action, said: str, names: Names) -> Operand:
    """An argument by its place."""
    nargs = action.nargs
    most = nargs if isinstance(nargs, int) else 1 if nargs in (None, "?") else None
    value = _value(action)
    return Operand(
        names.operand(action.metavar, action.dest),
        value,
        least(nargs),
        most,
        default=_default(action, value, is_list=most != 1),
        description=said,
        takes_options=nargs in (argparse.REMAINDER, argparse.PARSER),
    )


def least(nargs: int | str | None) -> int:
    """How many words an operand takes at least."""
    if isinstance(nargs, int):
        return nargs
    return 0 if nargs in ("?", "*", argparse.REMAINDER) else 1


def takes_all(nargs: int | str | None) -> bool:
    """Whether an operand leaves no word for an optional one behind it."""
    return nargs in ("*", "+", argparse.REMAINDER, argparse.PARSER)


def _value(action: argparse.Action) -> Value:
    metavar = action.metavar if isinstance(action.metavar, str) else ""
    known: list[ValueType] = [word for plain, word in _TYPES if action.type is plain]
    kind: ValueType = known[0] if known else "string"
    choices: object = action.choices
    if choices is None:
        return Value(kind, metavar=metavar)
    if kind == "integer" and isinstance(choices, range) and choices and abs(choices.step) == 1:
        return Value(kind, minimum=min(choices[0], choices[-1]), maximum=max(choices[0], choices[-1]), metavar=metavar)
    words = _words(action, choices)
    if not words:
        return Value(kind, metavar=metavar)
    is_integer = kind == "integer" and all(word.lstrip("-").isdecimal() for word in words)
    return Value("integer" if is_integer else "string", words, metavar=metavar)


def _words(action: argparse.Action, choices: object) -> tuple[str, ...]:
    """The words for the choices; none where they are too many, or cannot be gone through."""
    try:
        found = list(itertools.islice(cast("Iterable[Any]", choices), _MOST_CHOICES + 1))
    except Exception:
        return ()
    return tuple(dict.fromkeys(_word(action, choice) for choice in found)) if len(found) <= _MOST_CHOICES else ()


def _word(action: argparse.Action, choice: Any) -> str:
    """The word that the program reads as `choice`: for a member of an enum its text, value or name."""
    if isinstance(choice, enum.Enum) and callable(action.type):
        for word in (str(choice), str(choice.value), choice.name):
            try:
                if action.type(word) == choice:
                    return word
            except Exception:
                continue
    return str(choice)


def _default(action: argparse.Action, value: Value, *, is_list: bool = False) -> Any:
    default = action.default
    if (isinstance(default, str) and default == argparse.SUPPRESS) or is_kept_back(action.dest, default):
        return UNSET
    found = _word(action, default) if isinstance(default, enum.Enum) else json_default(default)
    return fitting(found, value, is_list=is_list)
