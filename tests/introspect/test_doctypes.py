"""Type words of docstrings, as real packages write them."""

from __future__ import annotations

import datetime
import os
import pathlib
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import IO, Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autotool.introspect.doctypes import UNKNOWN, annotation_of

KNOWN = [
    ("int", int),
    ("int, optional", int),
    ("optional, int", int),
    ("integer", int),
    ("ints", int),
    ("positive int", int),
    ("int > 0", int),
    ("int (optional)", int),
    ("an integer", int),
    ("int, default 5", int),
    ("int, default: 5", int),
    ("int, default=5, optional", int),
    ("int, optional (default: 5)", int),
    ("int. Defaults to 5.", int),
    ("bool, default True", bool),
    ("boolean", bool),
    ("float in [0, 1]", float),
    ("float between 0 and 1", float),
    ("number", float),
    ("scalar", float),
    ("str", str),
    ("`str`", str),
    ("``str``", str),
    (":class:`str`", str),
    (":class:`~builtins.str`", str),
    (":py:class:`int` or None", int | None),
    ("string", str),
    ("String", str),
    ("bytes", bytes),
    ("bytes-like object", bytes),
    ("None", None),
    ("object", Any),
    ("any", Any),
    ("str or None", str | None),
    ("None or str", str | None),
    ("str | None", str | None),
    ("int, float or None", int | float | None),
    ("int, str, or list of int", int | str | list[int]),
    ("int or list of int", int | list[int]),
    ("list of int or str", list[int | str] | str),
    ("list of str or None", list[str] | None),
    ("list", list),
    ("array_like", list),
    ("array-like", list),
    ("1-D array_like", list),
    ("array-like of shape (n_samples,)", list),
    ("array-like of shape (n_samples,) or (n_samples, n_outputs)", list),
    ("array_like, shape (n,)", list),
    ("list of str", list[str]),
    ("list of strings", list[str]),
    ("list of 3 floats", list[float]),
    ("list of list of int", list[list[int]]),
    ("list of tuples", list[tuple]),
    ("list of dicts", list[dict]),
    ("list[str]", list[str]),
    ("List[str]", list[str]),
    ("typing.List[str]", list[str]),
    ("list(str)", list[str]),
    ("list<str>", list[str]),
    ("[str]", list[str]),
    ("array_like of int", list[int]),
    ("sequence of float", Sequence[float]),
    ("Sequence[str]", Sequence[str]),
    ("iterable", Iterable),
    ("iterable of str", Iterable[str]),
    ("set of int", set[int]),
    ("tuple", tuple),
    ("tuple of int", tuple[int, ...]),
    ("tuple of ints", tuple[int, ...]),
    ("tuple of (int, int)", tuple[int, int]),
    ("tuple of (int, str)", tuple[int, str]),
    ("tuple of 2 floats", tuple[float, float]),
    ("pair of floats", tuple[float, float]),
    ("2-tuple of int", tuple[int, int]),
    ("(int, int)", tuple[int, int]),
    ("tuple[int, ...]", tuple[int, ...]),
    ("Tuple[int, str]", tuple[int, str]),
    ("dict", dict),
    ("dictionary", dict),
    ("dict-like", dict),
    ("dict[str, int]", dict[str, int]),
    ("dict of str to int", dict[str, int]),
    ("dict mapping str to int", dict[str, int]),
    ("dict of {str: int}", dict[str, int]),
    ("{str: int}", dict[str, int]),
    ("mapping of str to list of int", Mapping[str, list[int]]),
    ("{'a', 'b'}", Literal["a", "b"]),
    ("{'a', 'b'}, optional", Literal["a", "b"]),
    ("{'default', 'optional'}", Literal["default", "optional"]),
    ('{"left", "right"}, default "left"', Literal["left", "right"]),
    ("{'a', 'b', None}", Literal["a", "b", None]),
    ("{0 or 'index', 1 or 'columns'}, default 0", Literal[0, "index", 1, "columns"]),
    ("{1, 2, 3}", Literal[1, 2, 3]),
    ("{True, False, 'auto'}", Literal[True, False, "auto"]),
    ("{'a', 'b'} or callable", Callable | Literal["a", "b"]),
    ("{'auto'} or int", int | Literal["auto"]),
    ("str, {'a', 'b'}", Literal["a", "b"]),
    ("str {'a', 'b'}, optional", Literal["a", "b"]),
    ("str, one of 'a', 'b'", Literal["a", "b"]),
    ("one of 'a', 'b' or 'c'", Literal["a", "b", "c"]),
    ("'auto' or int", int | Literal["auto"]),
    ("str or {'a', 'b'}", str | Literal["a", "b"]),
    ("string ('a' or 'b')", Literal["a", "b"]),
    ("Literal['a', 'b']", Literal["a", "b"]),
    ("Optional[int]", int | None),
    ("typing.Optional[list[str]]", list[str] | None),
    ("Union[int, str]", int | str),
    ("callable", Callable),
    ("Callable[[int, str], bool]", Callable),
    ("function", Callable),
    ("callable, optional", Callable),
    ("path-like", os.PathLike),
    ("str or path-like", str | os.PathLike),
    ("path object", pathlib.Path),
    ("pathlib.Path", pathlib.Path),
    ("file-like", IO[Any]),
    ("file-like object", IO[Any]),
    ("file object", IO[Any]),
    ("str, path object or file-like object", str | pathlib.Path | IO[Any]),
    ("datetime.datetime", datetime.datetime),
    ("timedelta", datetime.timedelta),
    ("complex", complex),
    ("slice", slice),
]


@pytest.mark.parametrize(("text", "annotation"), KNOWN)
def test_words_with_one_meaning_are_read(text: str, annotation: object) -> None:
    assert annotation_of(text) == annotation


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Widget",
        "Widget or None",
        "int or Widget",
        "list of Widget",
        "str, the name of the thing",
        "number of rows",
        "name of the column",
        "label",
        "hashable",
        "estimator instance",
        "Text",
        "File",
        "(int, str)",
        "{array-like, sparse matrix} of shape (n_samples, n_features)",
        "same type as x",
        "int, Widget",
        "dict[str]",
        "list[str, int]",
        "list[",
        "a]b",
        "{'a', 'b'",
        "{}",
        "...",
        "int or",
        "or",
        "'",
        "x" * 10_000,
        "((((((((((int))))))))))",
        "str or\udce9",
    ],
)
def test_nothing_is_claimed_of_other_words(text: str) -> None:
    assert annotation_of(text) is UNKNOWN


WORDS = ["int", "str", "list", "of", "or", ",", "|", "{", "}", "(", ")", "[", "]", "'", '"', "...", ":", "to"]
WORDS += ["default", "optional", "dict", "tuple", "a", "1", "-1", "-007"]


@given(st.lists(st.sampled_from(WORDS), max_size=14))
def test_no_words_ever_raise(words: list[str]) -> None:
    annotation_of(" ".join(words))
    annotation_of("".join(words))


def test_types_of_numpy_and_pandas_are_met_only_where_they_are_imported() -> None:
    program = (
        "import sys; from autotool.introspect.doctypes import annotation_of as a, UNKNOWN\n"
        "assert a('ndarray') is UNKNOWN and a('pd.DataFrame or None') is UNKNOWN\n"
        "assert 'numpy' not in sys.modules and 'pandas' not in sys.modules\n"
        "import pandas, numpy, typing\n"
        "assert a('numpy.ndarray') is numpy.ndarray\n"
        "assert a('DataFrame or Series') == typing.Union[pandas.DataFrame, pandas.Series]\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
