"""`argparse` parsers, read from their objects."""

from __future__ import annotations

import argparse
import inspect
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from autotool.commands.form import Form, Operand, Option
from autotool.sources import argparse_values
from autotool.sources.program_base import MOST_LEVELS, TELLING, Leaf, Level, Names, Program

Groups = tuple[tuple[str, ...], ...]
_USUAL_NAMES = ("func", "function", "fn", "handler", "callback", "run", "command", "cmd", "main")


def program_of(parser: argparse.ArgumentParser, name: str, run: Callable[[list[str]], Any], serial: object) -> Program:
    """Read a parser and all that is below it; `run` runs the program with the words after its name."""
    return Program(name, tuple(_leaves(parser, (), name)), run, serial)


def shown_name(parser: argparse.ArgumentParser, otherwise: str) -> str:
    """The program's name where its author gave it one."""
    prog = str(parser.prog or "").split()
    derived = {Path(sys.argv[0]).name, "__main__.py", "-m", "-c"}
    is_named = len(prog) == 1 and prog[0] not in derived and not prog[0].endswith(".py")
    return prog[0] if is_named else otherwise


def function_name(parser: argparse.ArgumentParser) -> str:
    """Under which name parsing gives a function to call (`set_defaults(func=…)`), in every command; "" where it does not."""
    found = _function_names(parser, 0)
    usual = next((name for name in _USUAL_NAMES if name in found), "")
    return usual or (found.pop() if len(found) == 1 else "")


def _function_names(parser: argparse.ArgumentParser, depth: int) -> set[str]:
    own = {name for name, value in parser._defaults.items() if _takes_namespace(value)}
    below = [inner for action in parser._actions if _is_subparsers(action) for _, inner in _below(action)]
    if own or not below or depth > MOST_LEVELS:
        return own
    return set.intersection(*(_function_names(inner, depth + 1) for inner in below))


def _takes_namespace(value: Any) -> bool:
    """Whether `value` is a function that can be called with what parsing gives."""
    if not callable(value) or isinstance(value, type):
        return False
    try:
        inspect.signature(value).bind(None)
    except TypeError:
        return False
    except ValueError:
        return True
    return True


def run_with_function(parser: argparse.ArgumentParser, name: str, argv: list[str]) -> Any:
    """Parse, and call the function that parsing gives; a command that has none shows its help, as programs do."""
    found = parser.parse_args(argv)
    function = getattr(found, name, None)
    if function is None:
        parser.print_help()
        return 0
    return function(found)


def _leaves(parser: argparse.ArgumentParser, above: tuple[Level, ...], word: str) -> Iterator[Leaf]:
    empty = (*above, Level(word, Form()))
    if "-" not in parser.prefix_chars:
        yield Leaf(empty, reason=f"its options begin with {parser.prefix_chars!r} and not with a dash")
        return
    subparsers = [action for action in parser._actions if _is_subparsers(action)]
    try:
        form, warnings = _form(parser, is_last=False) if subparsers else _form(parser, is_last=True)
        own, own_warnings = _form(parser, is_last=True)
    except Exception as error:
        yield Leaf(empty, reason=f"its parameters cannot be read: {type(error).__name__}: {error}")
        return
    if not subparsers or not subparsers[0].required:
        yield Leaf((*above, Level(word, own)), form.summary, own_warnings)
    if not subparsers or len(above) >= MOST_LEVELS:
        return
    levels = (*above, Level(word, form))
    reason = _unreadable(parser, subparsers[0])
    if reason:
        yield Leaf(levels, reason=reason)
        return
    helps = {
        choice.dest: choice.help
        for choice in getattr(subparsers[0], "_choices_actions", ())
        if choice.help != argparse.SUPPRESS
    }
    for name, below in _below(subparsers[0]):
        for leaf in _leaves(below, levels, name):
            is_own = len(leaf.levels) == len(levels) + 1
            said = leaf.description or (str(helps.get(name) or "") if is_own else "")
            yield replace(leaf, description=said, warnings=(*warnings, *leaf.warnings))


def _unreadable(parser: argparse.ArgumentParser, subparsers: argparse.Action) -> str:
    """Why the words of commands could not be told apart from operands, or ""."""
    operands = [action for action in parser._actions if not action.option_strings]
    at = operands.index(subparsers)
    if operands[at + 1 :]:
        return f"`{operands[at + 1].dest}` stands behind its commands, which take all words"
    open_ended = next((action.dest for action in operands[:at] if argparse_values.takes_all(action.nargs)), "")
    return f"`{open_ended}` stands before its commands and takes any number of words" if open_ended else ""


def _is_subparsers(action: argparse.Action) -> bool:
    return argparse_values.is_kind(action, "_SubParsersAction")


def _below(action: argparse.Action) -> Iterator[tuple[str, argparse.ArgumentParser]]:
    """The subparsers, each under its first name."""
    seen: set[int] = set()
    for name, parser in cast("dict[str, argparse.ArgumentParser]", action.choices or {}).items():
        if id(parser) not in seen:
            seen.add(id(parser))
            yield name, parser


def _form(parser: argparse.ArgumentParser, *, is_last: bool) -> tuple[Form, tuple[str, ...]]:
    """The options and operands of a parser; `is_last`: no word of a command follows them."""
    names = Names()
    actions = [action for action in parser._actions if not _only_tells(action)]
    placed = [action for action in actions if not action.option_strings]
    is_closed = is_last and not (placed and placed[0].nargs in (argparse.REMAINDER, argparse.PARSER))
    named: dict[int, Option | Operand] = {}
    warnings: list[str] = []
    for action in actions:
        if not action.option_strings:
            continue
        option = argparse_values.option(action, argparse_values.help_of(parser, action), names)
        if is_closed or option.least is None:
            named[id(action)] = option if is_closed else replace(option, is_optional_value=False)
        else:
            warnings.append(
                f"`{option.name}` is not offered: it takes any number of words, and a bare one has to follow"
            )
    last: argparse.Action | None = None
    for action in placed:
        operand = argparse_values.operand(action, argparse_values.help_of(parser, action), names)
        if last is not None and operand.least == 0 and argparse_values.takes_all(last.nargs):
            warnings.append(f"`{operand.name}` is not offered: what stands before it takes all words")
            continue
        last = action
        named[id(action)] = operand
    exclusive, needed = _groups(parser, {key: one.name for key, one in named.items()})
    form = Form(
        _description(parser),
        tuple(one for one in named.values() if isinstance(one, Option)),
        tuple(one for one in named.values() if isinstance(one, Operand)),
        exclusive=exclusive,
        one_required=needed,
        style="argparse",
        file_signs=str(parser.fromfile_prefix_chars or ""),
    )
    return form, tuple(warnings)


def _only_tells(action: argparse.Action) -> bool:
    """Whether an argument is none of a call: help, version, a command, or one that its author hides and that is not needed."""
    if argparse_values.is_kind(action, "_HelpAction", "_VersionAction", "_SubParsersAction"):
        return True
    is_needed = action.required if action.option_strings else bool(argparse_values.least(action.nargs))
    is_telling = action.nargs == 0 and bool(TELLING.intersection(action.option_strings))
    return (action.help == argparse.SUPPRESS or is_telling) and not is_needed


def _description(parser: argparse.ArgumentParser) -> str:
    text = str(parser.description or "")
    if "%(prog)" in text:
        try:
            text = text % {"prog": parser.prog}
        except (TypeError, ValueError, KeyError):
            text = text.replace("%(prog)s", str(parser.prog))
    return " ".join(text.split()) if "\n\n" not in text else inspect.cleandoc(text).strip()


def _groups(parser: argparse.ArgumentParser, names: dict[int, str]) -> tuple[Groups, Groups]:
    """The names that exclude each other, and those of which one is needed."""
    exclusive: list[tuple[str, ...]] = []
    needed: list[tuple[str, ...]] = []
    for group in parser._mutually_exclusive_groups:
        members = tuple(names[id(action)] for action in group._group_actions if id(action) in names)
        if len(members) > 1:
            exclusive.append(members)
        if group.required and members:
            needed.append(members)
    return tuple(exclusive), tuple(needed)
