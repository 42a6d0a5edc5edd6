"""Docstrings in every usual style, mixed styles, and none; and whose docstring counts."""

from __future__ import annotations

import functools
import inspect
import json
import math
import os
import zlib
from dataclasses import dataclass
from typing import Any

import pandas
import pytest
import requests
from hypothesis import given
from hypothesis import strategies as st

from autotool.introspect import docstrings
from autotool.introspect.docstrings import ParameterDoc, parse


def words(doc: str, *names: str) -> dict[str, str]:
    """What is said of each parameter."""
    return {name: found.description for name, found in parse(doc, names).parameters.items()}


GOOGLE = """Fold a long line.

    Breaks at spaces only.

    Args:
        text: the line to fold
        width (int, optional): most characters
            in one line: at least 1

            Wider lines are cut.
        mode (:class:`~x.Mode`, default: "soft"): how
        *rest (str): more lines
        **options: passed on

    Returns:
        str: the folded text.

    Raises:
        ValueError: if width is 0.

    Note:
        Tabs count as one.
    """


def test_google_sections_are_read() -> None:
    found = parse(GOOGLE, ["text", "width", "mode", "rest", "options"])
    assert found.parameters == {
        "text": ParameterDoc("the line to fold"),
        "width": ParameterDoc("most characters\nin one line: at least 1\n\nWider lines are cut.", "int", "", True),
        "mode": ParameterDoc("how", ":class:`~x.Mode`", '"soft"', True),
        "rest": ParameterDoc("more lines", "str"),
        "options": ParameterDoc("passed on"),
    }
    assert found.summary == "Fold a long line."
    assert found.description == (
        "Fold a long line.\n\nBreaks at spaces only.\n\nReturns: str: the folded text.\n\n"
        "Raises: ValueError: if width is 0.\n\nNote: Tabs count as one."
    )
    assert found.returns_type == "str"
    assert found.unknown == ()


NUMPY = """
    Width of a box.

    Parameters
    ----------
    x1, x2 : float
        Left and right edge.
    pad : float, default 0.5
        Extra space.

        Never negative.
    axis : {0 or 'index', 1 or 'columns'}, optional
    *args, **kwargs
        Passed on.

    Returns
    -------
    width : float
        The width.

    Other Parameters
    ----------------
    snap : bool
        Round to whole pixels.

    Notes
    -----
    First paragraph.

    Second paragraph.
    """


def test_numpy_sections_are_read() -> None:
    found = parse(NUMPY, ["x1", "x2", "pad", "axis", "args", "kwargs", "snap"])
    assert found.parameters == {
        "x1": ParameterDoc("Left and right edge.", "float"),
        "x2": ParameterDoc("Left and right edge.", "float"),
        "pad": ParameterDoc("Extra space.\n\nNever negative.", "float", "0.5", True),
        "axis": ParameterDoc("", "{0 or 'index', 1 or 'columns'}", "", True),
        "args": ParameterDoc("Passed on."),
        "kwargs": ParameterDoc("Passed on."),
        "snap": ParameterDoc("Round to whole pixels.", "bool"),
    }
    assert found.description == (
        "Width of a box.\n\nReturns:\nwidth : float\n    The width.\n\nNotes:\nFirst paragraph.\n\nSecond paragraph."
    )
    assert found.returns_type == "float"


REST = r"""Send it, see :func:`~requests.api.request`.

    :param url: where to,
        in full
    :param str or None method: how
    :type url: :class:`str`
    :param \*\*kwargs: passed on
    :keyword timeout: seconds

    :raises ValueError: when empty
    :returns: the answer
    :rtype: dict
    """


def test_rest_fields_are_read() -> None:
    found = parse(REST, ["url", "method", "timeout", "kwargs"])
    assert found.parameters == {
        "url": ParameterDoc("where to,\nin full", ":class:`str`"),
        "method": ParameterDoc("how", "str or None"),
        "kwargs": ParameterDoc("passed on"),
        "timeout": ParameterDoc("seconds"),
    }
    assert found.description == "Send it, see `request`.\n\nRaises ValueError: when empty\nReturns: the answer"
    assert found.returns_type == "dict"


def test_epydoc_fields_are_read() -> None:
    doc = """Add.

    @param a: the first
    @type a: int
    @keyword b: the second
    @return: the sum
    @rtype: int
    @raise TypeError: never
    """
    found = parse(doc, ["a", "b"])
    assert found.parameters == {"a": ParameterDoc("the first", "int"), "b": ParameterDoc("the second")}
    assert found.description == "Add.\n\nReturns: the sum\nRaises TypeError: never"
    assert found.returns_type == "int"


@pytest.mark.parametrize(
    ("doc", "expected"),
    [
        ("Args:\n    x: new width\n    y: keep it\n", {"x": "new width", "y": "keep it"}),
        ("S.\n\nKeyword Args:\n    x: colour\n", {"x": "colour"}),
        ("S.\n\nArguments:\n\n    x -- one\n    y -- two\n      and more\n",
         {"x": "one", "y": "two\nand more"}),
        ("S.\n\nKeyword arguments:\nx -- the real part\ny -- the imaginary part\n",
         {"x": "the real part", "y": "the imaginary part"}),
        ("S.\n\nx -- the real part\n", {"x": "the real part"}),
        ("S.\n\nArgs:\nx: flush left\ny: too\n\nMore text.", {"x": "flush left", "y": "too"}),
        ("S.\n\nParameters:\n    x : int\n        the first\n", {"x": "the first"}),
        ("S.\n\nParameters:\n-----------\nx: int\n    the first\n", {"x": "the first"}),
        ("S.\n\nParameters\n===\nx : int\n    the first\n", {"x": "the first"}),
        ("S.\n\nParameters\n----------\nx: the first value to use\n", {"x": "the first value to use"}),
        ("S.\n\nParameters\n----------\nx (int): the first\n", {"x": "the first"}),
        ("S.\n\n    Parameters\n    ----------\n    x : int\n        the first\n", {"x": "the first"}),
        ("S.\n\nArgs:\n    - x (int): the first\n    * `y`: the second\n",
         {"x": "the first", "y": "the second"}),
        ("S.\n\nArgs:\n    x (Callable[[int], str]): a colon: here\n", {"x": "a colon: here"}),
        ("S.\n\nArgs:\n    x (int):\n        the first\n    y (str)\n        the second\n",
         {"x": "the first", "y": "the second"}),
        ("S.\n\nArgs:\n\tx: by tab\n\ty: too\n", {"x": "by tab", "y": "too"}),
        ("S.\r\n\r\nArgs:\r\n    x: dos\r\n", {"x": "dos"}),
        ("S.\n\n:param x: the first\nhanging on\n:param y: the second\n",
         {"x": "the first\nhanging on", "y": "the second"}),
        ("S.\n\n:param :class:`A` x: the first\n", {"x": "the first"}),
        ("S.\n\nArgs:\n    x, y: both\n", {"x": "both", "y": "both"}),
        ("S.\n\nArgs:\n    x: one\n\nOther Parameters\n----------------\ny : int\n    two\n",
         {"x": "one", "y": "two"}),
        ("S.\n\n:param x: one\n\nArgs:\n    y: two\n", {"x": "one", "y": "two"}),
        ("S.\n\n  x\n    Argument Clinic.\n  y\n    Two\n    lines.\n",
         {"x": "Argument Clinic.", "y": "Two\nlines."}),
        ("S.\n\n- x: A bullet\n  in the text.\n", {"x": "A bullet\nin the text."}),
        ("S.\n\nAttributes:\n    x (int): of a class\n", {"x": "of a class"}),
        ("x: the summary is no list", {}),
        ("S.\n\nExample:\n    x = f(1)\n", {}),
        ("S.\n\nArguments: none that matter.", {}),
    ],
)  # fmt: skip
def test_real_docstrings_bend_the_styles(doc: str, expected: dict[str, str]) -> None:
    assert words(doc, "x", "y") == expected


@pytest.mark.parametrize(
    ("doc", "description"),
    [
        ("Area of a rectangle: w times h.", "Area of a rectangle: w times h."),
        ("", ""),
        ("   \n  ", ""),
        ("f(a, b) -> c\n--\n\nDo it.", "Do it."),
        ("f(a, b) -> value\nf(a) -> value\n\nDo it.", "Do it."),
        ("array(object, dtype=None, *,\n      like=None)\n\nCreate an array.", "Create an array."),
        ("getlogin() -> str", "getlogin() -> str"),
        ("f(x) does it.\n\nWell.", "f(x) does it.\n\nWell."),
        ("S.\n\n.. note:: Be quick.\n.. versionadded:: 1.2\n", "S.\n\nNote: Be quick.\nAdded in version 1.2"),
        ("S.\n\nSo::\n\n    code(x)\n\nT.", "S.\n\nSo:\n\n    code(x)\n\nT."),
        ("See :class:`A <b.A>` and :meth:`~a.b.c`.", "See `A` and `c`."),
        ("S.\n\n\n\n\nT.", "S.\n\nT."),
        ("S.\n\nArgs:\n    x: one\n\nThe end.", "S.\n\nThe end."),
        ("S.\n\nParameters\n----------\nx : int\n    One.\n\nThe end is here.", "S.\n\nThe end is here."),
    ],
)
def test_the_rest_is_clean_text(doc: str, description: str) -> None:
    assert parse(doc, ["x"]).description == description


def test_names_that_are_no_parameters_are_told_and_stars_are_not() -> None:
    found = parse("S.\n\nArgs:\n    wrod: the word\n    verbose: no more\n    **kwargs: more\n", ["word"])
    assert found.unknown == ("wrod", "verbose")
    assert found.others["wrod"].description == "the word"
    assert found.parameters == {}


def test_what_gathered_values_are_gathered_in_is_not_their_type() -> None:
    found = parse("S.\n\nParameters\n----------\n**opts : dict, optional\n    More.\n*xs : int\n", ["opts", "xs"])
    assert found.parameters["opts"].type_text == ""
    assert found.parameters["xs"].type_text == "int"


@pytest.mark.parametrize(
    ("doc", "summary"),
    [
        ("\n  One\n  line.\n\n  More.", "One line."),
        ("Args:\n    x: a", ""),
        ("Returns:\n    int: a\n\nArgs:\n    x: a", ""),
    ],
)
def test_the_summary_is_the_first_paragraph_in_one_line(doc: str, summary: str) -> None:
    assert parse(doc, ["x"]).summary == summary


def test_docstrings_of_real_packages_are_read() -> None:
    names = list(inspect.signature(pandas.read_csv).parameters)
    found = parse(docstrings.of(pandas.read_csv), names)
    assert set(names) - set(found.parameters) == set()
    assert found.parameters["sep"].type_text == "str"
    assert "Parameters" not in found.description
    request = parse(docstrings.of(requests.get), ["url", "params", "kwargs"])
    assert set(request.parameters) == {"url", "params", "kwargs"}
    compress = parse(docstrings.of(zlib.compress), ["data", "level", "wbits"])
    assert compress.parameters["level"].description == "Compression level, in 0-9 or -1."
    assert compress.description == "Returns a bytes object containing compressed data."
    assert set(parse(docstrings.of(os.open), ["path", "flags", "mode", "dir_fd"]).parameters) == set()
    assert parse(docstrings.of(json.dumps), ["obj", "skipkeys"]).summary.startswith("Serialize ``obj``")


pieces = st.sampled_from(
    ["Args:", "Parameters", "----------", "x : int", "x (int): a", ":param x: a", "@type x: b", "x -- a",
     "- x: a", "Returns:", "Returns", "", "    ", "\t", "text", "f(a) -> b", "--", ":rtype: int", "*x",
     "**y : dict", "{", "(", ".. note:: a", ":class:`", "x, y, ... : int", "数", "\udce9", "\x00"]
)  # fmt: skip


@given(st.lists(st.tuples(st.sampled_from(["", "  ", "    ", "\t"]), pieces).map("".join), max_size=14).map("\n".join))
def test_no_docstring_ever_raises(doc: str) -> None:
    found = parse(doc, ["x", "y"])
    assert set(found.parameters) <= {"x", "y"}
    assert not set(found.unknown) & {"x", "y"}


@pytest.mark.timeout(20)
@pytest.mark.parametrize(
    "piece", ["Args:\n", "    x: a\n", ":param ", " ", "x,", ":a:`", "(", "x : int\n", "-\n", ".. "]
)
def test_hostile_docstrings_are_read_in_time(piece: str) -> None:
    parse(piece * (100_000 // len(piece)), ["x"])


class Base:
    def load(self, path: str) -> str:
        """Load a file."""
        return path


class Fast(Base):
    def load(self, path: str) -> str:
        return path


class Adder:
    """Adds numbers."""

    def __call__(self, a: int) -> int:
        return a


class Told(Adder):
    def __call__(self, a: int) -> int:
        """Add one."""
        return a


@dataclass
class Point:
    x: int


def scale(value: float, factor: float) -> float:
    """Multiply value by factor."""
    return value * factor


def silent(value: float) -> float:
    return value


@functools.lru_cache
def cached(value: float) -> float:
    """Remember it."""
    return value


class Odd:
    @property
    def __doc__(self) -> Any:  # type: ignore[override]
        raise RuntimeError("no")

    def __call__(self) -> None: ...


def documented_partial() -> Any:
    made = functools.partial(scale, 2)
    made.__doc__ = "Double it."
    return made


@pytest.mark.parametrize(
    ("obj", "doc"),
    [
        (scale, "Multiply value by factor."),
        (silent, None),
        (Fast().load, "Load a file."),
        (functools.partial(scale, factor=2.0), "Multiply value by factor."),
        (functools.partial(functools.partial(scale), factor=2.0), "Multiply value by factor."),
        (functools.partial(silent), None),
        (documented_partial(), "Double it."),
        (cached, "Remember it."),
        (Adder(), "Adds numbers."),
        (Told(), "Add one."),
        (Point, None),
        (Odd(), None),
        (object(), None),
        (type("Plain", (), {"__call__": lambda self: None})(), None),
    ],
)
def test_the_docstring_is_the_one_its_author_meant(obj: object, doc: str | None) -> None:
    assert docstrings.of(obj) == doc


def test_builtins_have_their_own_docstring() -> None:
    assert docstrings.of(math.gcd) == "Greatest Common Divisor."
    assert docstrings.of("abc".join) == inspect.getdoc(str.join)
