"""The words that docstrings use for types. A word that is not here has no meaning that is known for sure."""

from __future__ import annotations

import collections.abc
import datetime
import decimal
import os
import pathlib
import re
import sys
import typing
import uuid
from typing import Any

NOTHING = object()
"""What the look-ups return for words without a known meaning (`None` is a type)."""


def _table(*rows: tuple[Any, str]) -> dict[str, Any]:
    return {word: meaning for meaning, words in rows for word in words.split()}


# Words in lower case, joined by `_`.
_WORDS = _table(
    (int, "int integer int_like int8 int16 int32 int64 uint8 numpy.int64 np.int64 file_descriptor"),
    (float, "float double float32 float64 numpy.float64 np.float64 float_like floating_point"),
    (float, "number numeric real real_number scalar numbers.number numbers.real floating_point_number"),
    (complex, "complex complex_number"),
    (bool, "bool boolean boolean_flag bool_flag np.bool_ numpy.bool_"),
    (str, "str string text str_like string_like character char unicode_string text_string url"),
    (str, "filename file_name file_path filepath path_string string_path"),
    (bytes, "bytes bytes_like byte_string bytestring"),
    (bytearray, "bytearray"),
    (None, "none nonetype null"),
    (Any, "any typing.any anything object"),
    (list, "list array_like arraylike array list_like vector"),
    (tuple, "tuple"),
    (dict, "dict dictionary dict_like map hash_map"),
    (set, "set set_like"),
    (frozenset, "frozenset"),
    (collections.abc.Sequence, "sequence sequence_like"),
    (collections.abc.Iterable, "iterable"),
    (collections.abc.Iterator, "iterator"),
    (collections.abc.Collection, "collection"),
    (collections.abc.Mapping, "mapping"),
    (collections.abc.Callable, "callable function func callback lambda callable_function callback_function"),
    (os.PathLike, "path_like pathlike os.pathlike"),
    (pathlib.Path, "path pathlib.path pathlib_path"),
    (typing.IO[Any], "file file_like filelike file_handle file_like_buffer buffer stream"),
    (typing.TextIO, "text_file text_stream"),
    (typing.BinaryIO, "binary_file binary_stream"),
    (datetime.datetime, "datetime datetime.datetime"),
    (datetime.date, "date datetime.date"),
    (datetime.time, "time datetime.time"),
    (datetime.timedelta, "timedelta datetime.timedelta"),
    (decimal.Decimal, "decimal decimal.decimal"),
    (uuid.UUID, "uuid uuid.uuid"),
    (re.Pattern, "regex re.pattern compiled_regex compiled_regular_expression"),
    (slice, "slice"),
    (range, "range"),
)

_CONTAINERS = _table(
    (list, "list array array_like arraylike list_like vector"),
    (tuple, "tuple"),
    (set, "set"),
    (frozenset, "frozenset"),
    (dict, "dict dictionary"),
    (collections.abc.Mapping, "mapping"),
    (collections.abc.Sequence, "sequence"),
    (collections.abc.Iterable, "iterable"),
    (collections.abc.Iterator, "iterator"),
    (collections.abc.Collection, "collection"),
)

# `Text`, `File` or `Range` with a capital may be somebody's class; these hardly are.
_CAPITALISED = _table(
    (True, "int integer float double number numeric scalar complex bool boolean str string bytes none"),
    (True, "nonetype any typing.any object list array_like arraylike array tuple dict dictionary set"),
    (True, "frozenset sequence iterable iterator collection mapping callable path pathlib.path pathlike"),
    (True, "os.pathlike decimal decimal.decimal uuid uuid.uuid re.pattern numbers.number numbers.real"),
)

# Adjectives that do not change which type is meant.
_NOISE = _table(
    (True, "a an the any some single one python builtin standard plain simple valid positive negative"),
    (True, "nonnegative non_negative nonzero non_zero strictly finite odd even small large signed unsigned"),
    (True, "short long non_empty nonempty unicode ascii 1d 2d 3d nd 1_d 2_d 3_d n_d 1_dimensional"),
    (True, "2_dimensional n_dimensional one_dimensional two_dimensional"),
)

_PREFIX = re.compile(r"^(?:typing|t|collections\.abc|builtins)\.")
_CLOSING_WORDS = ("_object", "_instance", "_value", "_type")


def lookup(phrase: str) -> Any:
    """The type that one or more words mean, in the singular or the plural, or `NOTHING`."""
    written = _joined(phrase) or phrase
    for form in _forms(written.lower()):
        if form in _WORDS:
            return _WORDS[form] if written[:1].islower() or form in _CAPITALISED else NOTHING
    return _foreign(written.lower())


def container(phrase: str) -> Any:
    """The generic type that words such as `list` or `tuples` mean before `of` or a bracket, or `NOTHING`."""
    forms = _forms(_joined(phrase).lower())
    return next((_CONTAINERS[form] for form in forms if form in _CONTAINERS), NOTHING)


def _joined(phrase: str) -> str:
    words = [word for word in phrase.replace("-", "_").split() if word.lower() not in _NOISE]
    return _PREFIX.sub("", "_".join(words))


def _forms(name: str) -> tuple[str, ...]:
    """The words themselves, without a closing "object" or the like, and in the singular."""
    bare = name.removesuffix("s")
    for ending in _CLOSING_WORDS:
        bare = bare.removesuffix(ending)
    return (
        name,
        name.removesuffix("s"),
        bare,
        bare.removesuffix("s"),
        bare.replace("dictionarie", "dictionary"),
    )


def _foreign(name: str) -> Any:
    """numpy's and pandas' types, where the person's code has imported them: never for their own sake."""
    last = name.rpartition(".")[2]
    if last in {"ndarray", "ndarrays", "numpy_array", "numpy_arrays", "np_array"}:
        return getattr(sys.modules.get("numpy"), "ndarray", NOTHING)
    if last in {"dataframe", "dataframes"}:
        return getattr(sys.modules.get("pandas"), "DataFrame", NOTHING)
    if last == "series":
        return getattr(sys.modules.get("pandas"), "Series", NOTHING)
    return NOTHING
