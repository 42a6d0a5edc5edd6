"""Moving windows in this process's memory.

The storage in memory that `limits` has goes by the wall clock, looks through all keys in a thread after a call, and never forgets a key.
"""

from __future__ import annotations

import time
from array import array
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from limits import RateLimitItem

MOST_KEYS = 50_000
"""Windows that are kept; beyond them the one that was not used for longest is forgotten."""


class Windows(Protocol):
    """Counts what happened in the last while, by key."""

    async def hit(self, limit: RateLimitItem, key: str) -> float:
        """0 when there was room, and then it is counted; else the seconds after which there will be.

        Raises:
            StorageDown: nothing can be counted now.
        """
        ...


class _Window:
    """The times of the latest hits, oldest first. Those before `begin` are over."""

    __slots__ = ("begin", "times")

    def __init__(self) -> None:
        self.times = array("d")
        self.begin = 0

    def hit(self, most: int, length_s: float, now: float) -> float:
        times = self.times
        if len(times) - self.begin >= most:
            self.begin = bisect_right(times, now - length_s, self.begin)
            if len(times) - self.begin >= most:
                return times[self.begin] + length_s - now
        if self.begin > 64 and self.begin * 2 > len(times):
            del times[: self.begin]
            self.begin = 0
        times.append(now)
        return 0.0


class MemoryWindows:
    """Windows by a clock that is never set back.

    Args:
        most_keys: windows that are kept.
        clock: seconds; never less than before.
    """

    def __init__(self, most_keys: int = MOST_KEYS, clock: Callable[[], float] = time.monotonic) -> None:
        self._most_keys = most_keys
        self._clock = clock
        self._windows: OrderedDict[str, _Window] = OrderedDict()

    async def hit(self, limit: RateLimitItem, key: str) -> float:
        """As `Windows.hit`; never waits."""
        window = self._windows.get(key)
        if window is None:
            window = self._windows[key] = _Window()
            if len(self._windows) > self._most_keys:
                self._windows.popitem(last=False)
        else:
            self._windows.move_to_end(key)
        return window.hit(limit.amount, limit.get_expiry(), self._clock())
