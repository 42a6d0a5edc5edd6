"""A bounded pool of daemon threads for synchronous functions.

`concurrent.futures` joins its threads when the interpreter ends, so one function that never returns would keep the
process alive; these threads do not.
"""

from __future__ import annotations

import asyncio
import contextvars
import queue
import threading
from collections.abc import Callable
from typing import Any


class Job:
    """One function on its way through the pool. `started` tells whether a thread has taken it."""

    __slots__ = ("_call", "_context", "_dropped", "future", "loop", "started")

    def __init__(self, call: Callable[[], Any], loop: asyncio.AbstractEventLoop) -> None:
        self._call = call
        self._context = contextvars.copy_context()
        self._dropped = False
        self.loop = loop
        self.future: asyncio.Future[Any] = loop.create_future()
        self.started = False

    def drop(self) -> None:
        """Do not start it, if it has not been started."""
        self._dropped = True

    def run(self) -> None:
        """Run it in the calling thread and hand the result to the loop."""
        if self._dropped:
            return
        self.started = True
        try:
            result = self._context.run(self._call)
        except BaseException as error:  # the pool's thread must live on, and `_call` reports its own failures
            self._finish(None, error)
        else:
            self._finish(result, None)

    def _finish(self, result: Any, error: BaseException | None) -> None:
        try:
            self.loop.call_soon_threadsafe(_settle, self.future, result, error)
        except RuntimeError:
            return  # the loop has been closed: nobody waits any more


def _settle(future: asyncio.Future[Any], result: Any, error: BaseException | None) -> None:
    if future.done():
        return
    if error is None:
        future.set_result(result)
    else:
        future.set_exception(RuntimeError(f"{type(error).__name__} escaped from a call"))


class ThreadPool:
    """Runs jobs in at most `size` threads, which are started when they are first needed."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._jobs: queue.SimpleQueue[Job] = queue.SimpleQueue()
        self._idle = threading.Semaphore(0)
        self._threads = 0

    def submit(self, job: Job) -> None:
        """Queue `job`."""
        self._jobs.put(job)
        if not self._idle.acquire(blocking=False) and self._threads < self._size:
            thread = threading.Thread(target=self._work, name=f"autotool-{self._threads + 1}", daemon=True)
            try:
                thread.start()
            except RuntimeError:
                # The process may not have more threads, or has no memory for one: those that there are do the work.
                if not self._threads:
                    raise
            else:
                self._threads += 1

    def _work(self) -> None:
        take, idle = self._jobs.get, self._idle
        while True:
            take().run()
            idle.release()
