"""One client on a stream of messages: stdio, or memory."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, cast

from autotool.errors import BUSY, ProtocolError, Throttled
from autotool.model import Caller
from autotool.protocol import codec, messages
from autotool.protocol.codec import INVALID_REQUEST
from autotool.protocol.conversation import Peer
from autotool.protocol.dispatcher import Answer, Dispatcher
from autotool.protocol.messages import ClientResponse, InvalidMessage, Notification, Request, RequestId
from autotool.protocol.subscriptions import LEGACY_CHANGED, Listener, Subscription
from autotool.protocol.versions import Revision, negotiate
from autotool.transports.questions import Questions

MAX_IN_FLIGHT = 128
"""Calls of one client that may be under way; a further one is told to come back. As many subscriptions may be open."""


_BUSY_RETRY_S = 1.0


class Session:
    """Takes a client's messages one by one and sends what answers them.

    Args:
        dispatcher: answers requests.
        send: writes one message; called in the order in which messages leave.
        caller: who the client is.
    """

    def __init__(self, dispatcher: Dispatcher, send: Callable[[bytes], None], caller: Caller | None = None) -> None:
        self._dispatcher = dispatcher
        self._send = send
        self._caller = caller or Caller()
        self._agreed = ""
        self._capabilities: dict[str, Any] = {}
        self._questions = Questions()
        self._tasks: dict[tuple[type, RequestId], asyncio.Task[None]] = {}
        self._subscriptions: dict[tuple[type, RequestId], Listener] = {}
        self._legacy: Listener | None = None
        self.messages = 0

    def receive(self, line: bytes) -> None:
        """Handle one message. Never raises for what a client can send."""
        if not line.strip():
            return
        self.messages += 1
        try:
            message = messages.parse(codec.decode(line))
        except ProtocolError as error:
            self._send(self._dispatcher.refuse(error, None).body)
            return
        if isinstance(message, Request):
            self._request(message)
        elif isinstance(message, Notification):
            self._notification(message)
        else:
            self._response(message)

    def refuse_long_line(self) -> None:
        """Answer a line that was longer than it may be."""
        limit = self._dispatcher.settings.max_message_bytes
        error = ProtocolError(INVALID_REQUEST, f"A message is longer than {limit} bytes, and was not read.")
        self._send(self._dispatcher.refuse(error, None).body)

    def _request(self, request: Request) -> None:
        key = (type(request.id), request.id)
        if key in self._tasks or key in self._subscriptions:
            error = InvalidMessage(f"The id {request.id!r} belongs to a request that is still under way.", request.id)
            self._send(self._dispatcher.refuse(error, request.id).body)
            return
        try:
            speaks = self._dispatcher.revision_of(request, self._agreed)
        except ProtocolError as error:
            self._send(self._dispatcher.refuse(error, request.id).body)
            return
        if request.method == "initialize" and not speaks.modern:
            # Requests may follow at once, before the answer: they speak what the handshake agrees on.
            self._agreed = negotiate(str(request.params.get("protocolVersion", ""))).version
            declared = request.params.get("capabilities")
            self._capabilities = cast("dict[str, Any]", declared) if isinstance(declared, dict) else {}
        answer = self._dispatcher.answer_now(request, speaks, self._caller)
        if answer is not None:
            self._send(answer.body)
            return
        if self._dispatcher.is_listen(request, speaks):
            self._listen(key, request)
        else:
            self._start_call(key, request, speaks)

    def _listen(self, key: tuple[type, RequestId], request: Request) -> None:
        agreed = self._dispatcher.subscription(request)
        if isinstance(agreed, Answer):
            self._send(agreed.body)
            return
        if len(self._subscriptions) >= MAX_IN_FLIGHT:
            busy = ProtocolError(BUSY, f"{MAX_IN_FLIGHT} subscriptions are open already; cancel one first.")
            self._send(self._dispatcher.refuse(busy, request.id).body)
            return
        self._send(agreed.acknowledged)
        listener = Listener(self._caller, lambda: self._changed(agreed), lambda: self._end_subscription(key, agreed))
        self._subscriptions[key] = listener
        self._dispatcher.methods.feed.join(listener)

    def _changed(self, agreed: Subscription) -> None:
        if agreed.tools:
            self._send(agreed.changed)

    def _end_subscription(self, key: tuple[type, RequestId], agreed: Subscription) -> None:
        if self._subscriptions.pop(key, None) is not None:
            self._send(self._dispatcher.methods.ended(agreed))

    def _listen_legacy(self) -> None:
        """A legacy client is told without asking, once its handshake is over."""
        feed = self._dispatcher.methods.feed
        if feed.can_change and self._agreed and self._legacy is None:
            self._legacy = Listener(self._caller, lambda: self._send(LEGACY_CHANGED), lambda: None)
            feed.join(self._legacy)

    def _start_call(self, key: tuple[type, RequestId], request: Request, speaks: Revision) -> None:
        # A list is answered in the next moment, so a client that has its fill of calls can still ask for it.
        most = MAX_IN_FLIGHT if request.method == "tools/call" else 2 * MAX_IN_FLIGHT
        if len(self._tasks) >= most:
            busy = Throttled(
                f"{MAX_IN_FLIGHT} calls are under way already; try again when one has ended.", _BUSY_RETRY_S
            )
            self._send(self._dispatcher.refuse(busy, request.id).body)
            return
        task = asyncio.get_running_loop().create_task(self._call(request, speaks))
        self._tasks[key] = task
        task.add_done_callback(lambda ended: self._forget(key, ended))

    def _forget(self, key: tuple[type, RequestId], ended: asyncio.Task[None]) -> None:
        # A client may use an id again as soon as it is answered: the entry may be another call's by now.
        if self._tasks.get(key) is ended:
            del self._tasks[key]

    async def _call(self, request: Request, speaks: Revision) -> None:
        peer = Peer(self._capabilities, self._ask) if not speaks.modern else None
        answer = await self._dispatcher.answer(request, speaks, self._caller, self._send, peer)
        self._tasks.pop((type(request.id), request.id), None)
        self._send(answer.body)

    def _notification(self, notification: Notification) -> None:
        if notification.method == "notifications/initialized":
            self._listen_legacy()
        request_id = self._dispatcher.cancelled_id(notification)
        if request_id is None:
            return
        listener = self._subscriptions.pop((type(request_id), request_id), None)
        if listener is not None:
            self._dispatcher.methods.feed.leave(listener)
        task = self._tasks.get((type(request_id), request_id))
        if task is not None:
            task.cancel()

    async def _ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        return await self._questions.ask(self._send, method, params)

    def _response(self, response: ClientResponse) -> None:
        self._questions.take(response)

    async def finish(self, grace_s: float) -> None:
        """End the subscriptions, let calls in flight be answered for `grace_s` seconds, then cancel them."""
        feed = self._dispatcher.methods.feed
        for listener in [*self._subscriptions.values(), *([self._legacy] if self._legacy is not None else [])]:
            feed.leave(listener)
            listener.ended()
        tasks = list(self._tasks.values())
        if tasks:
            await asyncio.wait(tasks, timeout=grace_s)
        for task in tasks:
            task.cancel()
