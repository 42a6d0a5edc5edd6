"""Places for calls that run at the same time, and a bounded queue for those that wait."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from autotool.errors import Overloaded


class Slots:
    """`in_flight` places, and `queue` more calls that may wait for one, in the order in which they came."""

    def __init__(self, in_flight: int, queue: int) -> None:
        self._free = asyncio.Semaphore(in_flight)
        self._queue = queue
        self._queued = 0

    @asynccontextmanager
    async def taken(self, timeout_s: float) -> AsyncGenerator[None, None]:
        """Hold a place; a wait takes at most `timeout_s` seconds (0: any time).

        Raises:
            Overloaded: too many wait already, or none became free in time.
        """
        if self._free.locked():
            await self._wait(timeout_s)
        else:
            await self._free.acquire()
        try:
            yield
        finally:
            self._free.release()

    async def _wait(self, timeout_s: float) -> None:
        if self._queued >= self._queue:
            raise Overloaded("The server is busy and its queue is full. Try again in a few seconds.")
        self._queued += 1
        try:
            async with asyncio.timeout(timeout_s or None):
                await self._free.acquire()
        except TimeoutError:
            raise Overloaded(f"No place became free within {timeout_s:g} s. Try again later.") from None
        finally:
            self._queued -= 1
