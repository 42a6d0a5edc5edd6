"""From an annotation to a type that JSON can carry: what is validated, and what is published."""

from __future__ import annotations

import collections
import collections.abc as abc
import io
import numbers
import os
import pathlib
import re
import types
import typing
from collections.abc import Callable
from typing import Annotated, Any, Literal, cast

import typing_extensions

from autotool.introspect.stub_types import WritableFile
from autotool.schema import classes, code, custom
from autotool.schema.notjson import NotJson
from autotool.schema.plain import INTEGERS, NARROWER_NUMBERS, NUMBERS
from autotool.schema.unions import UNIONS, arms_of, union_of

_ANYTHING: frozenset[Any] = frozenset({Any, object, abc.Sized, abc.Container, typing.Container})
_SCALAR = str | int | float | bool
"""What `Hashable` comes to in JSON."""

_LISTS = (
    abc.Iterable, abc.Collection, abc.Sequence, abc.MutableSequence, abc.Reversible, abc.ValuesView, abc.KeysView,
    abc.Container, list, typing_extensions.Collection,
)  # fmt: skip
_ITERATORS = (abc.Iterator, abc.Generator)
_ASYNC_ITERATORS = (abc.AsyncIterable, abc.AsyncIterator, abc.AsyncGenerator)
_SETS = (abc.Set, abc.MutableSet)
_MAPPINGS = (abc.Mapping, abc.MutableMapping, types.MappingProxyType)

_TEXT_FILES = (typing.TextIO, io.TextIOBase, io.TextIOWrapper, io.StringIO)
_BINARY_FILES = (
    typing.BinaryIO,
    io.RawIOBase,
    io.BufferedIOBase,
    io.BytesIO,
    io.BufferedReader,
    io.BufferedWriter,
    io.FileIO,
)


def wire(annotation: Any) -> Any:
    """The annotation that pydantic validates in place of `annotation`.

    Raises:
        NotJson: no JSON value stands for it.
    """
    if annotation is None:
        return type(None)
    try:
        if annotation in _ANYTHING:
            return Any
    except TypeError:  # unhashable: an `Annotated` with a list in it
        pass
    origin = typing_extensions.get_origin(annotation)
    if origin is not None:
        return _wire_generic(annotation, origin, typing_extensions.get_args(annotation))
    return _wire_plain(annotation)


def _wire_plain(annotation: Any) -> Any:
    if isinstance(annotation, TypeVarTypes):
        return _wire_variable(annotation)
    if isinstance(annotation, str | typing.ForwardRef):
        return Any
    known = _KNOWN.get(annotation)
    return known() if known is not None else classes.build(annotation, wire)


def _known() -> dict[Any, Callable[[], Any]]:
    """What stands for each annotation without arguments that needs no look at a class."""
    table: dict[Any, Callable[[], Any]] = {}

    def add(make: Callable[[], Any], *annotations: Any) -> None:
        table.update(dict.fromkeys(annotations, make))

    add(lambda: Any, typing.NoReturn, typing.Never, typing_extensions.Never, typing_extensions.Self)
    add(lambda: str, typing.LiteralString, typing_extensions.LiteralString)
    add(lambda: _SCALAR, abc.Hashable, typing.Hashable)
    add(lambda: int, *INTEGERS)
    add(lambda: float, *NUMBERS)
    add(lambda: complex, numbers.Complex, typing.SupportsComplex)
    add(lambda: pathlib.Path, os.PathLike, pathlib.PurePath)
    add(lambda: custom.bytes_type(bytes), bytes, getattr(abc, "Buffer", bytes), getattr(abc, "ByteString", bytes))
    add(lambda: custom.bytes_type(bytearray), bytearray)
    add(lambda: custom.bytes_type(memoryview), memoryview)
    add(lambda: custom.file_type(binary=False), typing.IO, *_TEXT_FILES)
    add(lambda: custom.file_type(binary=True), *_BINARY_FILES)
    add(custom.write_file_type, WritableFile)
    functions = (types.FunctionType, types.MethodType, types.BuiltinFunctionType)
    add(lambda: code.named("function"), abc.Callable, typing.Callable, *functions)
    add(lambda: code.named("class"), type, typing.Type)  # noqa: UP006 - the bare typing alias is what people write
    add(lambda: list[Any], *_LISTS, typing.Iterable, typing.Sequence, typing.Collection, typing.List)  # noqa: UP006 - as above
    add(lambda: custom.iterator_type(Any), *_ITERATORS, typing.Iterator, typing.Generator)
    add(lambda: tuple[Any, ...], tuple, typing.Tuple)  # noqa: UP006 - as above
    add(lambda: set[Any], *_SETS, set, typing.Set)  # noqa: UP006 - as above
    add(lambda: dict[str, Any], *_MAPPINGS, dict, typing.Dict, typing.Mapping)  # noqa: UP006 - as above
    table.update(custom.BUILT_FROM_PARTS)
    return table


TypeVarTypes = (typing.TypeVar, typing_extensions.TypeVar, typing.ParamSpec, typing_extensions.ParamSpec)


def _wire_variable(variable: Any) -> Any:
    bound = getattr(variable, "__bound__", None)
    if bound is not None:
        return wire(bound)
    constraints = getattr(variable, "__constraints__", ())
    return wire(union_of(constraints)) if constraints else Any


_KNOWN = _known()


def _wire_generic(annotation: Any, origin: Any, args: tuple[Any, ...]) -> Any:
    if origin is Annotated:
        return Annotated[(wire(args[0]), *[fact for fact in args[1:] if not isinstance(fact, str)])]  # pyright: ignore[reportInvalidTypeForm] - built at run time
    if origin in UNIONS:
        return _wire_union(args)
    if origin is Literal:
        return _wire_literal(annotation, args)
    if origin in (typing.Final, typing.ClassVar, typing_extensions.Required, typing_extensions.NotRequired):
        return wire(args[0])
    if origin in (type, typing.Type):  # noqa: UP006 - as above
        return code.named("class")
    if origin is abc.Callable:
        return code.named("function")
    if str(getattr(origin, "__name__", "")) in ("TypeGuard", "TypeIs"):
        return bool
    return _wire_container(annotation, origin, args)


def _wire_literal(annotation: Any, args: tuple[Any, ...]) -> Any:
    if any(isinstance(value, bytes) for value in args):
        kept = tuple(value for value in args if not isinstance(value, bytes))
        if not kept:
            return custom.bytes_type(bytes)
        return Literal[kept]
    return annotation


def _wire_union(args: tuple[Any, ...]) -> Any:
    """The arms that JSON can carry; `str | PathLike[str]` is a string to everybody."""
    arms: list[Any] = []
    trouble: NotJson | None = None
    for arg in args:
        try:
            arms.extend(arms_of(wire(arg)) if arg in (abc.Hashable, typing.Hashable) else [wire(arg)])
        except NotJson as error:
            trouble = error
    if not arms:
        raise trouble or NotJson("no value of it can be sent as JSON")
    if str in arms:
        arms = [arm for arm in arms if arm is not pathlib.Path and not custom.is_bytes(arm)]
    if float in arms:
        arms = [arm for arm in arms if arm not in NARROWER_NUMBERS]
    if any(arm is Any for arm in arms):
        return Any
    return union_of(arms)


def _wire_container(annotation: Any, origin: Any, args: tuple[Any, ...]) -> Any:
    inner = _wire_arguments(args)
    first = inner[0] if inner else Any
    if origin in _LISTS or origin in _ASYNC_ITERATORS:
        return list[first]
    if origin in _ITERATORS:
        return custom.iterator_type(first)
    if origin in _SETS:
        return set[first]
    if origin in _MAPPINGS:
        return dict[inner[0], inner[1]] if len(inner) == 2 else dict[str, Any]
    if origin is tuple:
        return annotation if not args or args == ((),) else tuple[tuple(inner)]
    if origin in _SUBSCRIPTED:
        return cast("Any", origin)[tuple(inner)]
    return _wire_special(annotation, origin, args)


_SUBSCRIPTED = (
    list, set, frozenset, dict, collections.deque, collections.Counter, collections.OrderedDict, collections.defaultdict,
)  # fmt: skip


def _wire_special(annotation: Any, origin: Any, args: tuple[Any, ...]) -> Any:
    if origin in (typing.IO, *_TEXT_FILES):
        return custom.file_type(binary=bool(args) and args[0] is bytes)
    if origin in (re.Pattern, re.Match):
        return _wire_pattern(origin, args)
    if origin in _KNOWN:
        return _KNOWN[origin]()
    built = classes.build(origin, wire)
    return annotation if built is origin else built


def _wire_pattern(origin: Any, args: tuple[Any, ...]) -> Any:
    if origin is re.Match:
        raise NotJson("the match of a pattern cannot be sent as JSON")
    return re.Pattern[str] if not args or args[0] is not bytes else custom.bytes_pattern_type()


def _wire_arguments(args: tuple[Any, ...]) -> list[Any]:
    inner: list[Any] = []
    for arg in args:
        if arg is Ellipsis:
            inner.append(arg)
        elif isinstance(arg, list | tuple) or arg == ():
            continue
        else:
            inner.append(wire(arg))
    return inner
