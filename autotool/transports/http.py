"""The protocol over Streamable HTTP: one endpoint, POST only, no sessions."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Mapping
from typing import Any

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.routing import Route
from starlette.types import Message, Receive, Scope, Send

from autotool.model import Caller
from autotool.protocol import codec, headers, messages
from autotool.protocol.dispatcher import Answer, Dispatcher
from autotool.protocol.messages import Notification, Request
from autotool.protocol.toolwire import header_parameters
from autotool.protocol.versions import MODERN, OLDEST_WITHOUT_HEADER, Revision, is_legacy
from autotool.transports.security import Guard, HttpLimits, TooLarge, read_body

PATH = "/mcp"

_JSON = b"application/json"
_EVENTS = b"text/event-stream"
_WATCH_AFTER_S = 0.05
"""Calls that end sooner are not watched for a client that goes away: watching costs more than they do."""
_KEEP_ALIVE_S = 15.0


def create_app(dispatcher: Dispatcher, limits: HttpLimits) -> Starlette:
    """The ASGI application with the endpoint at `/mcp`."""
    endpoint = Endpoint(dispatcher, limits)
    route = Route(PATH, endpoint=endpoint)
    route.methods = None  # the endpoint itself answers what is not POST, since the answer is part of the protocol
    return Starlette(routes=[route], middleware=[Middleware(Guard, limits=limits)])


class Endpoint:
    """The endpoint as an ASGI application."""

    def __init__(self, dispatcher: Dispatcher, limits: HttpLimits) -> None:
        self._dispatcher = dispatcher
        self._limits = limits
        self._mirrored: dict[tuple[str, str], Mapping[str, tuple[tuple[str, ...], str]]] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one HTTP request."""
        if scope["method"] != "POST":
            await _respond(send, 405, b"", [(b"allow", b"POST")])
            return
        request_id: messages.RequestId | None = None
        try:
            named = _unique_headers(scope["headers"])
            _check_media(named)
            body = await read_body(receive, named, self._limits)
            message = messages.parse(codec.decode(body))
            if not isinstance(message, Request):
                await self._accept(message, send)
                return
            request_id = message.id
            speaks = self._revision(message, named)
            self._check_headers(message, named, speaks)
        except TooLarge as error:
            await _send_answer(send, Answer(messages.error_message(error, None), 413))
            return
        except _Http as error:
            await _respond(send, error.status, str(error).encode(), [(b"content-type", b"text/plain; charset=utf-8")])
            return
        except asyncio.CancelledError:
            raise
        except Exception as error:
            await _send_answer(send, self._dispatcher.refuse(error, request_id))
            return
        answer = self._dispatcher.answer_now(message, speaks)
        if answer is not None:
            await _send_answer(send, answer)
            return
        await _Call(self._dispatcher, message, speaks, receive, send, scope.get("autotool.caller") or Caller()).run()

    async def _accept(self, message: Any, send: Send) -> None:
        if isinstance(message, Notification):
            await _respond(send, 202, b"", [])
            return
        error = messages.InvalidMessage("The server has asked nothing, so there is nothing to respond to.")
        await _send_answer(send, self._dispatcher.refuse(error, None))

    def _revision(self, request: Request, named: Mapping[str, str]) -> Revision:
        version = named.get(headers.VERSION)
        in_body = request.meta.get(messages.META_VERSION)
        if in_body is not None:
            headers.check_version(request, named)
            return self._dispatcher.revision_of(request)
        if request.method != "initialize" and version is not None and not is_legacy(version):
            if version != MODERN:
                raise self._dispatcher.unsupported(version)
            return self._dispatcher.revision_of(request)
        return self._dispatcher.revision_of(request, version if version is not None else OLDEST_WITHOUT_HEADER)

    def _check_headers(self, request: Request, named: Mapping[str, str], speaks: Revision) -> None:
        headers.check_standard(request, named, required=speaks.modern)
        if request.method != "tools/call":
            return
        catalog = self._dispatcher.methods.source.catalog
        tool = catalog.find(str(request.params.get("name")))
        if tool is None:
            return
        key = (catalog.version, tool.name)
        if key not in self._mirrored:
            self._mirrored[key] = header_parameters(tool.candidate.input_schema)
        if self._mirrored[key] and speaks.modern:
            headers.check_parameters(request.params.get("arguments"), named, self._mirrored[key])


class _Http(Exception):
    """A request that is refused before it is read as a message."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status


def _unique_headers(raw: list[tuple[bytes, bytes]]) -> dict[str, str]:
    """Headers by lower-case name; those that decide what a request means must not stand twice."""
    found: dict[str, str] = {}
    for name, value in raw:
        key = name.decode("latin-1")
        if key in found and (key.startswith("mcp-") or key in ("content-type", "authorization", "host", "origin")):
            raise headers.mismatch(f"The header `{key}` stands twice.")
        found[key] = f"{found[key]}, {value.decode('latin-1')}" if key in found else value.decode("latin-1").strip()
    return found


def _check_media(named: Mapping[str, str]) -> None:
    if named.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        raise _Http(415, "Send the message as application/json.")
    accepted = {part.partition(";")[0].strip().lower() for part in named.get("accept", "").split(",")}
    if not ("*/*" in accepted or {"application/json", "text/event-stream"} <= accepted):
        raise _Http(406, "Accept must list application/json and text/event-stream.")


class _Call:
    """One `tools/call` over HTTP: a JSON answer, or a stream of events as soon as there is progress to report."""

    def __init__(
        self, dispatcher: Dispatcher, request: Request, speaks: Revision, receive: Receive, send: Send, caller: Caller
    ) -> None:
        self._dispatcher = dispatcher
        self._request = request
        self._speaks = speaks
        self._receive = receive
        self._send = send
        self._caller = caller
        self._events: asyncio.Queue[bytes] = asyncio.Queue()

    async def run(self) -> None:
        """Run the call; a client that goes away cancels it."""
        has_token = "progressToken" in self._request.meta
        emit = self._events.put_nowait if has_token else None
        call = asyncio.ensure_future(self._dispatcher.call(self._request, self._speaks, self._caller, emit))
        try:
            await asyncio.wait([call], timeout=_WATCH_AFTER_S)
            if call.done() and self._events.empty():
                await _send_answer(self._send, call.result())
                return
            await self._watched(call, has_token=has_token)
        finally:
            call.cancel()

    async def _watched(self, call: asyncio.Future[Answer], *, has_token: bool) -> None:
        gone = asyncio.ensure_future(_disconnected(self._receive))
        try:
            if has_token and await self._first_event(call, gone):
                await self._stream(call, gone)
                return
            await asyncio.wait([call, gone], return_when=asyncio.FIRST_COMPLETED)
            if call.done():
                await _send_answer(self._send, call.result())
        finally:
            gone.cancel()

    async def _first_event(self, call: asyncio.Future[Answer], gone: asyncio.Future[None]) -> bool:
        """Wait for progress; False when the call ends without any, or the client goes away."""
        if not self._events.empty():
            return True
        event = asyncio.ensure_future(self._events.get())
        await asyncio.wait([call, gone, event], return_when=asyncio.FIRST_COMPLETED)
        if event.done():
            self._events.put_nowait(event.result())
            return True
        event.cancel()
        return False

    async def _stream(self, call: asyncio.Future[Answer], gone: asyncio.Future[None]) -> None:
        start = [(b"content-type", _EVENTS), (b"cache-control", b"no-cache"), (b"x-accel-buffering", b"no")]
        await self._send({"type": "http.response.start", "status": 200, "headers": start})
        async for event in self._until_done(call, gone):
            await self._send({"type": "http.response.body", "body": event, "more_body": True})
        if call.done():
            last = b"event: message\r\ndata: " + call.result().body + b"\r\n\r\n"
            await self._send({"type": "http.response.body", "body": last, "more_body": False})

    async def _until_done(self, call: asyncio.Future[Answer], gone: asyncio.Future[None]) -> AsyncIterator[bytes]:
        while not gone.done():
            while not self._events.empty():
                yield b"event: message\r\ndata: " + self._events.get_nowait() + b"\r\n\r\n"
            if call.done():
                return
            event = asyncio.ensure_future(self._events.get())
            await asyncio.wait([call, gone, event], timeout=_KEEP_ALIVE_S, return_when=asyncio.FIRST_COMPLETED)
            if event.done():
                yield b"event: message\r\ndata: " + event.result() + b"\r\n\r\n"
                continue
            event.cancel()
            if not call.done():
                yield b": keep-alive\r\n\r\n"


async def _disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _send_answer(send: Send, answer: Answer) -> None:
    await _respond(send, answer.status, answer.body, [(b"content-type", _JSON)])


async def _respond(send: Send, status: int, body: bytes, extra: list[tuple[bytes, bytes]]) -> None:
    start: Message = {
        "type": "http.response.start",
        "status": status,
        "headers": [*extra, (b"content-length", str(len(body)).encode())],
    }
    with contextlib.suppress(OSError):
        await send(start)
        await send({"type": "http.response.body", "body": body})
