"""Any Python value as plain JSON data: dict, list, str, int, float, bool and None, all of it strict."""

from __future__ import annotations

import array
import base64
import collections.abc as abc
import dataclasses
import datetime
import decimal
import enum
import fractions
import ipaddress
import math
import re
import types
import uuid
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from pathlib import PurePath
from typing import Any, cast

from pydantic_core import to_jsonable_python

from autotool.worker import arrays

MAX_DEPTH = 60
MAX_ITEMS = 10_000
"""Items taken from an iterator that says nothing of its length."""
SAFE_INTEGER = 2**53 - 1

_ADDRESS = re.compile(r"\s(?:at|object at) 0x[0-9a-fA-F]+")
_SURROGATE = re.compile("[\ud800-\udfff]")


class NotRepresentable(Exception):
    """A value that has no end: a cycle, or nesting beyond `MAX_DEPTH`. The text names the place."""


def clean_text(text: str) -> str:
    """The text without halves of surrogate pairs, which no JSON reader takes."""
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)


def without_address(text: str) -> str:
    """A `repr` without the memory addresses that mean nothing to a reader."""
    return _ADDRESS.sub("", text)


class Converter:
    """Converts one result.

    Attributes:
        found_large: whether an integer beyond ±(2^53-1) was seen; readers in JavaScript would round it.
    """

    def __init__(self, *, large_as_text: bool = False) -> None:
        self.found_large = False
        self._large_as_text = large_as_text
        self._open: dict[int, str] = {}

    def convert(self, value: Any, path: str = "$", depth: int = 0) -> Any:
        """`value` as plain data.

        Raises:
            NotRepresentable: it refers back to itself, or is nested too deeply.
        """
        kind = type(value)
        if value is None or kind is bool:
            return value
        if kind is str:
            return clean_text(value)
        if kind is int:
            return self._integer(value)
        if kind is float:
            return value if math.isfinite(value) else None
        return self._other(value, path, depth)

    def _integer(self, value: int) -> Any:
        if -SAFE_INTEGER <= value <= SAFE_INTEGER:
            return value
        self.found_large = True
        return integer_text(value) if self._large_as_text else value

    def _other(self, value: Any, path: str, depth: int) -> Any:
        found, plain = arrays.plain(value)
        if found:
            return self.convert(plain, path, depth)
        scalar = _SCALARS.get(type(value)) or next((f for kinds, f in _SCALAR_BASES if isinstance(value, kinds)), None)
        if scalar is not None:
            return self.convert(scalar(value), path, depth)
        if depth >= MAX_DEPTH:
            raise NotRepresentable(f"{path} is nested more than {MAX_DEPTH} levels deep")
        key = id(value)
        if key in self._open:
            raise NotRepresentable(f"{path} refers back to {self._open[key]}")
        self._open[key] = path
        try:
            return self._container(value, path, depth + 1)
        finally:
            del self._open[key]

    def _container(self, value: Any, path: str, depth: int) -> Any:
        if isinstance(value, Mapping):
            return self._object(cast("Mapping[Any, Any]", value).items(), path, depth)
        if isinstance(value, tuple) and hasattr(value, "_fields"):
            names = cast("Any", value)._fields
            return self._object(zip(names, cast("tuple[Any, ...]", value), strict=False), path, depth)
        if isinstance(value, tuple) and hasattr(type(value), "n_sequence_fields"):
            return self._object(_struct_fields(value), path, depth)
        if isinstance(value, list | tuple):
            return self._array(cast("list[Any]", value), path, depth)
        if isinstance(value, set | frozenset):
            return self._array(_in_order(cast("set[Any]", value)), path, depth)
        fields = fields_of(value)
        if fields is not None:
            return self._object(fields.items(), path, depth)
        if isinstance(value, abc.Iterator | abc.Sequence | abc.KeysView | abc.ValuesView | abc.ItemsView | abc.Set):
            return self._array(list(islice(cast("abc.Iterable[Any]", value), MAX_ITEMS)), path, depth)
        return self.convert(_last_resort(value), path, depth)

    def _object(self, items: abc.Iterable[tuple[Any, Any]], path: str, depth: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key, item in items:
            name = key_text(key)
            while name in found:
                name += "_"  # two keys that read alike, such as 1 and "1": neither is lost
            found[name] = self.convert(item, f"{path}.{name}", depth)
        return found

    def _array(self, items: abc.Iterable[Any], path: str, depth: int) -> list[Any]:
        convert = self.convert
        return [convert(item, f"{path}[{place}]", depth) for place, item in enumerate(items)]


def integer_text(value: int) -> str:
    """The digits of an integer of any size."""
    try:
        return str(value)
    except ValueError:  # more digits than `sys.get_int_max_str_digits` allows
        return hex(value)


def key_text(key: Any) -> str:
    """A mapping's key as a JSON name: text for text, a value for an enum member, JSON for the rest."""
    if isinstance(key, enum.Enum):
        key = key.value
    if isinstance(key, str):
        return clean_text(str(key))
    if isinstance(key, bool) or key is None:
        return {True: "true", False: "false", None: "null"}[key]
    if isinstance(key, int):
        return integer_text(key)
    if isinstance(key, tuple):
        return ",".join(key_text(part) for part in cast("tuple[Any, ...]", key))
    scalar = _SCALARS.get(type(key)) or next((f for kinds, f in _SCALAR_BASES if isinstance(key, kinds)), None)
    return clean_text(str(scalar(key))) if scalar is not None else clean_text(without_address(_safe(repr, key)))


def _struct_fields(value: Any) -> Iterator[tuple[str, Any]]:
    for name in type(value).__match_args__:
        yield name, getattr(value, name)


def _in_order(values: abc.Iterable[Any]) -> list[Any]:
    items = list(values)
    try:
        return sorted(items)
    except TypeError:
        return sorted(items, key=lambda item: (type(item).__name__, _safe(repr, item)))


def fields_of(value: Any) -> dict[str, Any] | None:
    """The fields of a model, dataclass or attrs instance by name; None for everything else."""
    if isinstance(value, type):
        return None
    dump = getattr(value, "model_dump", None)
    if callable(dump) and hasattr(type(value), "model_fields"):
        return cast("dict[str, Any]", dump(mode="python"))
    if dataclasses.is_dataclass(value):
        return {field.name: getattr(value, field.name, None) for field in dataclasses.fields(value)}
    attributes = getattr(type(value), "__attrs_attrs__", None)
    if attributes is not None:
        return {field.name: getattr(value, field.name, None) for field in attributes}
    return None


def _last_resort(value: Any) -> Any:
    """The object's own words where it has any, else its public attributes, else its `repr`."""
    cls: Any = type(value)
    if isinstance(value, BaseException):
        return f"{cls.__name__}: {_safe(str, value)}"
    if isinstance(value, type | types.FunctionType | types.BuiltinFunctionType | types.MethodType):
        return f"{value.__module__}.{value.__qualname__}" if getattr(value, "__module__", None) else value.__qualname__
    if isinstance(value, types.ModuleType):
        return value.__name__
    if cls.__str__ is not object.__str__:
        return without_address(_safe(str, value))
    attributes = _public_attributes(value)
    if attributes:
        return attributes
    return without_address(_safe(repr, value))


def _public_attributes(value: Any) -> dict[str, Any]:
    names: list[str] = list(getattr(value, "__dict__", {}))
    for cls in type(value).__mro__:
        slots = cls.__dict__.get("__slots__", ())
        names.extend([slots] if isinstance(slots, str) else slots)
    found: dict[str, Any] = {}
    for name in names:
        if not name.startswith("_") and hasattr(value, name):
            found[name] = getattr(value, name)
    return {name: item for name, item in found.items() if not callable(item)}


def _safe(show: Callable[[Any], str], value: Any) -> str:
    try:
        return show(value)
    except Exception:
        return f"<{type(value).__name__}>"


def _match_fields(match: re.Match[Any]) -> dict[str, Any]:
    return {
        "match": match.group(),
        "groups": list(match.groups()),
        "named": match.groupdict(),
        "span": list(match.span()),
    }


def _by_pydantic(value: Any) -> Any:
    return to_jsonable_python(value)


def base64_text(value: Any) -> str:
    """Bytes as base64."""
    return base64.b64encode(bytes(value)).decode("ascii")


_SCALARS: dict[type, Callable[[Any], Any]] = {
    bytes: base64_text,
    bytearray: base64_text,
    memoryview: base64_text,
    array.array: lambda value: value.tolist(),
    complex: lambda value: str(value).strip("()"),
    range: list,
    re.Match: _match_fields,
    re.Pattern: lambda value: value.pattern if isinstance(value.pattern, str) else value.pattern.decode("latin-1"),
    types.SimpleNamespace: vars,
}

_SCALAR_BASES: tuple[tuple[Any, Callable[[Any], Any]], ...] = (
    (enum.Enum, lambda value: value.value),
    ((datetime.date, datetime.time), lambda value: value.isoformat()),
    (datetime.timedelta, _by_pydantic),
    ((decimal.Decimal, fractions.Fraction, uuid.UUID, PurePath, datetime.tzinfo), str),
    (
        (
            ipaddress.IPv4Address,
            ipaddress.IPv6Address,
            ipaddress.IPv4Network,
            ipaddress.IPv6Network,
            ipaddress.IPv4Interface,
        ),
        str,
    ),
    (str, str.__str__),
    (bool, bool),
    (int, int.__int__),
    (float, float.__float__),
)
