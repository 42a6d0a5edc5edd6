"""The parameters of a command: what a caller may send, and the text that reaches the command line."""

from __future__ import annotations

import datetime
import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field

from autotool.config import ParameterSection, Scalar
from autotool.errors import ConfigError
from autotool.introspect.signatures import ELLIPSIS_DEFAULT, EMPTY, RawParameter, RawSignature
from autotool.model import TypeOrigin
from autotool.schema import arguments
from autotool.schema.arguments import Arguments, Words

_PLAIN: dict[str, Any] = {
    "string": str,
    "integer": int,
    "number": float,
    "boolean": bool,
    "path": str,
    "date": datetime.date,
}
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_BOUNDS = {
    "minimum": "ge",
    "maximum": "le",
    "min_length": "min_length",
    "max_length": "max_length",
    "pattern": "pattern",
}
_BOUNDED = {
    "minimum": ("integer", "number"),
    "maximum": ("integer", "number"),
    "min_length": ("string", "path"),
    "max_length": ("string", "path"),
    "pattern": ("string", "path"),
}


MAX_REPEATED = 100
"""The most often that a counting switch (`-vvv`) is repeated."""


def arguments_of(
    parameters: Mapping[str, ParameterSection],
    subject: str,
    origin: TypeOrigin,
    own_defaults: Mapping[str, Any] | None = None,
) -> Arguments:
    """The arguments of the command `subject`, checked as those of a function are.

    Args:
        own_defaults: what the program itself takes for what is left out: shown, never sent.

    Raises:
        ConfigError: a parameter contradicts itself; names it.
    """
    raw: list[RawParameter] = []
    words: dict[str, Words] = {}
    for name, parameter in parameters.items():
        _check(name, parameter, subject)
        annotation = _annotation(parameter)
        default = (own_defaults or {}).get(name, _default(parameter))
        default = tuple(default) if isinstance(default, list) else default
        raw.append(RawParameter(name, "keyword_only", annotation, default, origin))
        words[name] = Words(parameter.description)
    try:
        return arguments.build(RawSignature(tuple(raw)), words, subject)
    except ConfigError:
        raise
    except Exception as error:
        # A pattern that is no regular expression, bounds that exclude each other: the schema cannot be built.
        raise ConfigError(f"{subject}: its parameters make no schema: {error}") from error


def is_optional(parameter: ParameterSection) -> bool:
    """Whether a call may leave it out."""
    is_switch = parameter.type == "boolean" and bool(parameter.flag or parameter.off_flag)
    return parameter.optional or parameter.default is not None or is_switch


def is_array(parameter: ParameterSection) -> bool:
    """Whether its value is several words."""
    return parameter.type == "array"


def text_of(value: Any) -> str:
    """The text of one value, as a command line has it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime.date):
        return value.isoformat()
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return str(int(value))
    return str(value)


def _annotation(parameter: ParameterSection) -> Any:
    if parameter.type == "array":
        item = _item(parameter)
        limits = Field(min_length=parameter.min_items, max_length=parameter.max_items)
        bounded = parameter.min_items is not None or parameter.max_items is not None
        return Annotated[list[item], limits] if bounded else list[item]
    if parameter.type == "enum":
        plain: Any = Literal[parameter.choices]
    else:
        plain = _bounded(_PLAIN[parameter.type], parameter, parameter.type)
    return bool | plain if parameter.bare else plain


def _item(parameter: ParameterSection) -> Any:
    if parameter.choices:
        return Literal[parameter.choices]
    return _bounded(_PLAIN[parameter.items], parameter, parameter.items)


def _bounded(plain: Any, parameter: ParameterSection, kind: str) -> Any:
    bounds: dict[str, Any] = {
        _BOUNDS[key]: getattr(parameter, key)
        for key, kinds in _BOUNDED.items()
        if kind in kinds and getattr(parameter, key) is not None
    }
    if kind == "integer" and parameter.flag:
        bounds = {"ge": 0, "le": MAX_REPEATED, **bounds}
    if kind == "integer":
        bounds = {key: int(bound) if float(bound).is_integer() else bound for key, bound in bounds.items()}
    return Annotated[plain, Field(**bounds)] if bounds else plain


def _default(parameter: ParameterSection) -> Any:
    if parameter.default is not None:
        return _read_default(parameter, parameter.default)
    return ELLIPSIS_DEFAULT if is_optional(parameter) else EMPTY


def _read_default(parameter: ParameterSection, default: Scalar | tuple[Scalar, ...]) -> Any:
    if parameter.type == "date" and isinstance(default, str):
        return datetime.date.fromisoformat(default)
    if parameter.type == "number" and isinstance(default, int) and not isinstance(default, bool):
        return float(default)
    return default


def _check(name: str, parameter: ParameterSection, subject: str) -> None:
    where = f"{subject}: params.{name}"
    if not _NAME.fullmatch(name):
        raise ConfigError(f"{where}: a parameter's name is letters, digits and `_`, not {name!r}")
    _check_values(where, parameter)
    _check_words(where, name, parameter)
    _check_default(where, parameter)


def _kind(parameter: ParameterSection) -> str:
    """What one word of it is."""
    return parameter.items if parameter.type == "array" else parameter.type


def _check_values(where: str, parameter: ParameterSection) -> None:
    kind = _kind(parameter)
    if parameter.type == "enum" and not parameter.choices:
        raise ConfigError(f"{where}: an enum needs its values", hint='For example `choices = ["fast", "slow"]`.')
    if parameter.choices and parameter.type not in ("enum", "array"):
        raise ConfigError(f"{where}: `choices` belong to an enum or an array", hint='Write `type = "enum"`.')
    for key, kinds in _BOUNDED.items():
        if getattr(parameter, key) is not None and kind not in kinds:
            raise ConfigError(f"{where}: `{key}` does not bound a value of type {kind}")
    for key in ("min_items", "max_items"):
        if getattr(parameter, key) is not None and parameter.type != "array":
            raise ConfigError(f"{where}: `{key}` belongs to an array")
    if (parameter.within or parameter.must_exist) and kind != "path":
        raise ConfigError(f"{where}: `within` and `must_exist` belong to a path", hint='Write `type = "path"`.')


def _check_words(where: str, name: str, parameter: ParameterSection) -> None:
    kind = _kind(parameter)
    if parameter.flag and kind not in ("boolean", "integer"):
        raise ConfigError(
            f"{where}: `flag` belongs to a boolean, or to an integer that counts",
            hint=f'An option with a value is written in `run`: "{parameter.flag}={{{name}}}".',
        )
    if parameter.off_flag and kind != "boolean":
        raise ConfigError(f"{where}: `off_flag` belongs to a boolean")


def _check_default(where: str, parameter: ParameterSection) -> None:
    default = parameter.default
    if default is None:
        return
    if isinstance(default, tuple) != (parameter.type == "array"):
        raise ConfigError(f"{where}: its default must be {'a list' if parameter.type == 'array' else 'one value'}")
    from pydantic import TypeAdapter, ValidationError

    value = list(default) if isinstance(default, tuple) else default
    try:
        # What a caller may not send is no default either.
        TypeAdapter(_annotation(parameter)).validate_python(value, strict=parameter.type not in ("date", "number"))
    except ValidationError as error:
        raise ConfigError(f"{where}: its default {value!r} is refused: {error.errors()[0]['msg']}") from None
