"""HTTP headers that mirror the body of a request, checked against it (2026-07-28, Streamable HTTP, "Request Metadata")."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from typing import Any, cast

from autotool.errors import ProtocolError
from autotool.protocol.messages import HEADER_MISMATCH, META_VERSION, Request

VERSION = "mcp-protocol-version"
METHOD = "mcp-method"
NAME = "mcp-name"

_NAMED_BY = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
_SENTINEL, _SENTINEL_END = "=?base64?", "?="


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
        ProtocolError: it has that form, but is not base64 of UTF-8 text.
    """
    stripped = text.strip()
    if not (stripped.startswith(_SENTINEL) and stripped.endswith(_SENTINEL_END)):
        return stripped
    try:
        return base64.b64decode(stripped[len(_SENTINEL) : -len(_SENTINEL_END)], validate=True).decode("utf-8")
    except (binascii.Error, ValueError) as error:
        raise mismatch(f"The header `{name}` is not valid base64 of UTF-8 text.") from error


def check_parameters(
    arguments: Any, headers: Mapping[str, str], mirrored: Mapping[str, tuple[tuple[str, ...], str]]
) -> None:
    """Check every `Mcp-Param-…` header that the tool asks for against the arguments.

    Args:
        mirrored: header name in lower case to (path in the arguments, JSON type).

    Raises:
        ProtocolError: one is missing although the body has a value, or differs (-32020).
    """
    for header, (path, kind) in mirrored.items():
        value = _at(arguments, path)
        given = headers.get(header)
        if value is None:
            if given is not None:
                raise mismatch(f"The header `{header}` is there, but the body has no `{'.'.join(path)}`.")
            continue
        if given is None:
            raise mismatch(f"The header `{header}` is missing, but the body has `{'.'.join(path)}`.")
        if not _same(decode_value(given, header), value, kind):
            raise mismatch(f"The header `{header}` differs from `{'.'.join(path)}` in the body.")


def _at(arguments: Any, path: tuple[str, ...]) -> Any:
    for step in path:
        if not isinstance(arguments, dict):
            return None
        arguments = cast("dict[str, Any]", arguments).get(step)
    return arguments


def _same(text: str, value: Any, kind: str) -> bool:
    if isinstance(value, bool):
        return text == ("true" if value else "false")
    if isinstance(value, int | float) and kind == "integer":
        try:
            return float(text) == float(value) and int(float(text)) == int(value)
        except (ValueError, OverflowError):
            return False
    return text == str(value)
