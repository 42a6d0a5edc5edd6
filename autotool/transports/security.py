"""What every HTTP request must pass before it is read: a known Host, a known Origin, a bounded body in bounded time."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import urlsplit

from starlette.types import ASGIApp, Receive, Scope, Send

from autotool.errors import ProtocolError
from autotool.protocol import headers
from autotool.protocol.codec import INVALID_REQUEST

LOOPBACK = ("localhost", "127.0.0.1", "::1")


@dataclass(frozen=True, slots=True)
class HttpLimits:
    """What the HTTP side lets in.

    Attributes:
        hosts: names that the `Host` header may have, beside the loopback names when `loopback` is set.
        origins: origins of web pages that may call, as `scheme://host:port`, beside those on loopback.
        loopback: whether the server listens on loopback only, so that the loopback names, with its own port or none,
            are its names.
        max_body_bytes: the longest body.
        body_timeout_s: seconds within which a body must have come in.
    """

    hosts: tuple[str, ...] = ()
    origins: tuple[str, ...] = ()
    loopback: bool = True
    max_body_bytes: int = 4 * 1024 * 1024
    body_timeout_s: float = 30.0


class TooLarge(ProtocolError):
    """The body is longer than it may be."""

    def __init__(self, limit: int) -> None:
        super().__init__(INVALID_REQUEST, f"The body is longer than {limit} bytes, and was not read.", http_status=413)


class Guard:
    """ASGI middleware against DNS rebinding (2026-07-28, Streamable HTTP, "Security & Endpoint")."""

    def __init__(self, app: ASGIApp, limits: HttpLimits) -> None:
        self._app = app
        self._limits = limits

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on what comes under a known name from a known page."""
        if scope["type"] == "http":
            named = {name: value.decode("latin-1") for name, value in scope["headers"] if name in (b"host", b"origin")}
            if not self._is_known_host(named.get(b"host"), scope):
                await _refuse(send, 421, b"This server does not answer under that Host; `[server] hosts` adds names.")
                return
            origin = named.get(b"origin")
            if origin is not None and not self._is_known_origin(origin, scope):
                await _refuse(
                    send, 403, b"Pages of that Origin may not call this server; `[server] origins` adds some."
                )
                return
        await self._app(scope, receive, send)

    def _is_known_host(self, header: str | None, scope: Scope) -> bool:
        port = _own_port(scope)
        if port is None and scope.get("server") is not None:
            return True  # a Unix socket has no name that a page could borrow
        if header is None:
            return not self._limits.loopback
        named = _host_and_port(header)
        if named is None:
            return False
        if named[0] in self._limits.hosts or header in self._limits.hosts:
            return True
        if self._limits.loopback:
            return named[0] in LOOPBACK and named[1] in (None, port)
        return not self._limits.hosts

    def _is_known_origin(self, origin: str, scope: Scope) -> bool:
        try:
            parts = urlsplit(origin)
            port = parts.port
        except ValueError:
            return False
        if parts.scheme not in ("http", "https") or parts.path or parts.query or parts.fragment or "@" in parts.netloc:
            return False
        host = parts.hostname or ""
        spelled = f"{parts.scheme}://{f'[{host}]' if ':' in host else host}" + (f":{port}" if port else "")
        if spelled in self._limits.origins:
            return True
        return self._limits.loopback and host in LOOPBACK and port in (None, _own_port(scope))


def unique_headers(raw: list[tuple[bytes, bytes]]) -> dict[str, str]:
    """Headers by lower-case name; those that decide what a request means must not stand twice.

    Raises:
        ProtocolError: one of those does.
    """
    found: dict[str, str] = {}
    for name, value in raw:
        key = name.decode("latin-1")
        if key in found and (key.startswith("mcp-") or key in ("content-type", "authorization", "host", "origin")):
            raise headers.mismatch(f"The header `{key}` stands twice.")
        found[key] = (
            f"{found[key]}, {value.decode('latin-1')}" if key in found else value.decode("latin-1").strip(" \t")
        )
    return found


def is_here(address: str) -> bool:
    """Whether a peer is on this machine; "" is one on a Unix socket."""
    return not address or address in LOOPBACK or address.startswith("127.")


def _own_port(scope: Scope) -> int | None:
    """The port that the request came in on; None on a Unix socket."""
    server = scope.get("server")
    return server[1] if server is not None else None


@lru_cache(maxsize=64)
def _host_and_port(header: str) -> tuple[str, int | None] | None:
    """The name in a `Host` header and its port, if it has one; None when it is not a name."""
    try:
        parts = urlsplit(f"//{header.strip()}")
        port = parts.port
    except ValueError:
        return None
    if "@" in parts.netloc or parts.path or parts.query or parts.fragment or not parts.hostname:
        return None
    return parts.hostname.lower(), port


async def read_body(receive: Receive, named: Mapping[str, str], limits: HttpLimits) -> bytes:
    """The whole body.

    Raises:
        TooLarge: it is, or says it is, longer than it may be.
        ProtocolError: it did not come in in time, or the client went away.
    """
    declared = named.get("content-length", "")
    if declared.isdigit() and int(declared) > limits.max_body_bytes:
        raise TooLarge(limits.max_body_bytes)
    message = await _next(receive, limits.body_timeout_s)
    body = message[0]
    if not message[1]:
        if len(body) > limits.max_body_bytes:
            raise TooLarge(limits.max_body_bytes)
        return body
    chunks, size, more = [body], len(body), True
    deadline = asyncio.get_running_loop().time() + limits.body_timeout_s
    while more:
        chunk, more = await _next(receive, deadline - asyncio.get_running_loop().time())
        chunks.append(chunk)
        size += len(chunk)
        if size > limits.max_body_bytes:
            raise TooLarge(limits.max_body_bytes)
    return b"".join(chunks)


async def _next(receive: Receive, timeout_s: float) -> tuple[bytes, bool]:
    try:
        async with asyncio.timeout(timeout_s):
            message = await receive()
    except TimeoutError:
        raise ProtocolError(INVALID_REQUEST, "The body did not come in in time.", http_status=408) from None
    if message["type"] == "http.disconnect":
        raise ProtocolError(INVALID_REQUEST, "The client went away.")
    return message.get("body", b""), message.get("more_body", False)


async def _refuse(send: Send, status: int, text: bytes) -> None:
    headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"content-length", str(len(text)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": text})
