"""Turns for calls that run at the same time: bounded for all, for each tool and for each caller, with a queue that is fair to callers."""

from __future__ import annotations

import asyncio
import math
from collections import OrderedDict, deque
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from autotool.errors import Overloaded

_WEIGHT = 0.1
"""How much the latest call counts in what calls usually take."""
_MOST_RETRY_S = 60.0


@dataclass(frozen=True, slots=True)
class TurnLimits:
    """How many calls run at the same time.

    Attributes:
        in_flight: all together.
        per_tool: of one tool.
        per_caller: of one caller.
        own: of single tools, by name, in the place of `per_tool`.
        queue: further calls that wait for their turn.
        longest_wait_s: seconds after which one of them is told to come back; 0 for any time.
    """

    in_flight: int = 64
    per_tool: int = 8
    per_caller: int = 16
    own: Mapping[str, int] = field(default_factory=dict[str, int])
    queue: int = 256
    longest_wait_s: float = 30.0


class _Waiting:
    """One call in the queue. `turn` is set when it may run."""

    __slots__ = ("caller", "tool", "turn")

    def __init__(self, caller: str, tool: str, turn: asyncio.Future[None]) -> None:
        self.caller = caller
        self.tool = tool
        self.turn = turn


class Turns:
    """Gives calls their turn.

    Whoever may run is never left waiting, so a call that fits runs at once and passes nobody who could run. Callers take turns with
    each other; the calls of one run in the order in which they came, but for those whose tool is full.
    """

    def __init__(self, limits: TurnLimits) -> None:
        self._limits = limits
        self._running = 0
        self._of_tool: dict[str, int] = {}
        self._of_caller: dict[str, int] = {}
        self._queues: OrderedDict[str, deque[_Waiting]] = OrderedDict()
        self._queued = 0
        self._usual_s = 0.0

    @asynccontextmanager
    async def taken(self, caller: str, tool: str) -> AsyncGenerator[None, None]:
        """Hold a turn. Whoever is cancelled gives up the turn, or the place in the queue.

        Raises:
            Overloaded: too many wait already, or there was no turn in time.
        """
        if self._has_room(caller, tool):
            self._take(caller, tool)
        else:
            await self._wait(caller, tool)
        loop = asyncio.get_running_loop()
        began = loop.time()
        try:
            yield
        finally:
            self._usual_s += _WEIGHT * (loop.time() - began - self._usual_s)
            self._release(caller, tool)

    def _has_room(self, caller: str, tool: str) -> bool:
        limits = self._limits
        return (
            self._running < limits.in_flight
            and self._of_tool.get(tool, 0) < limits.own.get(tool, limits.per_tool)
            and self._of_caller.get(caller, 0) < limits.per_caller
        )

    def _take(self, caller: str, tool: str) -> None:
        self._running += 1
        self._of_tool[tool] = self._of_tool.get(tool, 0) + 1
        self._of_caller[caller] = self._of_caller.get(caller, 0) + 1

    def _release(self, caller: str, tool: str) -> None:
        self._running -= 1
        _less(self._of_tool, tool)
        _less(self._of_caller, caller)
        if self._queued:
            self._give_turns()

    def _give_turns(self) -> None:
        """Let everybody in the queue run who may, one call of each caller in turn."""
        given = True
        while given and self._queued and self._running < self._limits.in_flight:
            given = False
            for caller in list(self._queues):
                one = self._next_of(caller)
                if one is None:
                    continue
                given = True
                self._leave(one)
                self._take(one.caller, one.tool)
                one.turn.set_result(None)
                if caller in self._queues:
                    self._queues.move_to_end(caller)

    def _next_of(self, caller: str) -> _Waiting | None:
        if self._of_caller.get(caller, 0) >= self._limits.per_caller or self._running >= self._limits.in_flight:
            return None
        waiting = self._queues[caller]
        # One that was cancelled a moment ago is still there, and will leave by itself.
        return next((one for one in waiting if not one.turn.done() and self._has_room(caller, one.tool)), None)

    async def _wait(self, caller: str, tool: str) -> None:
        if self._queued >= self._limits.queue and not self._make_place(caller):
            raise self._full()
        one = _Waiting(caller, tool, asyncio.get_running_loop().create_future())
        self._queues.setdefault(caller, deque()).append(one)
        self._queued += 1
        try:
            async with asyncio.timeout(self._limits.longest_wait_s or None):
                await one.turn
        except BaseException as error:
            if one.turn.done() and not one.turn.cancelled() and one.turn.exception() is None:
                self._release(caller, tool)  # the turn came at the very moment of giving up
            else:
                self._leave(one)
            if isinstance(error, TimeoutError):
                retry_s = self._retry_s()
                raise Overloaded(
                    f"The server is busy: `{tool}` could not be started within {self._limits.longest_wait_s:g} s. "
                    f"Try again in {math.ceil(retry_s)} s.",
                    retry_s,
                ) from None
            raise

    def _leave(self, one: _Waiting) -> None:
        waiting = self._queues.get(one.caller)
        if waiting is None or one not in waiting:
            return
        waiting.remove(one)
        self._queued -= 1
        if not waiting:
            del self._queues[one.caller]

    def _make_place(self, caller: str) -> bool:
        """Take the queue's last place from the caller who has most of them, where that is somebody with more than `caller`."""
        if not self._queues:
            return False
        most = max(self._queues.values(), key=len)
        if len(most) <= len(self._queues.get(caller, ())) + 1:
            return False
        one = most[-1]
        self._leave(one)
        if not one.turn.done():
            one.turn.set_exception(self._full())
        return True

    def _full(self) -> Overloaded:
        retry_s = self._retry_s()
        return Overloaded(f"The server is busy and its queue is full. Try again in {math.ceil(retry_s)} s.", retry_s)

    def _retry_s(self) -> float:
        """When there may be room again, going by how long calls usually take."""
        rounds = 1 + self._queued / self._limits.in_flight
        return min(_MOST_RETRY_S, max(1.0, self._usual_s * rounds))


def _less(counts: dict[str, int], key: str) -> None:
    left = counts[key] - 1
    if left:
        counts[key] = left
    else:
        del counts[key]
