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
from typing import Any, Protocol

_SALT = "autotool.request-state.1"
_MOST_REMEMBERED = 100_000
_SKEW_S = 60.0
"""How far the clocks of replicas may differ."""


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


_ANCHOR = time.time() - time.monotonic()


def clock() -> float:
    """The time of day when this process started, and the seconds since: setting the clock back makes no state good again."""
    return _ANCHOR + time.monotonic()


class Ledger(Protocol):
    """Where it is written down what was used.

    A ledger that may forget before its time has another `epoch` afterwards, so that what was made before counts no more.
    """

    async def epoch(self) -> str:
        """What tells this ledger from one that was emptied.

        Raises:
            StateRefused: it cannot be known now.
        """
        ...

    async def use(self, nonce: str, keep_s: float, epoch: str) -> bool:
        """Whether this is the first use of `nonce`, which was made in `epoch`; remembered for `keep_s` seconds.

        Raises:
            StateRefused: it cannot be known, now or ever.
        """
        ...


class MemoryLedger:
    """A ledger of this process alone."""

    def __init__(self) -> None:
        self._used: OrderedDict[str, float] = OrderedDict()

    async def epoch(self) -> str:
        """Nothing: replicas that have their key in common and no ledger take each other's states."""
        return ""

    async def use(self, nonce: str, keep_s: float, epoch: str) -> bool:
        """As `Ledger.use`; never waits."""
        now = clock()
        while self._used and (next(iter(self._used.values())) < now or len(self._used) > _MOST_REMEMBERED):
            self._used.popitem(last=False)
        if nonce in self._used:
            return False
        self._used[nonce] = now + keep_s
        return True


class States:
    """Makes states and takes them back.

    Args:
        ttl_s: seconds after which one is refused.
        key: the secret that signs; the same for all replicas, or one of this process.
        ledger: where used ones are written down; by default in this process.
    """

    def __init__(self, ttl_s: float, key: bytes = b"", ledger: Ledger | None = None) -> None:
        self._ttl_s = ttl_s
        self._key = key or secrets.token_bytes(32)
        self._serializer: Any = None
        self._ledger = ledger or MemoryLedger()

    def _signed(self) -> Any:
        """The serializer, made when the first state is: most calls need none."""
        if self._serializer is None:
            from itsdangerous import URLSafeSerializer

            facts = {"key_derivation": "hmac", "digest_method": hashlib.sha256}
            self._serializer = URLSafeSerializer(self._key, salt=_SALT, signer_kwargs=facts)
        return self._serializer

    async def dump(self, binding: Binding, state: State) -> str:
        """A state for the client to bring back.

        Raises:
            StateRefused: none can be given that would be accepted.
        """
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
            await self._ledger.epoch(),
        ]
        return str(self._signed().dumps(plain))

    async def load(self, text: str, binding: Binding) -> State:
        """The state that was given for `binding`; it is not accepted again.

        Raises:
            StateExpired: it is older than it may be, or the tool has changed since.
            StateRefused: it was altered, is another call's, was used before, or it cannot be known whether it was.
        """
        from itsdangerous import BadData

        try:
            plain = self._signed().loads(text)
        except BadData:
            raise StateRefused("`requestState` is not what the server gave; begin the call again without it.") from None
        made, tool, definition, caller, arguments, nonce, approved, answers, asked, epoch = plain
        age_s = clock() - made
        if age_s > self._ttl_s:
            raise StateExpired("`requestState` has expired; the questions have to be answered again.")
        if age_s < -_SKEW_S:
            raise StateRefused("`requestState` was made later than now; the clocks of the server's replicas differ.")
        if caller != binding.caller:
            raise StateRefused("`requestState` was given to another caller.")
        if tool != binding.tool:
            raise StateRefused("`requestState` was given for another tool.")
        if arguments != binding.arguments:
            raise StateRefused("`requestState` was given for other arguments; what was agreed to holds for those only.")
        if definition != binding.definition:
            raise StateExpired(f"`{tool}` has changed since; the questions have to be answered again.")
        if not await self._ledger.use(str(nonce), self._ttl_s + 2 * _SKEW_S, str(epoch)):
            raise StateRefused("`requestState` was used before; each answer counts once.")
        return State(dict(answers), dict(asked), bool(approved))
