"""HTTP headers that mirror the body of a request, checked against it (2026-07-28, Streamable HTTP, "Request Metadata")."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping
from typing import Any, cast

from autotool.errors import ProtocolError
from autotool.protocol.messages import HEADER_MISMATCH, META_VERSION, Request

VERSION = "mcp-protocol-version"
METHOD = "mcp-method"
NAME = "mcp-name"

_NAMED_BY = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
_SENTINEL, _SENTINEL_END = "=?base64?", "?="
_PLAIN = re.compile(r"[\t\x20-\x7e]*")
_INTEGER = re.compile(r"(-?[0-9]{1,40})(?:\.0{1,40})?")


def mismatch(text: str) -> ProtocolError:
    """The error for a header that is missing or differs from the body."""
    return ProtocolError(HEADER_MISMATCH, text)


def check_version(request: Request, headers: Mapping[str, str]) -> None:
    """Check `MCP-Protocol-Version` against the body, before anything is made of either.

    Raises:
        ProtocolError: it is missing or differs (-32020).
    """
    _check(headers, VERSION, request.meta.get(META_VERSION), required=True)


def check_standard(request: Request, headers: Mapping[str, str], *, required: bool) -> None:
    """Check `Mcp-Method` and `Mcp-Name` against the body.

    Args:
        headers: names in lower case.
        required: whether they must be there; where they are there, they are checked in any case.

    Raises:
        ProtocolError: one is missing or differs (-32020).
    """
    _check(headers, METHOD, request.method, required=required)
    parameter = _NAMED_BY.get(request.method)
    if parameter is not None:
        _check(headers, NAME, request.params.get(parameter), required=required, encoded=True)


def _check(headers: Mapping[str, str], name: str, wanted: Any, *, required: bool, encoded: bool = False) -> None:
    given = headers.get(name)
    if given is None:
        if required:
            raise mismatch(f"The header `{name}` is missing.")
        return
    value = decode_value(given, name) if encoded else given
    if wanted is not None and value != wanted:
        raise mismatch(f"The header `{name}` says {value[:64]!r}, the body {str(wanted)[:64]!r}.")


def decode_value(text: str, name: str) -> str:
    """A header value, decoded where it has the form `=?base64?…?=`.

    Raises:
        ProtocolError: it has that form, but is not base64 of UTF-8 text; or it is not plain ASCII.
    """
    if not _PLAIN.fullmatch(text):
        raise mismatch(f"The header `{name}` has characters that a header cannot carry; send it as `=?base64?…?=`.")
    stripped = text.strip(" \t")
    if not (stripped.startswith(_SENTINEL) and stripped.endswith(_SENTINEL_END)):
        return stripped
    try:
        return base64.b64decode(stripped[len(_SENTINEL) : -len(_SENTINEL_END)], validate=True).decode("utf-8")
    except (binascii.Error, ValueError) as error:
        raise mismatch(f"The header `{name}` is not valid base64 of UTF-8 text.") from error


def check_parameters(
    arguments: Any, headers: Mapping[str, str], mirrored: Mapping[str, tuple[str, ...]], *, required: bool
) -> None:
    """Check every `Mcp-Param-…` header that the tool asks for against the arguments.

    Args:
        mirrored: header name in lower case to its path in the arguments.
        required: whether one must be there when the body has a value; where it is there, it is checked in any case.

    Raises:
        ProtocolError: one is missing although the body has a value, or differs (-32020).
    """
    for header, path in mirrored.items():
        value = _at(arguments, path)
        given = headers.get(header)
        if value is None:
            if given is not None:
                raise mismatch(f"The header `{header}` is there, but the body has no `{'.'.join(path)}`.")
        elif given is None:
            if required:
                raise mismatch(f"The header `{header}` is missing, but the body has `{'.'.join(path)}`.")
        elif not _same(decode_value(given, header), value):
            raise mismatch(f"The header `{header}` differs from `{'.'.join(path)}` in the body.")


def _at(arguments: Any, path: tuple[str, ...]) -> Any:
    for step in path:
        if not isinstance(arguments, dict):
            return None
        arguments = cast("dict[str, Any]", arguments).get(step)
    return arguments


def _same(text: str, value: Any) -> bool:
    """Whether a header says what the body says; numbers are compared as numbers, exactly."""
    if isinstance(value, bool):
        return text == ("true" if value else "false")
    number = _INTEGER.fullmatch(text) if isinstance(value, int | float) else None
    return int(number[1]) == value if number is not None else text == str(value)
