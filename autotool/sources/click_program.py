"""click commands and groups, and Typer apps, read from their objects.

Nothing of click is imported here: an object is read with the click of its own environment, and Typer carries one of its own.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator
from typing import Any

from autotool.commands.form import Form, Operand, Option
from autotool.introspect.importing import one_line
from autotool.sources import click_values
from autotool.sources.program_base import MOST_LEVELS, TELLING, Leaf, Level, Names, Program


def is_command(value: Any) -> bool:
    """Whether `value` is a click command or group, of whichever copy of click."""
    return any(
        cls.__name__ in ("Command", "BaseCommand")
        and (cls.__module__ == "click.core" or cls.__module__.endswith("._click.core"))
        for cls in type(value).__mro__
    )


def is_typer(value: Any) -> bool:
    """Whether `value` is a Typer app."""
    return any(cls.__name__ == "Typer" and cls.__module__ == "typer.main" for cls in type(value).__mro__)


def program_of(value: Any, name: str) -> Program:
    """Read a command, a group with all that is below it, or a Typer app, and call it `name`."""
    command = sys.modules["typer.main"].get_command(value) if is_typer(value) else value

    def run(argv: list[str]) -> Any:
        return command.main(args=argv, prog_name=name)

    return Program(name, tuple(_leaves(command, (), name, None)), run)


def _leaves(command: Any, above: tuple[Level, ...], word: str, parent: Any) -> Iterator[Leaf]:
    try:
        context = command.context_class(command, info_name=word, parent=parent)
        names = list(command.list_commands(context)) if hasattr(command, "list_commands") else None
        own, inner = (_form(command, context, is_last=is_last) for is_last in (True, False))
    except Exception as error:
        yield Leaf((*above, Level(word, Form())), reason=f"its parameters cannot be read: {one_line(error)}")
        return
    if names is None or getattr(command, "invoke_without_command", False):
        yield Leaf((*above, Level(word, own)), _help(command))
    if not names or len(above) >= MOST_LEVELS:
        return
    levels = (*above, Level(word, inner))
    if any(operand.is_array and operand.most is None for operand in inner.operands):
        yield Leaf(levels, reason="an argument that takes any number of words stands before its commands")
        return
    for name in names:
        yield from _below(command, levels, name, context)


def _below(command: Any, levels: tuple[Level, ...], name: str, context: Any) -> Iterator[Leaf]:
    """The command `name` of a group, and what is below it; groups that hold themselves are not gone through again."""
    try:
        below = command.get_command(context, name)
    except Exception as error:
        yield Leaf((*levels, Level(name, Form())), reason=f"it cannot be loaded: {one_line(error)}")
        return
    above = context
    while above is not None:
        if above.command is below:
            return
        above = above.parent
    if below is not None and not getattr(below, "hidden", False):
        yield from _leaves(below, levels, name, context)


def _help(command: Any) -> str:
    text = str(getattr(command, "help", None) or getattr(command, "short_help", None) or "")
    return inspect.cleandoc(text.partition("\f")[0]).replace("\b\n", "").replace("\b", "").strip()


def _form(command: Any, context: Any, *, is_last: bool) -> Form:
    names = Names()
    helps = set(context.help_option_names)
    options: list[Option] = []
    operands: list[Operand] = []
    parameters = [one for one in command.get_params(context) if not _is_hidden(one)]
    for parameter in parameters:
        is_help = bool(set(parameter.opts) & helps)
        if parameter.param_type_name != "argument" and not is_help and not _only_tells(parameter):
            options.append(click_values.option(parameter, names, is_last=is_last))
    for parameter in parameters:
        if parameter.param_type_name == "argument":
            operands.append(click_values.operand(parameter, names, is_last=is_last))
    return Form(_help(command), tuple(options), tuple(operands), style="click")


def _is_hidden(parameter: Any) -> bool:
    """Whether its author hides it and a call can do without."""
    return bool(getattr(parameter, "hidden", False)) and not parameter.required


def _only_tells(parameter: Any) -> bool:
    """`--version` and its like: they print and exit."""
    is_flag = getattr(parameter, "is_flag", False) or getattr(parameter, "count", False)
    is_eager = parameter.is_eager and not parameter.expose_value
    return bool(is_flag) and not parameter.required and (is_eager or bool(TELLING.intersection(parameter.opts)))
