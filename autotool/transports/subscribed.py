"""An open stream of events to one client over HTTP: a `subscriptions/listen` of 2026-07-28, or a legacy GET.

Thousands may be open and say nothing for hours, so that each is one task of the server's and one that waits for the client to leave.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from typing import NamedTuple

from starlette.types import Receive, Send

from autotool.model import Caller
from autotool.protocol.subscriptions import Feed, Listener

HEADERS = [(b"content-type", b"text/event-stream"), (b"cache-control", b"no-cache"), (b"x-accel-buffering", b"no")]
"""What marks a stream that nothing on the way may hold back (2026-07-28, Streamable HTTP)."""
KEEP_ALIVE = b": keep-alive\r\n\r\n"
KEEP_ALIVE_S = 15.0


def event(message: bytes) -> bytes:
    """A message as a server-sent event."""
    return b"event: message\r\ndata: " + message + b"\r\n\r\n"


class Words(NamedTuple):
    """What a stream says: `first` at its start, `changed` when the list has changed, `last` at its end; b"" for nothing."""

    first: bytes
    changed: bytes
    last: Callable[[], bytes]


class EventFeed:
    """One open stream.

    Args:
        session: of a legacy client, or "".
    """

    def __init__(self, words: Words, caller: Caller, session: str = "") -> None:
        self._words = words
        self._wake = asyncio.Event()
        self._has_changed = False
        self._has_ended = False
        self._is_gone = False
        self.listener = Listener(caller, self._changed, self._ended, session)

    def _changed(self) -> None:
        # A client that reads slowly is told once of several changes: it asks for the list afterwards in any case.
        self._has_changed = bool(self._words.changed)
        self._wake.set()

    def _ended(self) -> None:
        self._has_ended = True
        self._wake.set()

    async def run(self, feed: Feed, receive: Receive, send: Send) -> None:
        """Open the stream, which `feed` has let in, and keep it open until the client goes away or the server ends it."""
        watch = asyncio.ensure_future(self._watch(receive))
        try:
            await send({"type": "http.response.start", "status": 200, "headers": HEADERS})
            await _write(send, event(self._words.first) if self._words.first else KEEP_ALIVE)
            while not self._is_gone:
                await self._say(send)
                if self._has_ended:
                    await self._end(send)
                    return
                await self._wait(send)
        finally:
            feed.leave(self.listener)
            watch.cancel()

    async def _say(self, send: Send) -> None:
        if self._has_changed:
            self._has_changed = False
            await _write(send, event(self._words.changed))

    async def _end(self, send: Send) -> None:
        last = self._words.last()
        if last:
            await _write(send, event(last))
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _wait(self, send: Send) -> None:
        try:
            async with asyncio.timeout(KEEP_ALIVE_S):
                await self._wake.wait()
        except TimeoutError:
            await _write(send, KEEP_ALIVE)
        self._wake.clear()

    async def _watch(self, receive: Receive) -> None:
        with contextlib.suppress(OSError):
            while (await receive())["type"] != "http.disconnect":
                pass
        self._is_gone = True
        self._wake.set()


async def _write(send: Send, data: bytes) -> None:
    await send({"type": "http.response.body", "body": data, "more_body": True})
