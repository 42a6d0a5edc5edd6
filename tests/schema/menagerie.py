"""Functions whose parameters are of every type that people write."""

from __future__ import annotations

import collections.abc as abc
import dataclasses
import datetime
import decimal
import enum
import functools
import io
import ipaddress
import os
import pathlib
import re
import typing
import uuid
from typing import *

import attrs
import numpy as np
import pandas as pd
import typing_extensions as te
from pydantic import BaseModel, Field

UserId = NewType("UserId", int)
T = TypeVar("T")


class Cat(BaseModel):
    kind: Literal["cat"]
    lives: int = 9


class Dog(BaseModel):
    kind: Literal["dog"]
    bark: bool


@attrs.define
class Crate:
    size: int
    tag: str = "t"


class Color(enum.IntEnum):
    RED = 1
    BLUE = 2


class P(NamedTuple):
    x: int
    y: int = 0


class TD(te.TypedDict):
    a: int
    b: te.NotRequired[str]


class Box(BaseModel, Generic[T]):
    item: T


class Plain:
    def __init__(self, host: str, port: int = 80):
        self.host = host
        self.port = port


class Tree(te.TypedDict):
    kids: list[Tree]


def disc(pet: Annotated[Union[Cat, Dog], Field(discriminator="kind")]) -> str:
    return type(pet).__name__


def att(c: Crate) -> str:
    return f"{type(c).__name__}{c.size}{c.tag}"


def newt(u: UserId) -> int:
    return u


def col(c: Color, cs: list[Color] = []) -> str:
    return c.name + str(cs)


def nt(p: P) -> str:
    return repr(p)


def td(d: TD) -> str:
    return repr(d)


def box(b: Box[int]) -> str:
    return repr(b)


def plain(p: Plain) -> str:
    return f"{p.host}:{p.port}"


def misc(
    r: range,
    s: slice,
    ip: ipaddress.IPv4Address,
    pat: re.Pattern[str],
    dec: decimal.Decimal,
    td: datetime.timedelta = datetime.timedelta(1),
) -> str:
    return repr((r, s, ip, pat, dec, td))


def files(f: IO[str], g: TextIO | None = None, b: BinaryIO | None = None) -> str:
    return f.read()


def it(a: Iterable[int], b: Iterator[str], c: Mapping[str, int], d: AbstractSet[int], e: Collection[str] = ()) -> str:
    return repr((list(a), list(b), dict(c), d))


def arr(a: np.ndarray, df: pd.DataFrame, s: pd.Series | None = None) -> str:
    return f"{a.shape} {df.shape}"


def cb(n: int, on: Callable[[int], int] | None = None, cls: type = int) -> int:
    return n


def rec(t: Tree) -> int:
    return len(t["kids"])


def star(a, /, b, *rest: int, c: int = 3, **more: float) -> str:
    return repr((a, b, rest, c, more))


def star2(a: int = 1, b: int = 2, *rest: int) -> str:
    return repr((a, b, rest))


@overload
def over(x: int) -> int: ...
@overload
def over(x: str) -> str: ...
def over(x):
    return x


def mut(xs: list[int] = []) -> list[int]:
    xs.append(1)
    return xs


def implicit(n: int = None) -> str:
    return repr(n)


def optnone(n: Optional[int] = None, m: int | None = 5) -> str:
    return repr((n, m))


def lit(n: Literal[1, 2], b: Literal[True] = True) -> str:
    return repr((n, b))


def tz(t: datetime.tzinfo) -> str:
    return repr(t)


def unp(**kw: te.Unpack[TD]) -> str:
    return repr(kw)


def conv(
    p: Annotated[int, Field(gt=0, multiple_of=5)], q: Annotated[str, Field(pattern="^a+$", max_length=3)] = "a"
) -> str:
    return "ok"


def dts(a: datetime.datetime, b: datetime.date, c: datetime.time) -> str:
    return repr((a, b, c))


def pth(p: pathlib.Path, q: os.PathLike[str], r: str | os.PathLike) -> str:
    return repr((p, q, r))


def unres(x: "NoSuch", y: int) -> str:
    return repr((x, y))


def tup(t: tuple[int, str], u: tuple[int, ...] = (), v: tuple = ()) -> str:
    return repr((t, u, v))


def cplx(c: complex) -> str:
    return repr(c)


def ll(x: te.LiteralString) -> str:
    return x


def frozen(s: frozenset[str], d: dict[int, str] = {}) -> str:
    return repr((sorted(s), d))


class Calls:
    def __call__(self, q: str) -> str:
        return q


calls = Calls()


def arms(x: Annotated[int, Field(ge=1)] | bool) -> str:
    return repr(x)
