"""The protocol over Streamable HTTP: one endpoint and no sessions; POST, and GET for legacy clients where lists can change."""

from __future__ import annotations

import asyncio
import contextlib
import math
from collections import deque
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any

from starlette.applications import Starlette
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from autotool.errors import ProtocolError
from autotool.model import Caller
from autotool.protocol import codec, headers, messages
from autotool.protocol.conversation import Peer
from autotool.protocol.dispatcher import Answer, Dispatcher
from autotool.protocol.messages import Notification, Request
from autotool.protocol.subscriptions import LEGACY_CHANGED, Subscription
from autotool.protocol.toolwire import header_parameters
from autotool.protocol.versions import OLDEST_WITHOUT_HEADER, Revision, is_legacy
from autotool.transports.bearer import WELL_KNOWN, Bearer, Flood, Unauthorized
from autotool.transports.questions import SESSION, ClientSessions, Questions
from autotool.transports.security import Guard, HttpLimits, TooLarge, is_here, read_body, unique_headers
from autotool.transports.subscribed import HEADERS, KEEP_ALIVE, KEEP_ALIVE_S, EventFeed, Words, event

PATH = "/mcp"

_JSON = b"application/json"
_TEXT = b"text/plain; charset=utf-8"
_MOST_MIRRORED = 20_000
_WATCH_AFTER_S = 0.05
"""Calls that end sooner are not watched for a client that goes away: watching costs more than they do."""
_LOCAL = Caller()
_SMALL_BYTES = 1 << 16
_SMALL_S = 2.0


def create_app(dispatcher: Dispatcher, limits: HttpLimits, bearer: Bearer | None = None) -> ASGIApp:
    """The ASGI application with the endpoint at `/mcp`, guarded, and nothing anywhere else.

    Args:
        bearer: finds out who calls; None where everybody who reaches the server is the local user.
    """
    return Guard(_Entrance(Endpoint(dispatcher, limits, bearer), Starlette(), bearer), limits)


class _Entrance:
    """Leads to the endpoint past Starlette's router and error pages: they cost a quarter of a call, and it needs neither."""

    def __init__(self, endpoint: ASGIApp, rest: ASGIApp, bearer: Bearer | None) -> None:
        self._endpoint = endpoint
        self._rest = rest
        self._metadata = bearer.metadata() if bearer is not None else None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"] in (PATH, f"{PATH}/"):
            await self._endpoint(scope, receive, send)
        elif (
            self._metadata is not None and scope["type"] == "http" and scope["path"] in (WELL_KNOWN, WELL_KNOWN + PATH)
        ):
            await _respond(send, 200, self._metadata, [(b"content-type", _JSON)])
        else:
            await self._rest(scope, receive, send)


class Endpoint:
    """The endpoint as an ASGI application."""

    def __init__(self, dispatcher: Dispatcher, limits: HttpLimits, bearer: Bearer | None = None) -> None:
        self._dispatcher = dispatcher
        self._feed = dispatcher.methods.feed
        self._bearer = bearer
        self._limits = limits
        self._questions = Questions()
        self._sessions = ClientSessions()
        self._mirrored: dict[tuple[str, str], Mapping[str, tuple[str, ...]]] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one HTTP request."""
        if scope["method"] == "POST":
            await self._post(scope, receive, send)
        elif scope["method"] == "GET" and self._feed.can_change and self._dispatcher.settings.legacy:
            await self._stream_of_get(scope, receive, send)
        else:
            await _respond(send, 405, b"", [(b"allow", b"POST")])

    async def _post(self, scope: Scope, receive: Receive, send: Send) -> None:
        request_id: messages.RequestId | None = None
        named: dict[str, str] = {}
        try:
            named = unique_headers(scope["headers"])
            caller = await self._caller(named, scope)
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
        except Flood as error:
            await _send_answer(send, self._dispatcher.refuse(error, await self._id_in(receive, named)))
            return
        except Unauthorized as error:
            await _respond(send, error.status, str(error).encode(), [(b"content-type", _TEXT), *error.headers])
            return
        except _Http as error:
            await _respond(send, error.status, str(error).encode(), [(b"content-type", _TEXT)])
            return
        except asyncio.CancelledError:
            raise
        except Exception as error:
            await _send_answer(send, self._dispatcher.refuse(error, request_id))
            return
        answer = self._dispatcher.answer_now(message, speaks, caller)
        if answer is not None:
            await _send_answer(send, answer, self._session(message, speaks))
            return
        if self._dispatcher.is_listen(message, speaks):
            await self._listen(message, caller, receive, send)
            return
        call = _Call(self._dispatcher, message, speaks, receive, send, caller, self._bearer)
        await call.run(self._questions, {} if speaks.modern else self._sessions.capabilities(named.get(SESSION, "")))

    async def _listen(self, request: Request, caller: Caller, receive: Receive, send: Send) -> None:
        agreed = self._dispatcher.subscription(request)
        if isinstance(agreed, Answer):
            await _send_answer(send, agreed)
            return
        words = Words(agreed.acknowledged, agreed.changed if agreed.tools else b"", lambda: self._ended(agreed))
        stream = EventFeed(words, caller)
        try:
            self._feed.join(stream.listener)
        except ProtocolError as error:
            await _send_answer(send, self._dispatcher.refuse(error, request.id))
            return
        await stream.run(self._feed, receive, send)

    def _ended(self, agreed: Subscription) -> bytes:
        return self._dispatcher.methods.ended(agreed)

    async def _stream_of_get(self, scope: Scope, receive: Receive, send: Send) -> None:
        """The stream on which a legacy client listens, of which modern ones know nothing (405)."""
        try:
            named = unique_headers(scope["headers"])
            caller = await self._caller(named, scope)
            if not is_legacy(named.get(headers.VERSION, OLDEST_WITHOUT_HEADER)):
                raise _Http(405, "Open a stream with `subscriptions/listen`.")
            if not {"text/event-stream", "*/*"} & _accepted(named.get("accept", "")):
                raise _Http(406, "Accept must list text/event-stream.")
            stream = EventFeed(Words(b"", LEGACY_CHANGED, lambda: b""), caller, named.get(SESSION, ""))
            self._feed.join(stream.listener)
        except Unauthorized as error:
            await _respond(send, error.status, str(error).encode(), [(b"content-type", _TEXT), *error.headers])
        except _Http as error:
            await _respond(send, error.status, str(error).encode(), [(b"content-type", _TEXT), (b"allow", b"POST")])
        except ProtocolError as error:
            await _send_answer(send, self._dispatcher.refuse(error, None))
        else:
            await stream.run(self._feed, receive, send)

    async def _caller(self, named: Mapping[str, str], scope: Scope) -> Caller:
        peer = scope.get("client")
        address = str(peer[0]) if peer else ""
        if self._bearer is None:
            return _LOCAL if is_here(address) else Caller(address=address)
        return await self._bearer.caller(named.get("authorization"), address)

    async def _id_in(self, receive: Receive, named: Mapping[str, str]) -> messages.RequestId | None:
        """The id of a request that will not be answered, where it is a small one."""
        limits = replace(self._limits, max_body_bytes=_SMALL_BYTES, body_timeout_s=_SMALL_S)
        try:
            message = messages.parse(codec.decode(await read_body(receive, named, limits)))
        except ProtocolError:
            return None
        return message.id if isinstance(message, Request) else None

    async def _accept(self, message: Any, send: Send) -> None:
        if isinstance(message, Notification):
            await _respond(send, 202, b"", [])
            return
        if self._questions.take(message):
            await _respond(send, 202, b"", [])
            return
        error = messages.InvalidMessage("The server has asked nothing, so there is nothing to respond to.")
        await _send_answer(send, self._dispatcher.refuse(error, None))

    def _session(self, request: Request, speaks: Revision) -> list[tuple[bytes, bytes]]:
        """A legacy client that can be asked, or told, is given a session id, which only says what it can do."""
        if speaks.modern or request.method != "initialize":
            return []
        session_id = self._sessions.new(request.params.get("capabilities"), can_listen=self._feed.can_change)
        return [(SESSION.encode(), session_id.encode())] if session_id else []

    def _revision(self, request: Request, named: Mapping[str, str]) -> Revision:
        version = named.get(headers.VERSION)
        in_body = request.meta.get(messages.META_VERSION)
        if in_body is not None:
            headers.check_version(request, named)
            return self._dispatcher.revision_of(request)
        if request.method == "initialize":
            return self._dispatcher.revision_of(request, version or "")
        if version is None and self._dispatcher.settings.legacy:
            version = OLDEST_WITHOUT_HEADER
        if version is None:
            raise headers.mismatch(f"The header `{headers.VERSION}` is missing.")
        if not self._dispatcher.speaks(version):
            raise self._dispatcher.unsupported(version)
        return self._dispatcher.revision_of(request, version)

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
            if len(self._mirrored) >= _MOST_MIRRORED:
                self._mirrored.clear()  # a reload leaves the entries of the version before it
            self._mirrored[key] = header_parameters(tool.candidate.input_schema)
        if self._mirrored[key]:
            arguments = request.params.get("arguments")
            headers.check_parameters(arguments, named, self._mirrored[key], required=speaks.modern)


class _Http(Exception):
    """A request that is refused before it is read as a message."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status


def _check_media(named: Mapping[str, str]) -> None:
    refused = _media_problem(named.get("content-type", ""), named.get("accept", ""))
    if refused is not None:
        raise _Http(*refused)


@lru_cache(maxsize=64)
def _media_problem(content_type: str, accept: str) -> tuple[int, str] | None:
    if content_type.partition(";")[0].strip().lower() != "application/json":
        return 415, "Send the message as application/json."
    accepted = _accepted(accept)
    if not ("*/*" in accepted or {"application/json", "text/event-stream"} <= accepted):
        return 406, "Accept must list application/json and text/event-stream."
    return None


def _accepted(accept: str) -> set[str]:
    return {part.partition(";")[0].strip().lower() for part in accept.split(",")}


class _Call:
    """One `tools/call` over HTTP: a JSON answer, or a stream of events as soon as there is progress to report."""

    def __init__(
        self,
        dispatcher: Dispatcher,
        request: Request,
        speaks: Revision,
        receive: Receive,
        send: Send,
        caller: Caller,
        bearer: Bearer | None,
    ) -> None:
        self._dispatcher = dispatcher
        self._request = request
        self._speaks = speaks
        self._receive = receive
        self._send = send
        self._caller = caller
        self._bearer = bearer
        self._client_is_gone = False
        self._watch: asyncio.Task[None] | None = None
        self._stream: _EventStream | None = None

    async def run(self, questions: Questions, capabilities: Mapping[str, Any]) -> None:
        """Run the call in the task of the HTTP request; a client that goes away cancels it."""
        timer = asyncio.get_running_loop().call_later(_WATCH_AFTER_S, self._start_watch, asyncio.current_task())
        emit = self._emit if "progressToken" in self._request.meta else None
        try:
            peer = Peer(capabilities, lambda method, params: questions.ask(self._emit, method, params), self._open)
            answer = await self._dispatcher.answer(
                self._request, self._speaks, self._caller, emit, peer, has_status=True
            )
            if self._stream is None:
                await _send_answer(self._send, answer, self._challenge(answer))
            else:
                await self._stream.end(answer.body)
        except asyncio.CancelledError:
            if not self._client_is_gone:
                raise
        finally:
            timer.cancel()
            if self._watch is not None:
                self._watch.cancel()
            if self._stream is not None:
                self._stream.abandon()

    def _challenge(self, answer: Answer) -> list[tuple[bytes, bytes]]:
        if not answer.needs_scopes or self._bearer is None:
            return []
        return [self._bearer.challenge("insufficient_scope", answer.needs_scopes)]

    def _start_watch(self, call: asyncio.Task[Any] | None) -> None:
        if call is None:
            return  # an ASGI server that runs applications outside of tasks
        self._watch = asyncio.ensure_future(self._cancel_when_gone(call))

    async def _cancel_when_gone(self, call: asyncio.Task[Any]) -> None:
        while (await self._receive())["type"] != "http.disconnect":
            pass
        self._client_is_gone = True
        call.cancel()

    def _open(self) -> None:
        """Begin to answer as a stream, which keeps the connection open while nothing can be said yet."""
        if self._stream is None:
            self._stream = _EventStream(self._send)

    def _emit(self, message: bytes) -> None:
        self._open()
        assert self._stream is not None  # opened by the line above
        self._stream.put(message)


class _EventStream:
    """An answer as server-sent events, with a comment whenever nothing else is said for a while."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._waiting: deque[bytes] = deque()
        self._changed = asyncio.Event()
        self._ended = False
        self._writing = asyncio.ensure_future(self._write())

    def put(self, message: bytes) -> None:
        """Send a message as soon as the client takes it."""
        self._waiting.append(event(message))
        self._changed.set()

    async def end(self, message: bytes) -> None:
        """Send the last message, and wait until all are sent."""
        self.put(message)
        self._ended = True
        await self._writing

    def abandon(self) -> None:
        """Send nothing more."""
        self._writing.cancel()

    async def _write(self) -> None:
        await self._send({"type": "http.response.start", "status": 200, "headers": HEADERS})
        while self._waiting or not self._ended:
            if not self._waiting:
                await self._wait()
            data = self._waiting.popleft() if self._waiting else KEEP_ALIVE
            await self._send({"type": "http.response.body", "body": data, "more_body": True})
        await self._send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _wait(self) -> None:
        self._changed.clear()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(KEEP_ALIVE_S):
                await self._changed.wait()


async def _send_answer(send: Send, answer: Answer, extra: list[tuple[bytes, bytes]] | None = None) -> None:
    named = [(b"content-type", _JSON), *(extra or ())]
    if answer.retry_after_s:
        named.append((b"retry-after", str(math.ceil(answer.retry_after_s)).encode()))
    await _respond(send, answer.status, answer.body, named)


async def _respond(send: Send, status: int, body: bytes, extra: list[tuple[bytes, bytes]]) -> None:
    start: Message = {
        "type": "http.response.start",
        "status": status,
        "headers": [*extra, (b"content-length", str(len(body)).encode())],
    }
    with contextlib.suppress(OSError):
        await send(start)
        await send({"type": "http.response.body", "body": body})
