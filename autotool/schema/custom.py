"""Types that pydantic does not know, or reads in a way that JSON callers do not expect."""

from __future__ import annotations

import base64
import binascii
import datetime
import functools
import io
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any, cast

import pydantic
from pydantic import PlainValidator, WithJsonSchema
from pydantic_core import PydanticCustomError

BYTES_NOTE = "Base64-encoded bytes."
FILE_NOTE = "Path of an existing file, or the content itself."


class _BytesMark:
    """Marks an annotation made by `bytes_type`."""


def is_bytes(annotation: Any) -> bool:
    """Whether `annotation` came from `bytes_type`."""
    return any(isinstance(fact, _BytesMark) for fact in getattr(annotation, "__metadata__", ()))


@functools.cache
def bytes_type(target: Any) -> Any:
    """Bytes as base64 (RFC 4648, standard or URL-safe alphabet), the only lossless form that JSON has."""

    def decode(value: Any) -> Any:
        if not isinstance(value, str):
            raise PydanticCustomError("bytes_text", "a base64 string is expected")
        return target(_decode_base64(value))

    schema = {"type": "string", "contentEncoding": "base64"}
    return Annotated[Any, PlainValidator(decode), WithJsonSchema(schema), _BytesMark()]


def _decode_base64(text: str) -> bytes:
    compact = "".join(text.split()).replace("-", "+").replace("_", "/")
    try:
        return base64.b64decode(compact + "=" * (-len(compact) % 4 if not compact.endswith("=") else 0), validate=True)
    except (binascii.Error, ValueError) as error:
        raise PydanticCustomError("bytes_text", "the text is not valid base64") from error


@functools.cache
def bytes_pattern_type() -> Any:
    """A regular expression over bytes, sent as text."""

    def compile_(value: Any) -> Any:
        try:
            return re.compile(str(value).encode())
        except re.error as error:
            raise PydanticCustomError("pattern", "not a regular expression: {why}", {"why": str(error)}) from error

    return Annotated[Any, PlainValidator(compile_), WithJsonSchema({"type": "string", "format": "regex"})]


@functools.cache
def file_type(*, binary: bool) -> Any:
    """An open file: the existing file that the text names, or else the text itself as its content."""

    def open_(value: Any) -> Any:
        if not isinstance(value, str):
            raise PydanticCustomError("file_text", "a path or the content as text is expected")
        if _is_file(value):
            return Path(value).open("rb") if binary else Path(value).open(encoding="utf-8")
        return io.BytesIO(value.encode()) if binary else io.StringIO(value)

    return Annotated[Any, PlainValidator(open_), WithJsonSchema({"type": "string", "description": FILE_NOTE})]


def _is_file(text: str) -> bool:
    try:
        return len(text) < 4096 and "\n" not in text and Path(text).is_file()
    except (OSError, ValueError):
        return False


@functools.cache
def write_file_type() -> Any:
    """A file to write to: the text names it."""

    def open_(value: Any) -> Any:
        if not isinstance(value, str) or not value:
            raise PydanticCustomError("file_text", "the path of a file to write is expected")
        try:
            return Path(value).open("w", encoding="utf-8")
        except OSError as error:
            raise PydanticCustomError("file_text", "cannot be written: {why}", {"why": error.strerror}) from error

    return Annotated[
        Any, PlainValidator(open_), WithJsonSchema({"type": "string", "description": "Path of the file to write."})
    ]


def iterator_type(item: Any) -> Any:
    """An iterator over a JSON array."""
    return Annotated[list[item], pydantic.AfterValidator(iter)]


_PARTS = {"type": "array", "items": {"anyOf": [{"type": "integer"}, {"type": "null"}]}, "minItems": 1, "maxItems": 3}


@functools.cache
def _range_type() -> Any:
    def build(value: Any) -> range:
        numbers = _integers(value, "range")
        if any(number is None for number in numbers) or (len(numbers) == 3 and numbers[2] == 0):
            raise PydanticCustomError(
                "parts", "[stop], [start, stop] or [start, stop, step] is expected, the step not 0"
            )
        return range(*cast("list[int]", numbers))

    schema = {**_PARTS, "items": {"type": "integer"}, "description": "[stop], [start, stop] or [start, stop, step]."}
    return Annotated[Any, PlainValidator(build), WithJsonSchema(schema)]


@functools.cache
def _slice_type() -> Any:
    def build(value: Any) -> slice:
        return slice(*_integers(value, "slice"))

    schema = {**_PARTS, "description": "[stop], [start, stop] or [start, stop, step]; null leaves one out."}
    return Annotated[Any, PlainValidator(build), WithJsonSchema(schema)]


def _integers(value: Any, kind: str) -> list[int | None]:
    items = cast("list[Any]", value) if isinstance(value, list) else []
    if not 1 <= len(items) <= 3 or any(type(item) not in (int, type(None)) for item in items):
        raise PydanticCustomError("parts", "an array of one to three integers is expected for a {kind}", {"kind": kind})
    return items


@functools.cache
def _timezone_type() -> Any:
    def build(value: Any) -> Any:
        import zoneinfo

        try:
            return datetime.UTC if str(value).upper() in ("UTC", "Z") else zoneinfo.ZoneInfo(str(value))
        except Exception as error:
            raise PydanticCustomError("timezone", "a time zone name such as Europe/Berlin is expected") from error

    schema = {"type": "string", "description": "Time zone name, for example UTC or Europe/Berlin."}
    return Annotated[Any, PlainValidator(build), WithJsonSchema(schema)]


BUILT_FROM_PARTS: dict[Any, Callable[[], Any]] = {
    range: _range_type,
    slice: _slice_type,
    datetime.tzinfo: _timezone_type,
    datetime.timezone: _timezone_type,
}


def described(annotation: Any) -> Mapping[str, str]:
    """Notes for people that go with a custom type: `{"description": …}` or nothing."""
    return {"description": BYTES_NOTE} if is_bytes(annotation) else {}
