"""What callers are told when they call too often."""

from __future__ import annotations

import logging
import math
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from autotool.errors import StorageDown, Throttled
from autotool.model import Caller, Outcome
from autotool.worker.outcomes import error_outcome

if TYPE_CHECKING:
    from autotool.policy.limits import RateLimits

_log = logging.getLogger("autotool.calls")

STORAGE_RETRY_S = 2.0
"""When a call may be tried again that could not be counted."""
_UNCOUNTED = "the server cannot count calls at the moment, and takes none."


class Tolls:
    """The rate limits of a server.

    Args:
        make: makes them when the first call comes; None for none.
        lets_pass: whether calls go on while nothing can be counted.
    """

    def __init__(self, make: Callable[[], RateLimits] | None, *, lets_pass: bool = False) -> None:
        self._make = make
        self._lets_pass = lets_pass
        self._limits: RateLimits | None = None

    def warm_up(self) -> None:
        """Import what counting needs; may be done in a thread."""
        if self._limits is None and self._make is not None:
            self._limits = self._make()

    async def admit(self, caller: Caller) -> None:
        """Count a request that calls nothing.

        Raises:
            Throttled: the caller has to wait (429), or nothing can be counted (503).
        """
        self.warm_up()
        if self._limits is None:
            return
        wait_s = await self._counted(self._limits.caller_wait_s(caller.account))
        if wait_s is None:
            raise Throttled(f"Not answered: {_UNCOUNTED} {_again(STORAGE_RETRY_S)}", STORAGE_RETRY_S, http_status=503)
        if wait_s:
            _log.warning("%s calls too often", caller.account)
            raise Throttled(f"Too many requests: the rate limit is reached. {_again(wait_s)}", wait_s)

    async def of_caller(self, caller: Caller, tool: str) -> Outcome | None:
        """Count a call for its caller; an error outcome where nothing can be counted.

        Raises:
            Throttled: the caller has to wait.
        """
        try:
            await self.admit(caller)
        except Throttled as error:
            if error.http_status == 429:
                raise
            return _uncounted(tool)
        return None

    async def of_tool(self, caller: Caller, tool: str) -> Outcome | None:
        """Count a call for its tool; an error outcome where it may not run."""
        if self._limits is None:
            return None
        wait_s = await self._counted(self._limits.tool_wait_s(caller.account, tool))
        if wait_s is None:
            return _uncounted(tool)
        if not wait_s:
            return None
        _log.warning("`%s` is called too often by %s", tool, caller.account)
        text = f"Too many calls of `{tool}`: the rate limit is reached. {_again(wait_s)}"
        return error_outcome(text, error_type="RateLimited", retry_after_s=wait_s)

    async def _counted(self, counting: Awaitable[float]) -> float | None:
        """Seconds to wait; None where nothing can be counted and nothing may pass."""
        try:
            return await counting
        except StorageDown:
            return 0.0 if self._lets_pass else None


def _again(wait_s: float) -> str:
    return f"Retry after {math.ceil(wait_s)} s."


def _uncounted(tool: str) -> Outcome:
    text = f"`{tool}` was not run: {_UNCOUNTED} {_again(STORAGE_RETRY_S)}"
    return error_outcome(text, error_type="StorageDown", retry_after_s=STORAGE_RETRY_S)
