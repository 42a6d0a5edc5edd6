"""click commands and groups, and Typer apps, read from their objects.

Nothing of click is imported here: an object is read with the click of its own environment, and Typer carries one of its own.
"""

from __future__ import annotations

import inspect
import re
import sys
import types
import typing
from collections.abc import Iterator
from typing import Any

from autotool.commands.form import UNSET, Form, Operand, Option, Value, ValueType
from autotool.introspect.importing import one_line
from autotool.sources.program_base import Leaf, Level, Program, json_default

_TYPES: dict[str, ValueType] = {
    "integer": "integer",
    "integer range": "integer",
    "float": "number",
    "float range": "number",
    "boolean": "boolean",
}
_ANNOTATED: dict[Any, ValueType] = {int: "integer", float: "number", bool: "boolean"}


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
        form = _form(command, context)
        names = list(command.list_commands(context)) if hasattr(command, "list_commands") else None
    except Exception as error:
        yield Leaf((*above, Level(word, Form())), reason=f"its parameters cannot be read: {one_line(error)}")
        return
    levels = (*above, Level(word, form))
    if names is None:
        yield Leaf(levels, _help(command))
        return
    if form.operands:
        yield Leaf(levels, reason="a group with arguments of its own stands before its commands")
        return
    if getattr(command, "invoke_without_command", False):
        yield Leaf(levels, _help(command))
    for name in names:
        try:
            below = command.get_command(context, name)
        except Exception as error:
            yield Leaf((*levels, Level(name, Form())), reason=f"it cannot be loaded: {one_line(error)}")
            continue
        if below is not None and not getattr(below, "hidden", False):
            yield from _leaves(below, levels, name, context)


def _help(command: Any) -> str:
    text = str(getattr(command, "help", None) or getattr(command, "short_help", None) or "")
    return inspect.cleandoc(text.partition("\f")[0]).replace("\b\n", "").replace("\b", "").strip()


def _form(command: Any, context: Any) -> Form:
    options: list[Option] = []
    operands: list[Operand] = []
    helps = set(context.help_option_names)
    for parameter in command.get_params(context):
        if getattr(parameter, "hidden", False):
            continue
        if parameter.param_type_name == "argument":
            operands.append(_operand(parameter))
        elif not (set(parameter.opts) & helps) and not _only_tells(parameter):
            options.append(_option(parameter))
    return Form(_help(command), tuple(options), tuple(operands), style="click")


def _only_tells(parameter: Any) -> bool:
    """`--version` and its like: they print and exit."""
    if {"--install-completion", "--show-completion"} & set(parameter.opts):
        return True
    is_flag = getattr(parameter, "is_flag", False) or getattr(parameter, "count", False)
    return bool(is_flag and parameter.is_eager and not parameter.expose_value)


def _option(parameter: Any) -> Option:
    flags = tuple(parameter.opts)
    negatives = tuple(parameter.secondary_opts)
    is_switch = bool(parameter.is_flag) or bool(parameter.count)
    prompted = bool(parameter.prompt) and bool(getattr(parameter, "prompt_required", True))
    words = _words(parameter) if parameter.nargs != 1 and not is_switch else ()
    several = parameter.multiple and not is_switch
    return Option(
        name=_name(flags),
        flags=flags,
        value=None if is_switch or words else _value(parameter),
        words=words,
        is_optional_value=bool(getattr(parameter, "_flag_needs_value", False)) and not is_switch,
        is_repeatable=bool(several) and not words,
        is_counted=bool(parameter.count),
        negative=max(negatives, key=len) if negatives else "",
        is_required=bool(parameter.required) or prompted,
        default=_default(parameter) if not prompted else UNSET,
        description=_described(parameter),
    )


def _operand(parameter: Any) -> Operand:
    nargs = parameter.nargs
    required = bool(parameter.required)
    least = (nargs if nargs > 1 else 1) if required else 0
    name = re.sub(r"\W+", "_", str(parameter.metavar or parameter.name)).strip("_").lower()
    said = str(getattr(parameter, "help", None) or "")
    return Operand(
        name or str(parameter.name),
        _value(parameter),
        least,
        None if nargs == -1 else nargs,
        default=_default(parameter),
        description=said,
    )


def _name(flags: tuple[str, ...]) -> str:
    long = [flag for flag in flags if flag.startswith("--")]
    shown = max(long or flags, key=len)
    name = re.sub(r"[^A-Za-z0-9]+", "_", shown.strip("-/+")).strip("_")
    return name if name and not name[0].isdigit() else f"opt_{name}"


def _words(parameter: Any) -> tuple[Value, ...]:
    described = getattr(parameter, "type_descriptor", None)
    if described is not None and typing.get_origin(described.annotation) is tuple:
        return tuple(_value_of_annotation(kind, described) for kind in typing.get_args(described.annotation))
    if getattr(getattr(parameter, "type", None), "is_composite", False):
        return tuple(_value_of_type(kind) for kind in parameter.type.types)
    return (_value(parameter),) * max(1, parameter.nargs)


def _value(parameter: Any) -> Value:
    described = getattr(parameter, "type_descriptor", None)
    return (
        _value_of_type(parameter.type) if described is None else _value_of_annotation(described.annotation, described)
    )


def _value_of_annotation(annotation: Any, described: Any) -> Value:
    """A Typer parameter's value: newer Typers keep the annotation in the place of a click type."""
    inner = typing.get_args(annotation)
    if typing.get_origin(annotation) in (list, typing.Union, types.UnionType) and inner:
        annotation = next(one for one in inner if one is not type(None))
    if described.is_choice and described.choices is not None:
        return Value("string", tuple(str(getattr(choice, "value", choice)) for choice in described.choices))
    facts = described.parameter_info
    bounded = described.is_ranged and not getattr(facts, "clamp", False)
    low, high = (getattr(facts, "min", None), getattr(facts, "max", None)) if bounded else (None, None)
    return Value(_ANNOTATED.get(annotation, "string"), minimum=low, maximum=high)


def _value_of_type(kind: Any) -> Value:
    name = str(getattr(kind, "name", ""))
    choices = getattr(kind, "choices", None)
    if choices is not None:
        return Value("string", tuple(str(getattr(choice, "name", choice)) for choice in choices))
    low = high = None
    if name.endswith("range") and not getattr(kind, "clamp", False):
        low = None if getattr(kind, "min_open", False) else kind.min
        high = None if getattr(kind, "max_open", False) else kind.max
    return Value(_TYPES.get(name, "string"), minimum=low, maximum=high)


def _default(parameter: Any) -> Any:
    default = parameter.default
    if callable(default) or type(default).__name__ in ("Sentinel", "UNSET") or getattr(parameter, "hide_input", False):
        return UNSET
    found = json_default(default)
    if parameter.is_flag if hasattr(parameter, "is_flag") else False:
        # Of several switches for one value each is simply on or off.
        return found if isinstance(found, bool) and parameter.secondary_opts else UNSET
    return UNSET if found is None else found


def _described(parameter: Any) -> str:
    said = inspect.cleandoc(str(parameter.help or "")).replace("\n", " ")
    names = parameter.envvar
    if names and not getattr(parameter, "hide_input", False):
        shown = names if isinstance(names, str) else ", ".join(names)
        said = f"{said} Also read from the variable {shown}.".strip()
    return said
