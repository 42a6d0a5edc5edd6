"""Removes from text what a person does not see or a terminal obeys, before it leaves for a model.

Escape sequences, control characters, tags, direction overrides and zero-width characters carry instructions
past the person who reads along. What is removed, and what stays:

- escape sequences (ECMA-48: CSI, OSC, DCS, APC, PM, SOS, and those of one character) go whole, with what they
  hide; one that does not end loses only its introducer, so that no text after it is lost;
- C0 and C1 control characters and DEL go, except newline and tab; `\\r\\n` and a lone `\\r` become a newline;
- bidi controls, U+200B, U+2060 to U+206F, U+FEFF and U+E0000 to U+E0FFF (tags) go;
- zero-width joiners stay where they follow a letter of a script that needs them or an emoji;
- a second variation selector in a row goes; a lone surrogate becomes U+FFFD.

All patterns are linear: what a repeat has taken it never gives back.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, cast

from autotool.model import Candidate, Parameter

MAX_DESCRIPTION = 10_000
"""Characters of a tool's description; the rest is cut, and the text says so."""

MAX_PARAMETER_DESCRIPTION = 2_000
"""Characters of a description within a schema."""

MAX_TITLE = 200
"""Characters of a title."""

_INVISIBLE = r"\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\U000e0000-\U000e0fff"
# Without ESC and its C1 relatives, which begin a sequence that goes as a whole.
_SINGLE = rf"\x00-\x08\x0b-\x1a\x1c-\x1f\x7f-\x8f\x91-\x97\x99\x9a\x9c{_INVISIBLE}"
# Arabic to Mongolian, the presentation forms, symbols, emoji, and the selector that follows an emoji.
_JOINED = (
    r"\u0600-\u061b\u061d-\u1cff\u2190-\u2bff\u3030\u303d\u3297\u3299\ua800-\uabff"
    r"\ufb50-\ufdff\ufe0f\ufe70-\ufefc\U00010a00-\U00011fff\U0001f000-\U0001faff"
)
_SUSPECT = re.compile(
    rf"[\x00-\x08\x0b-\x1f\x7f-\x9f{_INVISIBLE}\u200c\u200d\ud800-\udfff]|[\ufe00-\ufe0f][\ufe00-\ufe0f]"
)
_REMOVED = re.compile(
    r"(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])(?:[^\x07\x1b\x9c]*+(?:\x07|\x1b\\|\x9c))?"
    r"|(?:\x1b\[|\x9b)[0-?]*+[ -/]*+[@-~]?"
    r"|\x1b[ -/]*+[0-~]?"
    rf"|[{_SINGLE}]+"
    rf"|(?<![{_JOINED}])[\u200c\u200d]+"
    rf"|(?<=[\u200c\u200d])[\u200c\u200d]+"
    r"|(?<=[\ufe00-\ufe0f])[\ufe00-\ufe0f]+"
)
_SURROGATES = re.compile(r"[\ud800-\udfff]+")

# The same characters as they stand in serialised JSON: raw UTF-8, or escaped. It may suspect too much, never
# too little: what it finds is only looked at more closely.
_SUSPECT_JSON = re.compile(
    rb"\x7f|\xc2[\x80-\x9f]|\xd8\x9c|\xe2\x80[\x8b-\x8f\xaa-\xae]|\xe2\x81[\xa0-\xaf]|\xef\xbb\xbf"
    rb"|\xf3\xa0|\xed[\xa0-\xbf]|\xef\xb8[\x80-\x8f]\xef\xb8"
    rb"|\\(?:[bfr]|u(?:00[0189]|007[fF]|061[cC]|20[026]|[fF][eE]|[dD][89a-fA-F]))"
)
_JSON_STRING = re.compile(rb'"(?:[^"\\]++|\\.)*+"', re.DOTALL)


def clean(text: str) -> str:
    """The text without what nobody sees; the same object when there is nothing to remove.

    Never grows, and cleaning twice changes nothing more.
    """
    if _SUSPECT.search(text) is None:
        return text
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return _SURROGATES.sub(lambda run: "\ufffd" * len(run.group()), _REMOVED.sub("", text))


def clean_json(data: bytes) -> bytes:
    """Clean every string and key of serialised JSON; the same object when there is nothing to remove.

    Everything outside strings, and every string that is clean, stays byte for byte as it was.
    """
    return clean_json_counted(data)[0]


def clean_json_counted(data: bytes) -> tuple[bytes, int]:
    """As `clean_json`, and how many characters went or were replaced."""
    if _SUSPECT_JSON.search(data) is None:
        return data, 0
    removed = 0

    def cleaned_string(match: re.Match[bytes]) -> bytes:
        nonlocal removed
        token = match.group()
        if _SUSPECT_JSON.search(token) is None:
            return token
        text = read_json_string(token)
        cleaned = clean(text)
        if cleaned == text:
            return token
        removed += (len(text) - len(cleaned)) or 1
        return json.dumps(cleaned, ensure_ascii=False).encode()

    return _JSON_STRING.sub(cleaned_string, data), removed


def read_json_string(token: bytes) -> str:
    """The text of a JSON string that is given with its quotes; broken UTF-8 in it is never an error."""
    try:
        text = token.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        text = token.decode("utf-8", "replace")
    try:
        return cast("str", json.loads(text, strict=False))
    except ValueError:
        return text[1:-1]


def clean_candidate(candidate: Candidate) -> Candidate:
    """Clean and bound everything that is told of a tool; a warning names the tool when something was removed.

    Descriptions are cut to `MAX_DESCRIPTION`, `MAX_PARAMETER_DESCRIPTION` and `MAX_TITLE` characters. Values
    of `enum` and `const` are compared with what a caller sends: one that is not clean is no longer offered,
    rather than offered in a spelling that would be refused.
    """
    title, description = clean(candidate.title), clean(candidate.description)
    parameters = tuple(_cleaned_parameter(parameter) for parameter in candidate.parameters)
    input_schema = _cleaned_value(candidate.input_schema)
    output_schema = _cleaned_value(candidate.output_schema)
    cleaned = (title, description, parameters, input_schema, output_schema)
    before = (
        candidate.title,
        candidate.description,
        candidate.parameters,
        candidate.input_schema,
        candidate.output_schema,
    )
    warnings = tuple(clean(warning) for warning in candidate.warnings)
    if cleaned != before:
        name = clean(candidate.name)
        warnings += (f"Hidden or control characters were removed from the words of `{name}` ({candidate.key}).",)
    return replace(
        candidate,
        title=shorten(title, MAX_TITLE),
        description=shorten(description, MAX_DESCRIPTION),
        parameters=tuple(_bounded_parameter(parameter) for parameter in parameters),
        input_schema=_bounded_schema(input_schema),
        output_schema=_bounded_schema(output_schema),
        warnings=warnings,
    )


def shorten(text: str, most: int) -> str:
    """At most `most` characters of the text, cut between words, with a note of how much there was."""
    if len(text) <= most:
        return text
    note = f" … [cut: {len(text):,} characters]"
    head = text[: max(0, most - len(note))]
    at = max(head.rfind(" "), head.rfind("\n"))
    return (head[:at] if at > most // 2 else head).rstrip() + note


def _cleaned_parameter(parameter: Parameter) -> Parameter:
    return replace(
        parameter,
        description=clean(parameter.description),
        type_text=clean(parameter.type_text),
        schema=_cleaned_value(parameter.schema),
    )


def _bounded_parameter(parameter: Parameter) -> Parameter:
    description = shorten(parameter.description, MAX_PARAMETER_DESCRIPTION)
    return replace(parameter, description=description, schema=_bounded_schema(parameter.schema))


def _cleaned_value(value: Any) -> Any:
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, Mapping):
        return _cleaned_object(cast("Mapping[str, Any]", value))
    if isinstance(value, list | tuple):
        return [_cleaned_value(item) for item in cast("Iterable[Any]", value)]
    return value


def _cleaned_object(schema: Mapping[str, Any]) -> dict[str, Any]:
    result: dict[str, Any] = {}
    for key, value in schema.items():
        kept = value
        if key == "enum" and isinstance(value, list):
            kept = [item for item in cast("list[Any]", value) if _cleaned_value(item) == item]
        if (key == "const" and _cleaned_value(value) != value) or (kept == [] and kept != value):
            continue
        result[clean(key)] = _cleaned_value(kept)
    return result


def _bounded_schema(value: Any) -> Any:
    if isinstance(value, Mapping):
        members = cast("Mapping[str, Any]", value)
        return {key: _bounded_member(key, member) for key, member in members.items()}
    if isinstance(value, list):
        return [_bounded_schema(item) for item in cast("list[Any]", value)]
    return value


def _bounded_member(key: str, value: Any) -> Any:
    if key == "description" and isinstance(value, str):
        return shorten(value, MAX_PARAMETER_DESCRIPTION)
    return _bounded_schema(value)
