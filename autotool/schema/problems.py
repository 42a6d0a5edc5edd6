"""What is wrong with an argument, in words that a model can act on."""

from __future__ import annotations

import json
import typing
from collections.abc import Mapping, Sequence
from typing import Any, cast

from pydantic_core import ErrorDetails, ValidationError

from autotool.schema.places import value_path

_WORDS = {
    "string": "a string",
    "integer": "an integer",
    "number": "a number",
    "boolean": "true or false",
    "array": "an array",
    "object": "an object",
    "null": "null",
}

_FORMATS = {
    "date-time": "a date and time such as 2024-05-01T10:00:00Z",
    "date": "a date such as 2024-05-01",
    "time": "a time such as 10:00:00",
    "duration": "a duration such as PT5M",
    "uuid": "a UUID",
    "uri": "a URL",
    "regex": "a regular expression",
    "path": "a path",
    "ipv4": "an IPv4 address",
    "ipv6": "an IPv6 address",
}

_STRICT_KINDS = ("int_", "float_", "bool_", "string_", "literal_", "missing", "extra_")

_SHOWN = 80


def type_text(annotation: Any) -> str:
    """An annotation as its author would write it."""
    if isinstance(annotation, type) and not typing.get_args(annotation):
        return (
            annotation.__qualname__
            if annotation.__module__ == "builtins"
            else f"{annotation.__module__}.{annotation.__qualname__}"
        )
    return repr(annotation).replace("typing.", "").replace("collections.abc.", "").replace("NoneType", "None")


def may_be_lax(error: ValidationError) -> bool:
    """Whether every failure is of a kind in which a type's own, laxer rules do no harm: none is of the wrong JSON type."""
    kinds = [failure["type"] for failure in error.errors(include_url=False, include_input=False)]
    return not any(kind.startswith(_STRICT_KINDS) or kind.endswith("_type") for kind in kinds)


def expected(schema: Mapping[str, Any]) -> str:
    """What a schema admits: "an integer of at least 1", "one of 'd', 'l'", "an array of strings"."""
    if "enum" in schema:
        return "one of " + ", ".join(repr(value) for value in schema["enum"][:30])
    arms = schema.get("anyOf")
    if isinstance(arms, list):
        return " or ".join(dict.fromkeys(expected(cast("dict[str, Any]", arm)) for arm in cast("list[Any]", arms)))
    kind = schema.get("type")
    if not isinstance(kind, str):
        return "another value"
    if schema.get("contentEncoding") == "base64":
        return "base64 text"
    words = _FORMATS.get(str(schema.get("format", "")), _WORDS.get(kind, kind))
    items = schema.get("items")
    if kind == "array" and isinstance(items, dict) and "type" in items:
        words += f" of {_plural(cast('dict[str, Any]', items))}"
    return words + _bounds(schema)


def _plural(schema: Mapping[str, Any]) -> str:
    return {"string": "strings", "integer": "integers", "number": "numbers", "boolean": "booleans"}.get(
        schema["type"], f"{schema['type']}s"
    )


def _bounds(schema: Mapping[str, Any]) -> str:
    said = [
        f"{words} {schema[key]}"
        for key, words in (
            ("minimum", "at least"), ("exclusiveMinimum", "more than"), ("maximum", "at most"), ("exclusiveMaximum", "less than"),
            ("multipleOf", "a multiple of"), ("minLength", "length at least"), ("maxLength", "length at most"),
            ("minItems", "with at least"), ("maxItems", "with at most"), ("pattern", "matching"),
        )
        if key in schema
    ]  # fmt: skip
    if schema.get("type") == "array":
        said = [f"{words} items" if "with" in words else words for words in said]
    return " (" + ", ".join(said) + ")" if said else ""


def shown(value: Any) -> str:
    """A value as JSON, short."""
    try:
        text = json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        text = repr(type(value).__name__)
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"


def describe(error: ValidationError, value: Any, given: Any, name: str, schema: Mapping[str, Any]) -> list[str]:
    """One line for each place of `value` that is wrong: its name, what was expected, what was given."""
    grouped: dict[tuple[str | int, ...], list[ErrorDetails]] = {}
    for failure in error.errors(include_url=False):
        grouped.setdefault(value_path(value, failure["loc"]), []).append(failure)
    lines: list[str] = []
    for path, failures in grouped.items():
        if path or failures[0]["type"] in ("missing", "extra_forbidden"):
            lines.extend(_nested(path, failures, name))
        else:
            lines.append(f"`{name}`: expected {_words(failures, schema)}, got {shown(given)}")
    return list(dict.fromkeys(lines))


def _nested(path: Sequence[str | int], failures: list[ErrorDetails], name: str) -> list[str]:
    where = name + "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    lines: list[str] = []
    for failure in failures:
        leaf = failure["loc"][-1] if failure["loc"] else ""
        if failure["type"] == "missing":
            inner = f"[{leaf}]" if isinstance(leaf, int) else f".{leaf}"
            lines.append(f"`{where}{inner}`: is required and was not given")
        elif failure["type"] == "extra_forbidden":
            lines.append(f"`{where}`: is not known")
        else:
            lines.append(f"`{where}`: {_phrase(failure)}, got {shown(failure['input'])}")
    return lines


def _words(failures: list[ErrorDetails], schema: Mapping[str, Any]) -> str:
    own = [
        failure["msg"]
        for failure in failures
        if failure["type"] in ("bytes_text", "constructor", "pattern", "value_error", "assertion_error")
    ]
    words = expected(schema)
    return f"{words} ({own[0]})" if own else words


def _phrase(failure: ErrorDetails) -> str:
    text = failure["msg"]
    return (
        text.replace("Input should be", "expected", 1)
        if text.startswith("Input should be")
        else text[:1].lower() + text[1:]
    )
