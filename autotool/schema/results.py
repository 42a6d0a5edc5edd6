"""Output schemas: what a function's return annotation promises, in the form in which results are serialised."""

from __future__ import annotations

import collections
import collections.abc as abc
import dataclasses
import datetime
import decimal
import enum
import fractions
import functools
import inspect
import ipaddress
import types
import typing
import uuid
from dataclasses import dataclass
from pathlib import PurePath
from typing import Annotated, Any, Literal, cast

import typing_extensions

from autotool.introspect import annotations
from autotool.schema import dialect

Schema = dict[str, Any]


class _NoPromise(Exception):
    """Nothing can be promised of a value of this type."""


@dataclass(frozen=True, slots=True)
class ResultType:
    """What a callable promises to return.

    Attributes:
        json_schema: of the structured content, or None where nothing can be promised.
        allows_text: whether a plain string keeps the promise.
        promises_numbers: whether integers beyond 2^53 must stay numbers for the promise to hold.
    """

    json_schema: Schema | None = None
    allows_text: bool = True
    promises_numbers: bool = False


_NOTHING = ResultType()

_STRINGS: dict[Any, str] = {
    datetime.datetime: "date-time", datetime.date: "date", datetime.time: "", datetime.timedelta: "duration", uuid.UUID: "uuid",
    decimal.Decimal: "", fractions.Fraction: "", ipaddress.IPv4Address: "ipv4", ipaddress.IPv6Address: "ipv6", complex: "",
}  # fmt: skip

_ARRAYS = (
    list, tuple, set, frozenset, collections.deque, abc.Sequence, abc.Iterable, abc.Iterator, abc.Generator, abc.Collection, abc.Set,
    abc.AsyncIterator, abc.AsyncIterable, abc.AsyncGenerator, abc.MutableSequence, range,
)  # fmt: skip
_OBJECTS = (
    dict,
    abc.Mapping,
    abc.MutableMapping,
    collections.OrderedDict,
    collections.defaultdict,
    collections.Counter,
    types.MappingProxyType,
)


def result_type(annotation: Any) -> ResultType:
    """What `annotation` (`inspect.Signature.empty` where there is none) promises."""
    if annotation in (inspect.Signature.empty, Any, None, type(None), object):
        return _NOTHING
    try:
        return _cached(annotation)
    except TypeError:
        return _built(annotation)


@functools.lru_cache(maxsize=4096, typed=True)
def _cached(annotation: Any) -> ResultType:
    return _built(annotation)


def _built(annotation: Any) -> ResultType:
    try:
        schema = _describe(annotation, ())
    except Exception:
        # Annotations of foreign code can fail in any way; nothing is promised then.
        return _NOTHING
    if not schema or schema == {"type": "null"}:
        return _NOTHING
    schema = dialect.tidy(_with_null_numbers(schema))
    arms = schema.get("anyOf")
    if isinstance(arms, list) and all(arm.get("type") == "object" for arm in cast("list[Schema]", arms)):
        schema = {"type": "object", **schema}
    return ResultType(schema, _allows_text(schema), "integer" in repr(schema) or "number" in repr(schema))


def _allows_text(schema: Schema) -> bool:
    arms: list[Schema] = schema.get("anyOf", [schema])
    return any(arm.get("type") == "string" and "enum" not in arm for arm in arms)


def _with_null_numbers(schema: Any) -> Any:
    """A float may be NaN or infinite, which JSON writes as null."""
    if isinstance(schema, list):
        return [_with_null_numbers(item) for item in cast("list[Any]", schema)]
    if not isinstance(schema, dict):
        return schema
    node = cast("Schema", schema)
    if node.get("type") == "number" and "enum" not in node:
        return {"anyOf": [node, {"type": "null"}]}
    return {
        key: {name: _with_null_numbers(below) for name, below in value.items()}
        if key in ("properties", "$defs")
        else _with_null_numbers(value)
        if key in ("items", "anyOf", "oneOf", "allOf", "additionalProperties", "prefixItems")
        else value
        for key, value in node.items()
    }


def _describe(annotation: Any, under_way: tuple[Any, ...]) -> Schema:
    if annotation in (Any, object, inspect.Signature.empty):
        return {}
    if annotation in (None, type(None)):
        return {"type": "null"}
    origin = typing_extensions.get_origin(annotation)
    if origin is not None:
        return _describe_generic(origin, typing_extensions.get_args(annotation), under_way)
    return _describe_plain(annotation, under_way)


def _describe_plain(annotation: Any, under_way: tuple[Any, ...]) -> Schema:
    plain = {str: "string", int: "integer", float: "number", bool: "boolean"}.get(annotation)
    if plain is not None:
        return {"type": plain}
    if annotation in _STRINGS:
        form = _STRINGS[annotation]
        return {"type": "string", "format": form} if form else {"type": "string"}
    if isinstance(annotation, typing.TypeVar | typing_extensions.TypeVar):
        return {}
    if isinstance(annotation, typing.NewType):
        return _describe(annotation.__supertype__, under_way)
    if hasattr(annotation, "__value__") and type(annotation).__name__ == "TypeAliasType":
        return _describe(annotation.__value__, under_way)
    if annotation in _ARRAYS or annotation in (typing.List, typing.Tuple, typing.Set):  # noqa: UP006 - what people write
        return {"type": "array", "items": {}}
    if annotation in _OBJECTS or annotation is typing.Dict:  # noqa: UP006 - as above
        return {"type": "object"}
    if isinstance(annotation, type):
        return _describe_class(annotation, under_way)
    raise _NoPromise


def _describe_class(cls: Any, under_way: tuple[Any, ...]) -> Schema:
    if cls in under_way:
        raise _NoPromise
    deeper = (*under_way, cls)
    if issubclass(cls, enum.Enum):
        return _enum(cls)
    if issubclass(cls, PurePath):
        return {"type": "string"}
    if _is_model(cls):
        return _model_schema(cls)
    if typing_extensions.is_typeddict(cls):
        hints = typing_extensions.get_type_hints(cls)
        full = typing_extensions.get_type_hints(cls, include_extras=True)
        required = [name for name, kind in full.items() if annotations.is_required_key(cls, name, kind)]
        return _object({name: _describe(kind, deeper) for name, kind in hints.items()}, required)
    if dataclasses.is_dataclass(cls):
        hints = typing_extensions.get_type_hints(cls)
        return _fields_object([field.name for field in dataclasses.fields(cls)], hints, deeper)
    names: list[str] = list(getattr(cls, "_fields", ()))
    if issubclass(cls, tuple) and names:
        hints = typing_extensions.get_type_hints(cls)
        return _fields_object(names, hints, deeper)
    raise _NoPromise


def _fields_object(names: list[str], hints: dict[str, Any], under_way: tuple[Any, ...]) -> Schema:
    return _object({name: _describe(hints.get(name, Any), under_way) for name in names}, names)


def _is_model(cls: type) -> bool:
    """Whether `cls` is a pydantic model; pydantic itself is not imported to tell."""
    return hasattr(cls, "model_fields") and hasattr(cls, "__pydantic_core_schema__")


def _model_schema(cls: Any) -> Schema:
    from autotool.schema.generator import schema_of

    return schema_of(cls, "serialization")


def _enum(cls: type[enum.Enum]) -> Schema:
    values = [member.value for member in cls]
    if issubclass(cls, enum.Flag) or not all(isinstance(value, str | int | bool | None) for value in values):
        raise _NoPromise
    return {"enum": values}


def _object(properties: dict[str, Schema], required: list[str]) -> Schema:
    schema: Schema = {"type": "object", "properties": properties}
    return {**schema, "required": required} if required else schema


def _describe_generic(origin: Any, args: tuple[Any, ...], under_way: tuple[Any, ...]) -> Schema:
    if origin in (Annotated, typing.Final, typing.ClassVar, typing_extensions.Required, typing_extensions.NotRequired):
        return _describe(args[0], under_way)
    if origin in (typing.Union, types.UnionType):
        arms = [_describe(arm, under_way) for arm in args]
        return {} if {} in arms else {"anyOf": arms}
    if origin is Literal:
        if not all(isinstance(value, str | int | bool | None) and not isinstance(value, enum.Enum) for value in args):
            raise _NoPromise
        return {"enum": list(args)}
    if origin is tuple:
        return _tuple(args, under_way)
    if origin in _ARRAYS:
        return {"type": "array", "items": _describe(args[0], under_way)}
    if origin in _OBJECTS:
        value = int if origin is collections.Counter else args[1]
        return {"type": "object", "additionalProperties": _describe(value, under_way) or True}
    if isinstance(origin, type) and _is_model(origin):
        return _model_schema(cast("Any", origin)[args])
    if str(getattr(origin, "__name__", "")) in ("TypeGuard", "TypeIs"):
        return {"type": "boolean"}
    raise _NoPromise


def _tuple(args: tuple[Any, ...], under_way: tuple[Any, ...]) -> Schema:
    if len(args) == 2 and args[1] is Ellipsis:
        return {"type": "array", "items": _describe(args[0], under_way)}
    arms: list[Schema] = []
    for arg in args:
        described = _describe(arg, under_way)
        if described not in arms:
            arms.append(described)
    items: Any = {} if {} in arms or not arms else arms[0] if len(arms) == 1 else {"anyOf": arms}
    return {"type": "array", "items": items, "minItems": len(args), "maxItems": len(args)}
