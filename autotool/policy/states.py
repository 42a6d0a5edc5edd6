"""What a client brings back unread: signed, bound to one call, short-lived, and used once.

The state passes through the client and is not to be trusted (2026-07-28, multi round-trip requests, "Server Requirements"). It holds nothing
secret, so it is signed and not encrypted.
"""

from __future__ import annotations

import hashlib
import json
import secrets
import time
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

_SALT = "autotool.request-state.1"
_MOST_REMEMBERED = 100_000


class StateRefused(Exception):
    """A state that came back is not accepted; the text says why."""


class StateExpired(StateRefused):
    """It came back too late: its time is over, or the tool is another one by now."""


@dataclass(frozen=True, slots=True)
class Binding:
    """The one call that a state is good for.

    Attributes:
        tool: its name.
        definition: a digest of what the tool is; a reload that changes it ends what was agreed before.
        caller: who calls.
        arguments: a digest of the canonical arguments.
    """

    tool: str
    definition: str
    caller: str
    arguments: str


@dataclass(frozen=True, slots=True)
class State:
    """What came back: the answers so far, the forms of the questions that are open, and whether the call was approved."""

    answers: Mapping[str, Any] = field(default_factory=dict[str, Any])
    asked: Mapping[str, Any] = field(default_factory=dict[str, Any])
    approved: bool = False


def digest(value: Any) -> str:
    """A digest of JSON data that does not depend on the order of names."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()


clock = time.time
"""The clock; tests move it."""


class States:
    """Makes states and takes them back.

    Args:
        ttl_s: seconds after which one is refused.
        key: the secret that signs; the same for all replicas, or one of this process.
    """

    def __init__(self, ttl_s: float, key: bytes = b"") -> None:
        self._ttl_s = ttl_s
        self._key = key or secrets.token_bytes(32)
        self._serializer: Any = None
        self._used: OrderedDict[str, float] = OrderedDict()

    def _signed(self) -> Any:
        """The serializer, made when the first state is: most calls need none."""
        if self._serializer is None:
            from itsdangerous import URLSafeSerializer

            facts = {"key_derivation": "hmac", "digest_method": hashlib.sha256}
            self._serializer = URLSafeSerializer(self._key, salt=_SALT, signer_kwargs=facts)
        return self._serializer

    def dump(self, binding: Binding, state: State) -> str:
        """A state for the client to bring back."""
        nonce = secrets.token_urlsafe(12)
        plain = [
            clock(),
            binding.tool,
            binding.definition,
            binding.caller,
            binding.arguments,
            nonce,
            state.approved,
            dict(state.answers),
            dict(state.asked),
        ]
        return str(self._signed().dumps(plain))

    def load(self, text: str, binding: Binding) -> State:
        """The state that was given for `binding`; it is not accepted again.

        Raises:
            StateExpired: it is older than it may be, or the tool has changed since.
            StateRefused: it was altered, is another call's, or was used before.
        """
        from itsdangerous import BadData

        try:
            plain = self._signed().loads(text)
        except BadData:
            raise StateRefused("`requestState` is not what the server gave; begin the call again without it.") from None
        made, tool, definition, caller, arguments, nonce, approved, answers, asked = plain
        if clock() - made > self._ttl_s:
            raise StateExpired("`requestState` has expired; the questions have to be answered again.")
        if caller != binding.caller:
            raise StateRefused("`requestState` was given to another caller.")
        if tool != binding.tool:
            raise StateRefused("`requestState` was given for another tool.")
        if arguments != binding.arguments:
            raise StateRefused("`requestState` was given for other arguments; what was agreed to holds for those only.")
        if definition != binding.definition:
            raise StateExpired(f"`{tool}` has changed since; the questions have to be answered again.")
        self._use(str(nonce))
        return State(dict(answers), dict(asked), bool(approved))

    def _use(self, nonce: str) -> None:
        now = clock()
        while self._used and (
            next(iter(self._used.values())) < now - self._ttl_s or len(self._used) > _MOST_REMEMBERED
        ):
            self._used.popitem(last=False)
        if nonce in self._used:
            raise StateRefused("`requestState` was used before; each answer counts once.")
        self._used[nonce] = now
