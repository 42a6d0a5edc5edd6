"""From a request to its response. The only place where exceptions become errors on the wire."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from autotool.errors import InsufficientScope, ProtocolError, Throttled
from autotool.model import Caller, Progress
from autotool.protocol import messages
from autotool.protocol.codec import UnacceptableJson
from autotool.protocol.conversation import Peer
from autotool.protocol.messages import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    META_CAPABILITIES,
    META_VERSION,
    METHOD_NOT_FOUND,
    UNSUPPORTED_VERSION,
    InvalidMessage,
    Notification,
    Request,
    RequestId,
)
from autotool.protocol.methods import LEGACY_METHODS, MODERN_METHODS, Methods
from autotool.protocol.progress import ProgressReporter
from autotool.protocol.subscriptions import LISTEN, Subscription
from autotool.protocol.versions import LEGACY, MODERN, Revision, is_legacy, revision

_log = logging.getLogger("autotool.protocol")

Emit = Callable[[bytes], None]

_OPENING = ("initialize", "ping")
"""What a legacy client may send before anything is agreed (2025-11-25, lifecycle, "Initialization")."""

_COUNTED = ("tools/call", "tools/list")
"""What counts against the caller's rate limit."""

_ANSWERED = (METHOD_NOT_FOUND, INVALID_PARAMS, INTERNAL_ERROR)
"""Errors that legacy clients get with status 200: they take 404 for the end of a session."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A response, the HTTP status that goes with it, the scopes of which one is missing, and the seconds to wait."""

    body: bytes
    status: int = 200
    needs_scopes: tuple[str, ...] = ()
    retry_after_s: float = 0.0


class Dispatcher:
    """Answers requests of every revision; knows nothing of transports."""

    def __init__(self, methods: Methods) -> None:
        self.methods = methods

    @property
    def settings(self) -> Any:
        """The protocol's settings."""
        return self.methods.settings

    def revision_of(self, request: Request, agreed: str = "") -> Revision:
        """The revision that a request speaks; `agreed` is what a handshake or a header has said before, if any.

        Raises:
            ProtocolError: none that is spoken here.
        """
        named = request.meta.get(META_VERSION)
        if named is None and self.methods.settings.legacy and (is_legacy(agreed) or request.method in _OPENING):
            found = revision(agreed if is_legacy(agreed) else LEGACY[0])
            assert found is not None  # both are in the table
            return found
        return self._modern_revision(request)

    def _modern_revision(self, request: Request) -> Revision:
        if request.method == "initialize" and META_VERSION not in request.meta:
            raise self.unsupported(str(request.params.get("protocolVersion", "")))
        version = request.meta.get(META_VERSION)
        if not isinstance(version, str):
            raise ProtocolError(
                INVALID_PARAMS, f"`params._meta` must have `{META_VERSION}`, the revision that the request speaks."
            )
        if version != MODERN:
            raise self.unsupported(version)
        if not isinstance(request.meta.get(META_CAPABILITIES), dict):
            raise ProtocolError(
                INVALID_PARAMS, f"`params._meta` must have `{META_CAPABILITIES}`, an object that may be empty."
            )
        found = revision(MODERN)
        assert found is not None  # it is in the table
        return found

    def speaks(self, version: str) -> bool:
        """Whether requests of that revision are answered."""
        return version == MODERN or (self.methods.settings.legacy and is_legacy(version))

    def unsupported(self, requested: str) -> ProtocolError:
        """The error for a revision that is not spoken."""
        supported = [MODERN]
        text = f"The protocol version {requested[:64]!r} is not supported; {', '.join(supported)} is."
        return ProtocolError(UNSUPPORTED_VERSION, text, data={"supported": supported, "requested": requested[:64]})

    def answer_now(self, request: Request, speaks: Revision, caller: Caller) -> Answer | None:
        """The answer to a request that is not counted, or None for `tools/call`, `tools/list` and `subscriptions/listen`."""
        if request.method in _COUNTED or self.is_listen(request, speaks):
            return None
        return self._answer(request, speaks, caller)

    def _answer(self, request: Request, speaks: Revision, caller: Caller) -> Answer:
        table = MODERN_METHODS if speaks.modern else LEGACY_METHODS
        handler = table.get(request.method)
        if handler is None:
            error = ProtocolError(METHOD_NOT_FOUND, f"There is no method `{request.method[:64]}`.", http_status=404)
            return self.refuse(error, request.id, legacy=not speaks.modern)
        try:
            return Answer(messages.result_message(request.id, handler(self.methods, request, speaks, caller)))
        except Exception as error:
            return self.refuse(error, request.id, legacy=not speaks.modern)

    @staticmethod
    def is_listen(request: Request, speaks: Revision) -> bool:
        """Whether `request` opens a stream of notifications."""
        return request.method == LISTEN and speaks.modern

    def subscription(self, request: Request) -> Subscription | Answer:
        """What is agreed to of a `subscriptions/listen`, or the error for one that cannot be read."""
        try:
            return Subscription.of(request, can_change=self.methods.feed.can_change)
        except ProtocolError as error:
            return self.refuse(error, request.id)

    async def answer(
        self,
        request: Request,
        speaks: Revision,
        caller: Caller,
        emit: Emit | None,
        peer: Peer | None = None,
        *,
        has_status: bool = False,
    ) -> Answer:
        """The answer to a `tools/list` or `tools/call`; `emit` sends what comes before it, and `peer` is who can be asked.

        Args:
            has_status: whether the status reaches the client, so that it says when a caller has to wait.

        Raises:
            asyncio.CancelledError: the call was cancelled, so that there is no answer.
        """
        try:
            if request.method != "tools/call":
                await self.methods.source.admit(caller)
                return self._answer(request, speaks, caller)
            return await self._call(request, speaks, caller, emit, peer)
        except asyncio.CancelledError:
            raise
        except Exception as error:
            if isinstance(error, Throttled) and request.method == "tools/call" and not has_status:
                return Answer(messages.result_message(request.id, self.methods.throttled_call(error, speaks)))
            return self.refuse(error, request.id, legacy=not speaks.modern)

    async def _call(
        self, request: Request, speaks: Revision, caller: Caller, emit: Emit | None, peer: Peer | None
    ) -> Answer:
        reporter = ProgressReporter.for_request(request, emit)
        report: Callable[[Progress], None] | None = reporter.report if reporter is not None else None
        result = await self.methods.call_tool(request, speaks, caller, report, peer)
        return Answer(messages.result_message(request.id, result))

    def refuse(self, error: Exception, request_id: RequestId | None, *, legacy: bool = False) -> Answer:
        """The error response for `error`. Unknown exceptions are logged, and say nothing of the server's inside."""
        if isinstance(error, UnacceptableJson | InvalidMessage) and request_id is None:
            request_id = error.request_id
        if not isinstance(error, ProtocolError):
            _log.error("a request failed inside autotool", exc_info=error)
            error = ProtocolError(
                INTERNAL_ERROR, "The server failed to handle this request; its log says why.", http_status=500
            )
        status = error.http_status
        if legacy and request_id is not None and error.code in _ANSWERED:
            status = 200
        needed = error.scopes if isinstance(error, InsufficientScope) else ()
        retry_s = error.retry_after_s if isinstance(error, Throttled) else 0.0
        return Answer(messages.error_message(error, request_id), 403 if needed else status, needed, retry_s)

    @staticmethod
    def cancelled_id(notification: Notification) -> RequestId | None:
        """The id of the request that a `notifications/cancelled` names."""
        found = notification.params.get("requestId")
        if notification.method != "notifications/cancelled" or isinstance(found, bool):
            return None
        return found if isinstance(found, str | int) else None
