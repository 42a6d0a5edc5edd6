"""Classes that JSON can carry: by value, by fields, or by the parameters of their constructor."""

from __future__ import annotations

import collections.abc as abc
import dataclasses
import enum
import functools
import inspect
import os
import sys
import types
import typing
import weakref
from collections.abc import Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Annotated, Any, cast

import pydantic
import typing_extensions
from pydantic import AfterValidator, PlainValidator, WithJsonSchema
from pydantic_core import PydanticCustomError

from autotool.introspect import annotations, signatures
from autotool.schema.code import python_type
from autotool.schema.notjson import NotJson

Wire = Callable[[Any], Any]


_NEVER = (
    types.ModuleType, types.CodeType, types.FrameType, types.TracebackType, types.GeneratorType, types.CoroutineType,
    types.AsyncGeneratorType, types.CellType, weakref.ref, BaseException, type,
)  # fmt: skip

_SCALARS = (str, bool, int, float)


def build(cls: Any, wire: Wire) -> Any:
    """The annotation that stands for `cls`; `wire` translates the types of its parts.

    Raises:
        NotJson: it can be read neither from its fields nor from a plain constructor.
    """
    if not isinstance(cls, type):
        return cls
    if cls in _SCALARS or cls is type(None):
        return cls
    special = python_type(cls) or _array_type(cls)
    if special is not None:
        return special
    if issubclass(cls, _NEVER):
        raise NotJson(f"`{_name(cls)}` cannot be sent as JSON")
    if issubclass(cls, enum.Enum):
        return enum_type(cls)
    if typing_extensions.is_typeddict(cls):
        return _typed_dict(cls, wire)
    if _is_known_to_pydantic(cls):
        return cls
    for scalar in _SCALARS:
        if issubclass(cls, scalar):
            return _converted(scalar, cls)
    return _constructed(cls, wire)


def _name(cls: type) -> str:
    return cls.__qualname__ if cls.__module__ == "builtins" else f"{cls.__module__}.{cls.__qualname__}"


def _is_known_to_pydantic(cls: type) -> bool:
    if hasattr(cls, "__get_pydantic_core_schema__") or hasattr(cls, "__pydantic_core_schema__"):
        return True
    if dataclasses.is_dataclass(cls) or (issubclass(cls, tuple) and hasattr(cls, "_fields")):
        return True
    return cls.__module__.partition(".")[0] in sys.stdlib_module_names and _builds_alone(cls)


@functools.cache
def _builds_alone(cls: type) -> bool:
    try:
        return pydantic.TypeAdapter(cls).core_schema["type"] != "is-instance"
    except Exception:
        return False


@functools.cache
def enum_type(cls: type[enum.Enum]) -> Any:
    """An enum by its values, and by the exact name of a member as a second chance."""
    members = list(cls)
    by_value: dict[Any, enum.Enum] = {}
    for member in members:
        if isinstance(member.value, str | int | float | bool | None):
            by_value[type(member.value), member.value] = member
    published = [member.value for member in members] if len(by_value) == len(members) else [m.name for m in members]

    def find(value: Any) -> enum.Enum:
        found = by_value.get((type(value), value)) if isinstance(value, str | int | float | bool | None) else None
        if found is None and isinstance(value, str):
            found = cls.__members__.get(value) or _by_text(by_value, value)
        if found is None:
            raise PydanticCustomError("enum", "one of {values} is expected", {"values": _listed(published)})
        return found

    schema: dict[str, Any] = {"enum": published}
    kinds = {type(value) for value in published}
    json_type = (
        {str: "string", int: "integer", float: "number", bool: "boolean"}.get(next(iter(kinds)))
        if len(kinds) == 1
        else None
    )
    if json_type:
        schema["type"] = json_type
    return Annotated[Any, PlainValidator(find), WithJsonSchema(schema)]


def _by_text(by_value: dict[Any, enum.Enum], text: str) -> enum.Enum | None:
    """A number that a client sent as text."""
    for (kind, value), member in by_value.items():
        if kind in (int, float) and str(value) == text:
            return member
    return None


def _listed(values: list[Any]) -> str:
    return ", ".join(repr(value) for value in values[:30])


def _array_type(cls: type) -> Any:
    """numpy arrays and scalars, pandas frames and series, where the person's code has imported them."""
    home = cls.__module__.partition(".")[0]
    if home not in ("numpy", "pandas", "polars") or home not in sys.modules:
        return None
    library: Any = sys.modules[home]
    if home == "numpy":
        if cls is library.ndarray:
            return _array(library.asarray, {"type": "array", "items": {}})
        if issubclass(cls, library.generic):
            return _number_type(cls)
        return None
    if cls is getattr(library, "DataFrame", None):
        note = "Records (an array of objects), or an object of columns."
        schema = {"anyOf": [{"type": "array", "items": {"type": "object"}}, {"type": "object"}], "description": note}
        return _array(cls, schema)
    if cls is getattr(library, "Series", None):
        return _array(cls, {"type": "array", "items": {}})
    if cls.__name__ == "Timestamp":
        return _array(cls, {"type": "string", "format": "date-time"})
    return _array(cls, {"type": "array", "items": {}}) if cls.__name__ == "Index" else None


def _typed_dict(cls: Any, wire: Wire) -> Any:
    """A TypedDict with its parts translated. Below Python 3.12 pydantic reads only those of `typing_extensions`."""
    if cls in _under_way.get():
        return dict[str, Any]
    try:
        hints = typing_extensions.get_type_hints(cls, include_extras=True)
    except Exception:
        return dict[str, Any]
    with _building(cls):
        fields = {
            name: wire(kind)
            if annotations.is_required_key(cls, name, kind)
            else typing_extensions.NotRequired[wire(kind)]
            for name, kind in hints.items()
        }
    shape = cast("Any", typing_extensions.TypedDict)(cls.__name__, fields)
    if hasattr(cls, "__pydantic_config__"):
        shape.__pydantic_config__ = cls.__pydantic_config__
    return shape


def _number_type(cls: Any) -> Any:
    kind = str(getattr(cls, "__name__", ""))
    if kind in ("generic", "number", "inexact", "floating", "object_", "flexible", "character"):
        return float if kind in ("number", "inexact", "floating") else Any
    if kind in ("integer", "signedinteger", "unsignedinteger"):
        return int
    base = bool if kind.startswith("bool") else int if "int" in kind else float if kind.startswith("float") else str
    return _converted(base, cls)


def _converted(base: Any, cls: Callable[[Any], Any]) -> Any:
    def convert(value: Any) -> Any:
        return cls(value)  # a class of its own has no signature that pydantic could read

    return Annotated[base, AfterValidator(convert)]


def _array(make: Callable[[Any], Any], schema: dict[str, Any]) -> Any:
    kinds = {"array": list, "object": dict, "string": str}
    wanted = tuple(kinds[arm["type"]] for arm in schema.get("anyOf", [schema]))

    def convert(value: Any) -> Any:
        if not isinstance(value, wanted):
            raise PydanticCustomError("array", "an array is expected")
        try:
            return make(value)
        except Exception as error:
            raise PydanticCustomError("array", "not convertible: {why}", {"why": str(error)[:200]}) from error

    return Annotated[Any, PlainValidator(convert), WithJsonSchema(schema)]


_under_way: ContextVar[tuple[type, ...]] = ContextVar("classes being built", default=())


@contextmanager
def _building(cls: type) -> Generator[None]:
    if cls in _under_way.get():
        raise NotJson(f"`{_name(cls)}` is built from itself")
    token = _under_way.set((*_under_way.get(), cls))
    try:
        yield
    finally:
        _under_way.reset(token)


def _constructed(cls: type, wire: Wire) -> Any:
    """An object of constructor parameters, all of which have a type that JSON carries or a default."""
    why = f"`{_name(cls)}` cannot be built from JSON: its constructor has parameters without a plain type"
    if getattr(cls, "_is_protocol", False):
        return wire(_protocol_type(cls))
    if inspect.isabstract(cls):
        raise NotJson(f"`{_name(cls)}` is abstract")
    if _is_struct_sequence(cls):
        return _array(cls, {"type": "array", "items": {"type": "number"}})
    with _building(cls):
        fields = _constructor_fields(cls, wire, why)
    if not fields:
        raise NotJson(f"`{_name(cls)}` cannot be built from JSON")
    shape = cast("Any", typing_extensions.TypedDict)(cls.__name__, fields)
    shape.__pydantic_config__ = pydantic.ConfigDict(extra="forbid")

    def construct(values: dict[str, Any]) -> Any:
        try:
            return cls(**values)
        except Exception as error:
            text = f"{type(error).__name__}: {error}"[:300]
            raise PydanticCustomError(
                "constructor", "{name} refused it: {why}", {"name": cls.__name__, "why": text}
            ) from error

    return Annotated[shape, AfterValidator(construct)]


_BY_METHOD: tuple[tuple[str, Any], ...] = (
    ("__index__", int), ("__int__", int), ("__float__", float), ("read", typing.TextIO), ("readline", typing.TextIO), ("write", typing.TextIO),
    ("__fspath__", os.PathLike[str]), ("keys", dict), ("items", dict), ("__getitem__", list), ("__iter__", list), ("__call__", abc.Callable),
)  # fmt: skip


def _protocol_type(cls: type) -> Any:
    """What a protocol looks like from its methods.

    Raises:
        NotJson: like nothing that JSON has.
    """
    for method, kind in _BY_METHOD:
        if callable(getattr(cls, method, None)):
            return kind
    raise NotJson(f"`{_name(cls)}` is abstract")


def _is_struct_sequence(cls: Any) -> bool:
    """Such as `os.stat_result` and `time.struct_time`: tuples with names, made from a sequence."""
    return issubclass(cls, tuple) and hasattr(cls, "n_sequence_fields")


def _constructor_fields(cls: type, wire: Wire, why: str) -> dict[str, Any]:
    try:
        signature = signatures.read_constructor(cls)
    except signatures.NoSignature:
        raise NotJson(why) from None
    fields: dict[str, Any] = {}
    for parameter in signature.parameters:
        optional = parameter.default is not signatures.EMPTY
        if parameter.kind in ("var_positional", "var_keyword"):
            if len(signature.parameters) == 2:
                raise NotJson(why)
            continue
        annotation = parameter.annotation
        if annotation is signatures.EMPTY:
            annotation = _type_of_default(parameter.default) if optional else None
        if annotation in (None, Any) or parameter.kind == "positional_only":
            if optional:
                continue
            raise NotJson(why)
        try:
            wired = wire(annotation)
        except NotJson:
            if optional:
                continue
            raise
        fields[parameter.name] = typing_extensions.NotRequired[wired] if optional else wired
    return fields


def _type_of_default(default: Any) -> Any:
    return type(default) if isinstance(default, _SCALARS) else None
