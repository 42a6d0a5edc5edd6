"""Switches off, for a while, a tool that ends the workers it runs in again and again."""

from __future__ import annotations

import logging
import math
import time
from collections import deque
from collections.abc import Callable, Collection
from dataclasses import dataclass, field

from autotool.errors import SwitchedOff

_log = logging.getLogger("autotool.worker")

WINDOW_S = 60.0
"""The time in which deaths are counted."""


@dataclass(slots=True)
class _Suspect:
    """What is known of a tool that was running when a worker ended.

    Attributes:
        deaths: when it was, and whether nothing else was running.
        good: calls that have ended well since the first of them.
        off_until: when it may be called again; 0 while it is not off.
        is_on_trial: whether it was off, and has not ended well since.
    """

    deaths: deque[tuple[float, bool]] = field(default_factory=deque[tuple[float, bool]])
    good: int = 0
    off_until: float = 0.0
    is_on_trial: bool = False

    @property
    def is_caught(self) -> bool:
        """Whether a worker has ended while it was the only one to run."""
        return any(alone for _, alone in self.deaths)

    @property
    def guilt(self) -> float:
        """The share of its calls that ended a worker, of those that can tell."""
        return len(self.deaths) / (len(self.deaths) + self.good)


class Breaker:
    """Counts deaths of workers for the tools that were running.

    Where several were, a death counts for those that are known to end workers; where none is, for all of them, and of
    those that have then reached the number only the ones whose calls end well least often are switched off.

    Args:
        deaths: of workers within `WINDOW_S` seconds, after which a tool is switched off; 0: never.
        pause_s: for how long. After it one more death is enough, until a call has ended well.
    """

    def __init__(self, deaths: int, pause_s: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._most = deaths
        self._pause_s = pause_s
        self._clock = clock
        self._suspects: dict[str, _Suspect] = {}

    def check(self, key: str) -> None:
        """Let a call of the tool `key` pass.

        Raises:
            SwitchedOff: it is off.
        """
        suspect = self._suspects.get(key)
        if suspect is None or not suspect.off_until:
            return
        left_s = suspect.off_until - self._clock()
        if left_s > 0:
            raise SwitchedOff(
                "This tool is switched off for a while, because it has ended the process that runs it again and again. "
                f"It is tried again in {math.ceil(left_s)} s; other tools go on as usual.",
                left_s,
            )
        suspect.off_until = 0.0
        suspect.is_on_trial = True

    def ended_well(self, key: str) -> None:
        """A call of the tool `key` was answered by its worker."""
        suspect = self._suspects.get(key)
        if suspect is None or suspect.off_until:
            return
        suspect.good += 1
        if suspect.is_on_trial or self._clock() - suspect.deaths[-1][0] > WINDOW_S:
            del self._suspects[key]

    def died(self, keys: Collection[str]) -> None:
        """A worker has ended while calls of the tools `keys` ran in it."""
        if not self._most:
            return
        running = {key: self._suspects.get(key) or _Suspect() for key in keys}
        blamed = {key: one for key, one in running.items() if one.is_caught} or running
        self._suspects |= blamed
        now = self._clock()
        for suspect in blamed.values():
            suspect.deaths.append((now, len(running) == 1))
            while suspect.deaths[0][0] < now - WINDOW_S:
                suspect.deaths.popleft()
        full = {key: one for key, one in blamed.items() if one.is_on_trial or len(one.deaths) >= self._most}
        worst = max((one.guilt for one in full.values()), default=0.0)
        for key, suspect in full.items():
            if suspect.guilt == worst:
                self._switch_off(key, suspect, now)

    def _switch_off(self, key: str, suspect: _Suspect, now: float) -> None:
        count = len(suspect.deaths)
        again = "again " if suspect.is_on_trial else ""
        _log.error(
            "`%s` is switched off %sfor %g s: it has ended %d %s within a minute",
            *(key, again, self._pause_s, count, "worker" if count == 1 else "workers"),
        )
        self._suspects[key] = _Suspect(deque(suspect.deaths, self._most), off_until=now + self._pause_s)
