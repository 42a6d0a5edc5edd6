"""`argparse` parsers, read from their objects."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from autotool.commands.form import UNSET, Form, Operand, Option, Value
from autotool.sources.program_base import Leaf, Level, Program, json_default

_SWITCHES = ("_StoreTrueAction", "_StoreFalseAction", "_StoreConstAction", "_AppendConstAction")


def program_of(parser: argparse.ArgumentParser, name: str, run: Callable[[list[str]], Any], serial: object) -> Program:
    """Read a parser and all that is below it; `run` runs the program with the words after its name."""
    return Program(name, tuple(_leaves(parser, (), name)), run, serial)


def shown_name(parser: argparse.ArgumentParser, otherwise: str) -> str:
    """The program's name where its author gave it one."""
    prog = str(parser.prog or "").split()
    derived = {Path(sys.argv[0]).name, "__main__.py", "-m", "-c"}
    is_named = len(prog) == 1 and prog[0] not in derived and not prog[0].endswith(".py")
    return prog[0] if is_named else otherwise


def runs_by_itself(parser: argparse.ArgumentParser) -> bool:
    """Whether parsing gives a function to call (`set_defaults(func=…)`), in the parser or in every subparser."""
    return "func" in parser._defaults or (
        all(
            "func" in below._defaults
            for action in parser._actions
            if _is_subparsers(action)
            for _, below in _below(action)
        )
        and any(_is_subparsers(action) for action in parser._actions)
    )


def run_with_function(parser: argparse.ArgumentParser, argv: list[str]) -> Any:
    """Parse and call the function that parsing gives."""
    found = parser.parse_args(argv)
    return found.func(found)


def _leaves(parser: argparse.ArgumentParser, above: tuple[Level, ...], word: str) -> Iterator[Leaf]:
    if "-" not in parser.prefix_chars:
        yield Leaf(
            (*above, Level(word, Form())), reason=f"its options begin with {parser.prefix_chars!r} and not with a dash"
        )
        return
    form, warnings = _form(parser)
    levels = (*above, Level(word, form))
    subparsers = [action for action in parser._actions if _is_subparsers(action)]
    if not subparsers:
        yield Leaf(levels, form.summary, tuple(warnings))
        return
    if not subparsers[0].required:
        yield Leaf(levels, form.summary, tuple(warnings))
    helps = {
        choice.dest: choice.help
        for choice in getattr(subparsers[0], "_choices_actions", ())
        if choice.help != argparse.SUPPRESS
    }
    for name, below in _below(subparsers[0]):
        for leaf in _leaves(below, levels, name):
            said = str(helps.get(name) or "")
            yield leaf if leaf.description or len(leaf.levels) > len(levels) + 1 else replace(leaf, description=said)


def _is_subparsers(action: argparse.Action) -> bool:
    return type(action).__name__ == "_SubParsersAction"


def _below(action: argparse.Action) -> Iterator[tuple[str, argparse.ArgumentParser]]:
    """The subparsers, each under its first name."""
    seen: set[int] = set()
    for name, parser in cast("dict[str, argparse.ArgumentParser]", action.choices or {}).items():
        if id(parser) not in seen:
            seen.add(id(parser))
            yield name, parser


def _form(parser: argparse.ArgumentParser) -> tuple[Form, list[str]]:
    options: list[Option] = []
    operands: list[Operand] = []
    warnings: list[str] = []
    names: dict[int, str] = {}
    for action in parser._actions:
        kind = type(action).__name__
        if kind in ("_HelpAction", "_VersionAction", "_SubParsersAction") or action.help == argparse.SUPPRESS:
            continue
        said = _help(parser, action)
        if action.option_strings:
            option = _option(action, said)
            options.append(option)
            names[id(action)] = option.name
        elif operands and operands[-1].most is None and _least(action.nargs) == 0:
            warnings.append(f"`{_operand(action, said).name}` is not offered: what stands before it takes all words")
        else:
            operands.append(_operand(action, said))
            names[id(action)] = operands[-1].name
    exclusive, needed = _groups(parser, names)
    description = str(parser.description or "")
    if "%(prog)" in description:
        description = description % {"prog": parser.prog}
    form = Form(
        " ".join(description.split()) if "\n\n" not in description else description.strip(),
        tuple(options),
        tuple(operands),
        exclusive=exclusive,
        one_required=needed,
        style="argparse",
        file_signs=str(parser.fromfile_prefix_chars or ""),
    )
    return form, warnings


def _groups(
    parser: argparse.ArgumentParser, names: dict[int, str]
) -> tuple[tuple[tuple[str, ...], ...], tuple[tuple[str, ...], ...]]:
    exclusive: list[tuple[str, ...]] = []
    needed: list[tuple[str, ...]] = []
    for group in parser._mutually_exclusive_groups:
        members = tuple(names[id(action)] for action in group._group_actions if id(action) in names)
        if len(members) > 1:
            exclusive.append(members)
        if group.required and members:
            needed.append(members)
    return tuple(exclusive), tuple(needed)


def _help(parser: argparse.ArgumentParser, action: argparse.Action) -> str:
    if not action.help:
        return ""
    try:
        text = parser._get_formatter()._expand_help(action)
    except Exception:
        text = str(action.help)
    return " ".join(text.split())


def _option(action: argparse.Action, said: str) -> Option:
    kind, nargs = type(action).__name__, action.nargs
    flags = tuple(action.option_strings)
    negative = ""
    if kind == "BooleanOptionalAction":
        negatives = [flag for flag in flags if flag.startswith("--no-")]
        negative = negatives[0] if negatives else ""
        flags = tuple(flag for flag in flags if flag not in negatives) or flags
    base = Option(_name(flags), flags, negative=negative, is_required=action.required, description=said)
    if kind == "BooleanOptionalAction":
        return replace(base, default=action.default if isinstance(action.default, bool) else UNSET)
    if kind in _SWITCHES or nargs == 0:
        return replace(base, is_counted=kind == "_CountAction")
    value = _value(action)
    base = replace(base, default=_default(action))
    if isinstance(nargs, int):
        return replace(base, words=(value,) * nargs)
    if nargs in ("*", "+", argparse.REMAINDER):
        return replace(base, value=value, least=1 if nargs == "+" else 0)
    repeats = kind in ("_AppendAction", "_ExtendAction")
    return replace(base, value=value, is_optional_value=nargs == "?", is_repeatable=repeats)


def _operand(action: argparse.Action, said: str) -> Operand:
    shown = action.metavar if isinstance(action.metavar, str) else action.dest
    name = re.sub(r"[^A-Za-z0-9]+", "_", str(shown)).strip("_").lower() or str(action.dest)
    nargs = action.nargs
    most = nargs if isinstance(nargs, int) else 1 if nargs in (None, "?") else None
    return Operand(name, _value(action), _least(nargs), most, default=_default(action), description=said)


def _least(nargs: int | str | None) -> int:
    if isinstance(nargs, int):
        return nargs
    return 0 if nargs in ("?", "*", argparse.REMAINDER) else 1


def _name(flags: tuple[str, ...]) -> str:
    long = [flag for flag in flags if flag.startswith("--")]
    name = re.sub(r"[^A-Za-z0-9]+", "_", max(long or flags, key=len).strip("-")).strip("_")
    return name if name and not name[0].isdigit() else f"opt_{name}"


def _value(action: argparse.Action) -> Value:
    kind = action.type
    choices = list(action.choices) if action.choices is not None else []
    metavar = action.metavar if isinstance(action.metavar, str) else ""
    if choices and len(choices) <= 200:
        is_integer = kind is int and all(type(choice) is int for choice in choices)
        return Value("integer" if is_integer else "string", tuple(str(choice) for choice in choices), metavar=metavar)
    known = {int: "integer", float: "number", bool: "boolean"}
    return Value(cast("Any", known.get(cast("Any", kind), "string")), metavar=metavar)


def _default(action: argparse.Action) -> Any:
    found = json_default(action.default)
    return UNSET if found is None or action.default == argparse.SUPPRESS else found
