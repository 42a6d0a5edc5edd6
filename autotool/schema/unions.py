"""Unions taken apart and put together."""

from __future__ import annotations

import functools
import operator
import types
import typing
from collections.abc import Iterator, Sequence
from typing import Annotated, Any

import typing_extensions

UNIONS = (typing.Union, types.UnionType)


def union_of(arms: Sequence[Any]) -> Any:
    """The union of typing objects, of which there is at least one."""
    return functools.reduce(operator.or_, arms)


def arms_of(annotation: Any) -> Iterator[Any]:
    """The arms of a union, or the annotation alone; `Annotated` is looked through."""
    origin = typing_extensions.get_origin(annotation)
    if origin is Annotated:
        yield from arms_of(typing_extensions.get_args(annotation)[0])
    elif origin in UNIONS:
        for arm in typing_extensions.get_args(annotation):
            yield from arms_of(arm)
    else:
        yield annotation


def without_none(annotation: Any) -> Any:
    """`X` for `X | None`, also inside `Annotated`; everything else unchanged."""
    origin = typing_extensions.get_origin(annotation)
    args = typing_extensions.get_args(annotation)
    if origin is Annotated:
        return Annotated[(without_none(args[0]), *args[1:])]  # pyright: ignore[reportInvalidTypeForm] - built at run time
    if origin in UNIONS:
        kept = [arm for arm in args if arm is not type(None) and arm is not None]
        if kept and len(kept) < len(args):
            return union_of(kept)
    return annotation


def admits_none(annotation: Any) -> bool:
    """Whether null is one of the values that the author names."""
    return annotation in (None, Any) or any(arm in (None, type(None)) for arm in arms_of(annotation))
