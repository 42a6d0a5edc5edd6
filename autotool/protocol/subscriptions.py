"""Who is told that the list of tools has changed, and in which messages.

Modern clients ask with `subscriptions/listen` (2026-07-28, basic, patterns, "Subscriptions"); legacy ones are told where they can
be: on stdio, and on the stream of a GET (2025-11-25, transports, "Listening for Messages from the Server").
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from autotool.errors import ProtocolError
from autotool.model import Caller
from autotool.protocol.codec import encode
from autotool.protocol.messages import INVALID_PARAMS, Request, RequestId, notification_message, result_message

LISTEN = "subscriptions/listen"
META_SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId"
MOST_LISTENERS = 10_000
"""Streams of one server that may be open."""

_TOOLS_CHANGED = "notifications/tools/list_changed"
_ACKNOWLEDGED = "notifications/subscriptions/acknowledged"
_TOO_MANY = -31999
"""Outside the ranges that JSON-RPC 2.0 and the protocol reserve."""

LEGACY_CHANGED = notification_message(_TOOLS_CHANGED, {})
"""What a legacy client is told."""


@dataclass(frozen=True, slots=True)
class Subscription:
    """One `subscriptions/listen` request, as it was agreed to.

    Attributes:
        id: of the request; every message of the subscription carries it.
        tools: whether changes of the list of tools are told.
    """

    id: RequestId
    tools: bool

    @classmethod
    def of(cls, request: Request, *, can_change: bool) -> Subscription:
        """What is agreed to of what `request` asks for: tools, where their list can change, and nothing else.

        Raises:
            ProtocolError: there is no filter, or what it says of tools is no boolean (-32602).
        """
        wanted = request.params.get("notifications")
        if not isinstance(wanted, Mapping):
            raise ProtocolError(
                INVALID_PARAMS, '`params.notifications` is required: an object such as {"toolsListChanged": true}.'
            )
        tools = cast("Mapping[str, Any]", wanted).get("toolsListChanged", False)
        if not isinstance(tools, bool):
            raise ProtocolError(INVALID_PARAMS, "`params.notifications.toolsListChanged` is true or false.")
        return cls(request.id, tools and can_change)

    @property
    def acknowledged(self) -> bytes:
        """The first message: the part of the filter that is honoured."""
        honoured = {"toolsListChanged": True} if self.tools else {}
        return notification_message(_ACKNOWLEDGED, {"_meta": self._meta, "notifications": honoured})

    @property
    def changed(self) -> bytes:
        """The message that the list of tools has changed."""
        return notification_message(_TOOLS_CHANGED, {"_meta": self._meta})

    def ended(self, meta: Mapping[str, Any]) -> bytes:
        """The response that ends the subscription in good order; `meta` is what every result carries."""
        return result_message(self.id, encode({"resultType": "complete", "_meta": {**meta, **self._meta}}))

    @property
    def _meta(self) -> dict[str, Any]:
        return {META_SUBSCRIPTION: self.id}


@dataclass(slots=True, eq=False)
class Listener:
    """One open stream.

    Attributes:
        caller: whose list it is about.
        changed: called when that list has changed.
        ended: called when the server ends the stream.
        session: of a legacy client, "" for none; of several streams of one session only the newest is told
            (2025-11-25, transports, "Multiple Connections").
        version: of the list that its client has been able to ask for last.
    """

    caller: Caller
    changed: Callable[[], None]
    ended: Callable[[], None]
    session: str = ""
    version: str = ""


@dataclass(slots=True)
class Feed:
    """The open streams.

    Args:
        version_for: the version of the list that a caller sees now.
        can_change: whether the list can change while the server runs.
    """

    version_for: Callable[[Caller], str]
    can_change: bool = False
    _listeners: dict[Listener, None] = field(default_factory=dict[Listener, None])
    _is_closed: bool = False

    def join(self, listener: Listener) -> None:
        """Tell `listener` of changes from now on; one that comes after the end is ended at once.

        Raises:
            ProtocolError: there are too many already.
        """
        if self._is_closed:
            listener.ended()
            return
        if len(self._listeners) >= MOST_LISTENERS:
            text = f"{MOST_LISTENERS} streams are open already; end one, or ask for the list when its `ttlMs` is over."
            raise ProtocolError(_TOO_MANY, text, http_status=503)
        if self.can_change:
            listener.version = self.version_for(listener.caller)
        self._listeners[listener] = None

    def leave(self, listener: Listener) -> None:
        """Tell it nothing more."""
        self._listeners.pop(listener, None)

    def announce(self) -> int:
        """Tell those whose list is another one than before; gives how many there were."""
        sessions: set[str] = set()
        told = 0
        for listener in reversed(list(self._listeners)):
            version = self.version_for(listener.caller)
            if version == listener.version:
                continue
            listener.version = version
            if listener.session and listener.session in sessions:
                continue
            sessions.add(listener.session)
            listener.changed()
            told += 1
        return told

    def close(self) -> None:
        """End every stream, and those that are opened later."""
        self._is_closed = True
        listeners, self._listeners = self._listeners, {}
        for listener in listeners:
            listener.ended()
