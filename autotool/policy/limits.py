"""How often a caller may call: per caller and tool, and per caller over all tools. Moving windows, by the `limits` library."""

from __future__ import annotations

import time

from limits import RateLimitItem, parse
from limits.errors import StorageError
from limits.storage import MemoryStorage
from limits.strategies import MovingWindowRateLimiter

from autotool.errors import ConfigError


class RateLimits:
    """Counts calls.

    Args:
        per_tool: calls of one tool by one caller, as `"600/minute"`; "" for no limit.
        per_caller: calls of one caller over all tools, likewise.
        own: the limits of single tools, by name, in the place of `per_tool`.
        counted: where calls were counted before, when these are not the first limits.

    Raises:
        ConfigError: a limit is not a rate.
    """

    def __init__(
        self, per_tool: str, per_caller: str, own: dict[str, str] | None = None, counted: MemoryStorage | None = None
    ) -> None:
        self._per_tool = rate(per_tool)
        self._per_caller = rate(per_caller)
        self._own = {name: rate(text) for name, text in (own or {}).items()}
        self._windows = MovingWindowRateLimiter(counted or MemoryStorage())

    def wait_s(self, caller: str, tool: str) -> float:
        """0 when the call is admitted, and then counted; else the seconds after which one would be."""
        limits = [(self._own.get(tool, self._per_tool), (caller, tool)), (self._per_caller, (caller,))]
        for limit, key in limits:
            # Looking before counting would cost as much as the window is long.
            if limit is not None and not self._windows.hit(limit, *key):
                return self._until(limit, key)
        return 0.0

    def _until(self, limit: RateLimitItem, key: tuple[str, ...]) -> float:
        try:
            reset = self._windows.get_window_stats(limit, *key).reset_time
        except StorageError:
            return float(limit.get_expiry())
        return max(0.1, reset - time.time())


def rate(text: str) -> RateLimitItem | None:
    """A rate from its words; None for "".

    Raises:
        ConfigError: it is not a rate.
    """
    if not text:
        return None
    try:
        return parse(text)
    except ValueError:
        raise ConfigError(
            f"{text!r} is not a rate", hint="Write it as '600/minute' or '10/second'; '' is no limit."
        ) from None
