"""Plain types, read without pydantic: scalars, literals, arrays and objects of them, and their unions.

They are what most functions take. `pydantic_core` checks them just the same; what is saved is the import of pydantic, half of
the start of a server, and the building of an adapter for each type.
"""

from __future__ import annotations

import collections.abc as abc
import decimal
import fractions
import numbers
import os
import pathlib
import typing
from collections.abc import Sequence
from typing import Annotated, Any, Literal

import typing_extensions
from pydantic_core import SchemaValidator

from autotool.schema.forms import OPEN, Form
from autotool.schema.notjson import NotJson, importable
from autotool.schema.unions import UNIONS, arms_of

Core = dict[str, Any]
Schema = dict[str, Any]

_SCALARS: dict[Any, tuple[str, str]] = {
    str: ("str", "string"),
    int: ("int", "integer"),
    float: ("float", "number"),
    bool: ("bool", "boolean"),
}
INTEGERS = (typing.SupportsIndex, typing.SupportsInt, numbers.Integral)
NUMBERS = (
    typing.SupportsFloat,
    typing.SupportsAbs,
    typing.SupportsRound,
    numbers.Number,
    numbers.Real,
    numbers.Rational,
)
_LISTS = (list, abc.Iterable, abc.Collection, abc.Sequence, abc.MutableSequence, abc.Reversible)
_SETS = (set, abc.Set, abc.MutableSet)
_OBJECTS = (dict, abc.Mapping, abc.MutableMapping)
_BARE = {
    list: list,
    dict: dict,
    set: set,
    tuple: tuple,
    typing.Iterable: list,
    typing.Sequence: list,
}
NARROWER_NUMBERS = (decimal.Decimal, fractions.Fraction, complex)

_ANY: tuple[Core, Schema] = ({"type": "any"}, {})


class _NotPlain(Exception):
    """pydantic is needed."""


def form_of(annotation: Any) -> Form | None:
    """The form of a plain type, or None for one that needs pydantic.

    Raises:
        NotJson: it is a function or a class, which JSON cannot carry.
    """
    try:
        core, schema = _read(annotation)
    except (_NotPlain, TypeError):
        return None
    if core["type"] == "any":
        return OPEN
    nullable = core["type"] in ("nullable", "none")
    return Form(schema, SchemaValidator(typing.cast("Any", core)), nullable, _exact(core))


def _exact(core: Core) -> frozenset[type]:
    if core["type"] == "nullable":
        inner = _exact(core["schema"])
        return inner | {type(None)} if inner else inner
    kinds = {name: kind for kind, (name, _) in _SCALARS.items()}
    return frozenset({kinds[core["type"]]}) if core["type"] in kinds else frozenset()


def _read(annotation: Any) -> tuple[Core, Schema]:
    if annotation is Any or annotation is object:
        return _ANY
    if annotation is None or annotation is type(None):
        return {"type": "none"}, {"type": "null"}
    origin = typing_extensions.get_origin(annotation)
    if origin is not None:
        return _read_generic(annotation, origin, typing_extensions.get_args(annotation))
    return _read_bare(_BARE.get(annotation, annotation))


def _read_bare(annotation: Any) -> tuple[Core, Schema]:
    if annotation is abc.Hashable or annotation is typing.Hashable:
        return _read_union([str, int, float, bool])
    if annotation in INTEGERS:
        annotation = int
    elif annotation in NUMBERS:
        annotation = float
    if annotation in _SCALARS:
        core, name = _SCALARS[annotation]
        return {"type": core}, {"type": name}
    if annotation in _LISTS:
        return _array("list", _ANY)
    if annotation in _SETS:
        return _array("set", _ANY)
    if annotation is tuple:
        return {"type": "tuple", "items_schema": [_ANY[0]], "variadic_item_index": 0}, {"type": "array", "items": {}}
    if annotation in _OBJECTS:
        return _object(_ANY)
    if annotation is abc.Callable or annotation is type:
        raise _cannot(annotation)
    raise _NotPlain


def _cannot(annotation: Any) -> Exception:
    if importable.get():
        return _NotPlain()
    return NotJson("a class cannot be sent as JSON" if annotation is type else "a function cannot be sent as JSON")


def _array(kind: str, item: tuple[Core, Schema]) -> tuple[Core, Schema]:
    core, schema = item
    return {"type": kind, "items_schema": core}, {"type": "array", "items": schema}


def _object(value: tuple[Core, Schema]) -> tuple[Core, Schema]:
    core, schema = value
    found: Schema = {"type": "object", "additionalProperties": schema or True}
    return {"type": "dict", "keys_schema": {"type": "str"}, "values_schema": core}, found


def _read_generic(annotation: Any, origin: Any, args: tuple[Any, ...]) -> tuple[Core, Schema]:
    if origin in UNIONS:
        if any(typing_extensions.get_origin(arm) is Annotated for arm in args):
            raise _NotPlain  # what is said of one arm holds for that arm only
        return _read_union(list(arms_of(annotation)))
    if origin is Literal:
        return _read_literal(args)
    if origin is abc.Callable or origin is type:
        raise _cannot(origin)
    if origin in _LISTS or origin is frozenset or origin in _SETS:
        kind = "list" if origin in _LISTS else "frozenset" if origin is frozenset else "set"
        return _array(kind, _read(args[0]))
    if origin in _OBJECTS and args[0] in (str, Any):
        return _object(_read(args[1]))
    if origin is tuple and len(args) == 2 and args[1] is Ellipsis:
        core, schema = _read(args[0])
        return {"type": "tuple", "items_schema": [core], "variadic_item_index": 0}, {"type": "array", "items": schema}
    raise _NotPlain


def _read_literal(args: Sequence[Any]) -> tuple[Core, Schema]:
    kinds = {type(value) for value in args}
    if not kinds <= {str, int, bool}:
        raise _NotPlain
    schema: Schema = {"enum": list(args)}
    if len(kinds) == 1:
        schema["type"] = {str: "string", int: "integer", bool: "boolean"}[kinds.pop()]
    return {"type": "literal", "expected": list(args)}, schema


def _read_union(arms: list[Any]) -> tuple[Core, Schema]:
    arms = _carried(arms)
    nullable = type(None) in arms
    rest = [arm for arm in arms if arm is not type(None)]
    if not rest:
        return {"type": "none"}, {"type": "null"}
    read = [_read(arm) for arm in rest]
    if any(core["type"] == "any" for core, _ in read):
        return _ANY
    schemas: list[Schema] = []
    for _, schema in read:
        if schema not in schemas:
            schemas.append(schema)
    if {"type": "number"} in schemas:
        schemas = [schema for schema in schemas if schema != {"type": "integer"}]
    core = read[0][0] if len(read) == 1 else {"type": "union", "choices": [core for core, _ in read]}
    if nullable:
        core = {"type": "nullable", "schema": core}
        schemas.append({"type": "null"})
    return core, schemas[0] if len(schemas) == 1 else {"anyOf": schemas}


def _carried(arms: list[Any]) -> list[Any]:
    """The arms without those that another one stands for, and without functions, where something is left."""
    if str in arms:
        arms = [arm for arm in arms if not _is_path(arm) and arm not in (bytes, bytearray, memoryview)]
    if float in arms:
        arms = [arm for arm in arms if arm not in NARROWER_NUMBERS]
    kept = [arm for arm in arms if not _is_function(arm)]
    if not kept or (len(kept) < len(arms) and importable.get()):
        raise _cannot(abc.Callable) if not kept else _NotPlain
    return kept


def _is_path(arm: Any) -> bool:
    return arm in (os.PathLike, pathlib.Path, pathlib.PurePath) or typing_extensions.get_origin(arm) is os.PathLike


def _is_function(arm: Any) -> bool:
    origin = typing_extensions.get_origin(arm)
    return arm is abc.Callable or arm is type or origin is abc.Callable or origin is type
