"""What a call can ask of the client that made it, in every revision.

A modern client gets an `input_required` result and calls again with its answers (2026-07-28, multi round-trip requests). A legacy client
is sent a request in the middle of the call, and answers it.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from autotool.errors import ProtocolError
from autotool.protocol.messages import INVALID_PARAMS, META_CAPABILITIES, Request

ELICIT = "elicitation/create"
_TRACEPARENT = re.compile(r"[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}")
_NEEDS = {ELICIT: "elicitation", "sampling/createMessage": "sampling", "roots/list": "roots"}
VISITS = "elicitation.url"
"""The ability of a client to send a person to an address."""

Ask = Callable[[str, dict[str, Any]], Awaitable[dict[str, Any]]]
"""Sends a request of a method with its parameters to the client; gives the result, `{}` where it is an error."""


@dataclass(frozen=True, slots=True)
class Peer:
    """The client of a call: what it declared in a handshake, how it is asked, and how its connection is kept open."""

    capabilities: Mapping[str, Any] = field(default_factory=dict[str, Any])
    ask: Ask | None = None
    hold: Callable[[], None] | None = None


@dataclass(frozen=True, slots=True)
class Conversation:
    """The client's side of one call.

    Attributes:
        abilities: what it declared that it can be asked for: `elicitation` (forms), `elicitation.url`, `sampling`, `roots`.
        responses: its answers, by key; never to be trusted without `state`.
        state: what the server gave it to bring back, "" where there is none.
        ask: asks in the middle of the call; None for clients that call again instead.
        hold: keeps the client's connection open while nothing can be answered yet; None where it stays open by itself.
        is_modern: whether the client speaks a revision without a handshake.
        trace: the `traceparent` of the request, "" for none (W3C Trace Context).
    """

    abilities: tuple[str, ...] = ()
    responses: Mapping[str, Any] = field(default_factory=dict[str, Any])
    state: str = ""
    ask: Ask | None = None
    hold: Callable[[], None] | None = None
    is_modern: bool = False
    trace: str = ""

    @property
    def can_elicit(self) -> bool:
        """Whether forms can be put to the person."""
        return "elicitation" in self.abilities

    def lacks(self, requests: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
        """The capabilities that some of `requests` need and the client did not declare."""
        needed = {_needed(request) for request in requests.values()} - set(self.abilities)
        found: dict[str, Any] = {name: {} for name in needed if not name.startswith("elicitation")}
        if needed & {"elicitation", VISITS}:
            modes = (("elicitation", "form"), (VISITS, "url"))
            found["elicitation"] = {mode: {} for name, mode in modes if name in needed}
        return found


def is_visit(request: Mapping[str, Any]) -> bool:
    """Whether a request asks a person to open an address."""
    return request.get("method") == ELICIT and request["params"].get("mode") == "url"


def _needed(request: Mapping[str, Any]) -> str:
    return VISITS if is_visit(request) else _NEEDS.get(str(request.get("method")), "")


class InputRequired(Exception):
    """The call cannot go on without the client's answers.

    Attributes:
        requests: what is asked, by key, each with its `method` and `params`.
        state: what the client has to bring back.
    """

    def __init__(self, requests: Mapping[str, dict[str, Any]], state: str) -> None:
        super().__init__(", ".join(requests))
        self.requests = dict(requests)
        self.state = state


def of_request(request: Request, *, modern: bool, peer: Peer | None) -> Conversation:
    """What can be asked of whoever sent `request`.

    Raises:
        ProtocolError: its answers are no object (-32602).
    """
    peer = peer or Peer()
    if not modern:
        abilities = _abilities(peer.capabilities) if peer.ask is not None else ()
        return Conversation(abilities, ask=peer.ask, hold=peer.hold, trace=_trace(request))
    responses, state = request.params.get("inputResponses", {}), request.params.get("requestState", "")
    if not isinstance(responses, dict):
        raise ProtocolError(
            INVALID_PARAMS, "`params.inputResponses` is an object: answers by the keys of the questions."
        )
    if not isinstance(state, str):
        raise ProtocolError(INVALID_PARAMS, "`params.requestState` is the text that the server gave.")
    return Conversation(
        _abilities(request.meta.get(META_CAPABILITIES)),
        cast("dict[str, Any]", responses),
        state,
        hold=peer.hold,
        is_modern=True,
        trace=_trace(request),
    )


def _trace(request: Request) -> str:
    found = request.meta.get("traceparent")
    return found if isinstance(found, str) and _TRACEPARENT.fullmatch(found) else ""


def _abilities(capabilities: Any) -> tuple[str, ...]:
    """What is declared; an empty declaration of elicitation means forms (2026-07-28, elicitation, "Capabilities")."""
    if not isinstance(capabilities, Mapping):
        return ()
    declared = cast("Mapping[str, Any]", capabilities)
    found = [name for name in ("sampling", "roots") if isinstance(declared.get(name), Mapping)]
    forms = declared.get("elicitation")
    if isinstance(forms, Mapping) and (not forms or "form" in forms):
        found.append("elicitation")
    if isinstance(forms, Mapping) and "url" in forms:
        found.append(VISITS)
    return tuple(found)


def elicitation(message: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    """A form as a request to the client."""
    return {"method": ELICIT, "params": {"mode": "form", "message": message, "requestedSchema": dict(schema)}}
