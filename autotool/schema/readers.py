"""One reader a type: its published schema, and from a JSON value to the Python value that the function gets.

A value is first read strictly, by pydantic's JSON rules. Only when that fails is it repaired, at the very places that
failed and only where the repair cannot change what was meant: `"5"` for an integer, a JSON text for a list, an
integer for a string. What no repair fits is refused.
"""

from __future__ import annotations

import copy
import math
import re
from collections.abc import Callable
from typing import Any

import typing_extensions
from pydantic_core import ValidationError, from_json, to_json

from autotool.errors import ArgumentError
from autotool.schema import plain, problems
from autotool.schema.dialect import Schema
from autotool.schema.notjson import importable
from autotool.schema.places import Path, get, put, value_path

_ROUNDS = 8
_INTEGER = re.compile(r"[+-]?\d{1,40}")
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,3})?")
_NOTHING: Any = object()


class Reader:
    """Reads values of one type. Shared by every parameter of that type.

    Attributes:
        schema: the JSON Schema that is published; not to be changed.
        admits_none: whether null is a value of the type.
    """

    __slots__ = ("_exact", "_validator", "admits_none", "is_open", "schema")

    def __init__(self, annotation: Any) -> None:
        """Make a reader.

        Raises:
            NotJson: JSON cannot carry a value of the type.
        """
        form = plain.form_of(annotation)
        if form is None:
            from autotool.schema import rich

            form = rich.form_of(annotation)
        self.schema: Schema = form.schema
        self.admits_none = form.admits_none
        self.is_open = form.validator is None
        self._validator = form.validator
        self._exact = form.exact

    def read(self, value: Any, name: str) -> Any:
        """The Python value for the JSON `value` of the argument `name`.

        Raises:
            ArgumentError: it does not fit; one problem for each place that is wrong.
        """
        if self._validator is None or type(value) in self._exact:
            return value
        try:
            return self._validate(value)
        except ValidationError as error:
            return self._repair(value, error, name)

    def _validate(self, value: Any) -> Any:
        assert self._validator is not None  # an open reader returns before this
        return self._validator.validate_json(to_json(value), strict=True)

    def _repair(self, value: Any, error: ValidationError, name: str) -> Any:
        repaired = value
        for _ in range(_ROUNDS):
            options = _repairs(repaired, error)
            if not options:
                break
            repaired = copy.deepcopy(repaired)
            error_before = error
            for path, candidates in options.items():
                repaired = put(repaired, path, candidates[0])
            try:
                return self._validate(repaired)
            except ValidationError as again:
                error = again
            if len(options) == 1 and (found := self._other_candidates(repaired, options)) is not _NOTHING:
                return found
            if error.errors(include_url=False) == error_before.errors(include_url=False):
                break
        try:
            # Types with rules of their own may be laxer than JSON's, for example a model with `mode="before"` validators.
            if problems.may_be_lax(error):
                assert self._validator is not None  # as in `_validate`
                return self._validator.validate_json(to_json(repaired), strict=False)
        except ValidationError:
            pass
        raise ArgumentError(problems.describe(error, repaired, value, name, self.schema))

    def _other_candidates(self, value: Any, options: dict[Path, list[Any]]) -> Any:
        ((path, candidates),) = options.items()
        for candidate in candidates[1:]:
            try:
                return self._validate(put(value, path, candidate))
            except ValidationError:
                continue
        return _NOTHING


_readers: dict[Any, Reader] = {}


def reader_for(annotation: Any) -> Reader:
    """The reader of `annotation`, made once for each type.

    Raises:
        NotJson: JSON cannot carry a value of the type.
    """
    try:
        # `Literal[1]` and `Literal[True]` are equal and hash alike, so the key spells the type out too.
        spelled = repr(annotation) if typing_extensions.get_origin(annotation) is not None else ""
        key = (annotation, spelled, importable.get())
        found = _readers.get(key)
    except TypeError:
        return Reader(annotation)
    if found is None:
        found = _readers[key] = Reader(annotation)
    return found


def _repairs(value: Any, error: ValidationError) -> dict[Path, list[Any]]:
    """For each place that failed, what it may have been meant to be, likeliest first."""
    failures: dict[Path, list[str]] = {}
    for failure in error.errors(include_url=False, include_context=False, include_input=False):
        failures.setdefault(value_path(value, failure["loc"]), []).append(failure["type"])
    found: dict[Path, list[Any]] = {}
    for path, kinds in failures.items():
        item = get(value, path)
        if isinstance(item, str) and any(kind.startswith("string_") for kind in kinds):
            continue  # a text is what was wanted here: it is never read as anything else
        candidates = [fixed for kind in dict.fromkeys(kinds) if (fixed := _fix(kind, item)) is not _NOTHING]
        if candidates:
            found[path] = candidates
    # A place inside another one that is replaced as a whole need not be looked at.
    return {path: fixed for path, fixed in found.items() if not any(path[:n] in found for n in range(len(path)))}


def _to_integer(item: Any) -> Any:
    if isinstance(item, float) and item.is_integer() and abs(item) < 2**53:
        return int(item)
    if isinstance(item, str) and _INTEGER.fullmatch(item.strip()):
        return int(item)
    return _NOTHING


def _to_number(item: Any) -> Any:
    if isinstance(item, str) and _NUMBER.fullmatch(item.strip()) and math.isfinite(float(item)):
        return float(item)
    return _NOTHING


def _to_boolean(item: Any) -> Any:
    return {"true": True, "false": False}.get(item.strip().lower(), _NOTHING) if isinstance(item, str) else _NOTHING


def _to_text(item: Any) -> Any:
    return str(item) if isinstance(item, int) and not isinstance(item, bool) else _NOTHING


def _to_container(item: Any) -> Any:
    if not isinstance(item, str):
        return _NOTHING
    try:
        parsed = from_json(item, allow_inf_nan=False)
    except ValueError:
        return _NOTHING
    return parsed if parsed is None or isinstance(parsed, list | dict) else _NOTHING


def _to_literal(item: Any) -> Any:
    for fix in (_to_integer, _to_number, _to_boolean, _to_text):
        fixed = fix(item)
        if fixed is not _NOTHING:
            return fixed
    return _NOTHING


def _unquoted(item: Any) -> Any:
    if isinstance(item, str) and len(item) > 2 and item[0] == item[-1] == '"':
        return item[1:-1]
    return _NOTHING


_EXACT_FIXES: dict[str, Callable[[Any], Any]] = {
    "string_type": _to_text,
    "bool_type": _to_boolean,
    "bool_parsing": _to_boolean,
    "literal_error": _to_literal,
    "complex_str_parsing": lambda item: str(item) if type(item) in (int, float) else _NOTHING,
    "complex_type": lambda item: str(item) if type(item) in (int, float) else _NOTHING,
    "none_required": lambda item: None if item == "null" else _NOTHING,
}
_PREFIX_FIXES: dict[tuple[str, ...], Callable[[Any], Any]] = {
    ("int_",): _to_integer,
    ("float_",): _to_number,
    ("list_", "tuple_", "set_", "frozen_set_", "dict_", "mapping_", "model_", "dataclass_", "iterable_", "typed_dict", "array", "parts"): _to_container,
    ("uuid_", "date_", "time_", "datetime_", "decimal_", "url_", "ip_", "path_", "enum", "timezone"): _unquoted,
}  # fmt: skip


def _fix(kind: str, item: Any) -> Any:
    exact = _EXACT_FIXES.get(kind)
    if exact is not None:
        return exact(item)
    for prefixes, fix in _PREFIX_FIXES.items():
        if kind.startswith(prefixes):
            return fix(item)
    return _NOTHING
