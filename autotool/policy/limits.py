"""How often a caller may call: per caller and tool, per caller over all tools, and all callers together. Moving windows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from limits import RateLimitItem, parse

from autotool.errors import ConfigError
from autotool.policy.windows import MemoryWindows, Windows


@dataclass(frozen=True, slots=True)
class Rates:
    """The limits in words, as `"600/minute"`; "" for no limit.

    Attributes:
        per_tool: calls of one tool by one caller.
        per_caller: requests of one caller, refused calls and lists of tools included.
        together: calls that all callers make.
        own: the limits of single tools, by name, in the place of `per_tool`.
    """

    per_tool: str = ""
    per_caller: str = ""
    together: str = ""
    own: Mapping[str, str] | None = None


class RateLimits:
    """Counts calls.

    Args:
        windows: where they are counted; by default in memory.

    Raises:
        ConfigError: a limit is not a rate.
    """

    def __init__(self, rates: Rates, windows: Windows | None = None) -> None:
        self._per_tool = rate(rates.per_tool)
        self._per_caller = rate(rates.per_caller)
        self._together = rate(rates.together)
        self._own = {name: rate(text) for name, text in (rates.own or {}).items()}
        self._windows = windows or MemoryWindows()

    async def caller_wait_s(self, caller: str) -> float:
        """0 when a request of `caller` is admitted, and then counted; else the seconds after which one would be.

        Raises:
            StorageDown: nothing can be counted now.
        """
        if self._per_caller is None:
            return 0.0
        return await self._windows.hit(self._per_caller, f"caller\n{caller}")

    async def tool_wait_s(self, caller: str, tool: str) -> float:
        """As `caller_wait_s`, for a call of `tool`. What is refused here takes nothing from the other callers.

        Raises:
            StorageDown: nothing can be counted now.
        """
        limit = self._own.get(tool, self._per_tool)
        if limit is not None:
            wait_s = await self._windows.hit(limit, f"tool\n{tool}\n{caller}")
            if wait_s:
                return wait_s
        if self._together is None:
            return 0.0
        return await self._windows.hit(self._together, "together")


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
