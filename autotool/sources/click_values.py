"""The options and arguments of click and Typer commands: what their words may be, and what they are without."""

from __future__ import annotations

import enum
import inspect
import math
import os
import types
import typing
from typing import Any

from autotool.commands.form import UNSET, Operand, Option, Value, ValueType
from autotool.sources.program_base import Names, fitting, is_kept_back, json_default

_TYPES: dict[str, ValueType] = {
    "integer": "integer",
    "integer range": "integer",
    "float": "number",
    "float range": "number",
    "boolean": "boolean",
}
_ANNOTATED: dict[Any, ValueType] = {int: "integer", float: "number", bool: "boolean"}


def option(parameter: Any, names: Names, *, is_last: bool) -> Option:
    """An option; `is_last`: no word of a command follows it, which it would take where its value may be left out."""
    flags, negatives = tuple(parameter.opts), tuple(parameter.secondary_opts)
    is_switch = bool(parameter.is_flag) or bool(parameter.count)
    prompted = bool(parameter.prompt) and bool(getattr(parameter, "prompt_required", True))
    words = _words(parameter) if parameter.nargs != 1 and not is_switch else ()
    value = None if is_switch or words else _value(parameter)
    is_repeatable = bool(parameter.multiple) and not is_switch and not words
    may_stand_alone = bool(getattr(parameter, "_flag_needs_value", False)) and not is_switch
    return Option(
        name=names.option(flags or negatives),
        flags=flags or negatives,
        value=value,
        words=words,
        is_optional_value=is_last and may_stand_alone,
        no_dash=may_stand_alone,
        is_repeatable=is_repeatable,
        is_counted=bool(parameter.count),
        negative=max(negatives, key=len) if negatives and flags else "",
        is_required=(bool(parameter.required) and _is_needed(parameter)) or prompted,
        default=UNSET if prompted else _default(parameter, value or Value(), is_list=bool(words) or is_repeatable),
        description=_described(parameter),
    )


def operand(parameter: Any, names: Names, *, is_last: bool) -> Operand:
    """An argument; before the word of a command it is always needed, or it would take that word."""
    nargs = parameter.nargs
    is_needed = not is_last or (bool(parameter.required) and _is_needed(parameter))
    value = _value(parameter)
    return Operand(
        names.operand(parameter.metavar, str(parameter.name)),
        value,
        (nargs if nargs > 1 else 1) if is_needed else 0,
        None if nargs == -1 else nargs,
        default=_default(parameter, value, is_list=nargs != 1),
        description=str(getattr(parameter, "help", None) or ""),
    )


def _is_needed(parameter: Any) -> bool:
    """Whether a required parameter has no default, and no variable of this process that stands for it."""
    names = [parameter.envvar] if isinstance(parameter.envvar, str) else parameter.envvar or ()
    return _is_unset(parameter.default) and not any(name in os.environ for name in names)


def _is_unset(default: Any) -> bool:
    return default is None or type(default).__name__ in ("Sentinel", "UNSET", "_UnsetType")


def _words(parameter: Any) -> tuple[Value, ...]:
    described = getattr(parameter, "type_descriptor", None)
    if described is not None and typing.get_origin(described.annotation) is tuple:
        return tuple(_value_of_annotation(kind, described) for kind in typing.get_args(described.annotation))
    if getattr(getattr(parameter, "type", None), "is_composite", False):
        return tuple(_value_of_type(kind) for kind in parameter.type.types)
    return (_value(parameter),) * max(1, parameter.nargs)


def _value(parameter: Any) -> Value:
    described = getattr(parameter, "type_descriptor", None)
    if described is None:
        return _value_of_type(parameter.type)
    return _value_of_annotation(described.annotation, described)


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
        return Value("string", tuple(dict.fromkeys(_choice(choice) for choice in choices)))
    found = _TYPES.get(name, "string")
    if not name.endswith(" range") or getattr(kind, "clamp", False):
        return Value(found)
    low, high = kind.min, kind.max
    if getattr(kind, "min_open", False):
        low = math.floor(low) + 1 if found == "integer" and low is not None else None
    if getattr(kind, "max_open", False):
        high = math.ceil(high) - 1 if found == "integer" and high is not None else None
    return Value(found, minimum=low, maximum=high)


def _choice(choice: Any) -> str:
    """The word for a choice: of an enum's member its name (click 8.2 and newer)."""
    return choice.name if isinstance(choice, enum.Enum) else str(choice)


def _default(parameter: Any, value: Value, *, is_list: bool) -> Any:
    default = parameter.default
    if callable(default) or _is_unset(default) or getattr(parameter, "hide_input", False):
        return UNSET
    if is_kept_back(str(parameter.name), default):
        return UNSET
    if getattr(parameter, "is_flag", False):
        # Of several switches for one value each is simply on or off.
        return default if isinstance(default, bool) and parameter.secondary_opts else UNSET
    if getattr(parameter, "count", False):
        return UNSET
    return fitting(
        _choice(default) if isinstance(default, enum.Enum) else json_default(default), value, is_list=is_list
    )


def _described(parameter: Any) -> str:
    said = [inspect.cleandoc(str(getattr(parameter, "help", None) or "")).replace("\n", " ")]
    formats = getattr(getattr(parameter, "type", None), "formats", None)
    if isinstance(formats, list | tuple) and formats:
        said.append(f"Written as {' or '.join(str(one) for one in typing.cast('list[Any]', formats))}.")
    names = parameter.envvar
    if names and not getattr(parameter, "hide_input", False):
        shown = names if isinstance(names, str) else ", ".join(names)
        said.append(f"Also read from the variable {shown}.")
    return " ".join(part for part in said if part)
