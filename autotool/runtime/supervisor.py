"""Runs calls in workers, holds them to their deadlines, and has a worker replaced that does not let go of one."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Coroutine
from typing import Any

from autotool.errors import DeadlineExceeded, WorkerDied
from autotool.model import Description, Invocation, Outcome
from autotool.runtime.breaker import Breaker
from autotool.runtime.launch import WorkerSettings
from autotool.runtime.pool import WorkerPool
from autotool.runtime.spawn import Launched
from autotool.runtime.worker_link import Report, WorkerLink, death_text

_log = logging.getLogger("autotool.worker")

_CANCEL_ANSWER_S = 0.25
"""How long a cancelled call may take to end by itself before its worker is retired."""


class WorkerExecutor:
    """Runs tools in worker processes.

    Args:
        settings: what the workers import.
        launched: a process that was started early, or None to start one now.
        workers: how many of them share the calls.
        spare: whether a further process is kept ready where workers cannot be forked.
        grace_s: how long the other calls of a retired worker may go on.
        breaker: switches off tools that end workers; None for none.
    """

    def __init__(
        self,
        settings: WorkerSettings,
        launched: Launched | None = None,
        *,
        workers: int = 1,
        spare: bool = True,
        grace_s: float = 5.0,
        breaker: Breaker | None = None,
    ) -> None:
        self._pool = WorkerPool(settings, launched, count=workers, spare=spare, on_end=self._ended)
        self._grace_s = grace_s
        self._breaker = breaker or Breaker(0, 0.0)
        self._background: set[asyncio.Task[Any]] = set()

    async def start(self) -> Description:
        """Start the process, if it was not started early, and read what it found.

        Raises:
            OperatorError: a target cannot be served.
        """
        return await self._pool.start()

    async def run(self, invocation: Invocation, report: Report | None = None) -> Outcome:
        """Run one call within its deadline, which counts from when a worker is there.

        Raises:
            DeadlineExceeded: it did not end in time.
            WorkerDied: the process that ran it ended.
            Overloaded: the server is shutting down, or the tool is switched off.
        """
        self._breaker.check(invocation.key)
        worker = await self._pool.ready()
        call_id, future = worker.start_call(invocation, report)
        try:
            async with asyncio.timeout(invocation.timeout_s or None):
                outcome = await asyncio.shield(future)
        except TimeoutError:
            self._spawn(self._abandon(worker, call_id, future))
            seconds = f"{invocation.timeout_s:g} s"
            raise DeadlineExceeded(
                f"Stopped: the call ran into its time limit of {seconds}. Ask for less at once, or have the limit raised."
            ) from None
        except asyncio.CancelledError:
            self._spawn(self._abandon(worker, call_id, future))
            raise
        self._breaker.ended_well(invocation.key)
        if outcome is None:
            raise WorkerDied("The call was cancelled.")
        return outcome

    async def _abandon(self, worker: WorkerLink, call_id: int, future: asyncio.Future[Outcome | None]) -> None:
        """End a call that nobody waits for; a worker that does not let go of it in time is retired."""
        worker.cancel(call_id)
        with contextlib.suppress(TimeoutError, WorkerDied):
            async with asyncio.timeout(_CANCEL_ANSWER_S):
                await asyncio.shield(future)
            return
        worker.forget(call_id)
        future.cancel()
        if worker.lost.done() or worker.retired:
            return
        _log.warning("a call does not end; its worker (pid %d) is replaced", worker.pid)
        self._pool.retire(worker, self._grace_s)

    def _ended(self, worker: WorkerLink, exit_code: int | None) -> None:
        """Answer what a worker left unanswered, and hold it against the tools that ran, unless its end was wanted."""
        if worker.running and not worker.is_ending:
            self._breaker.died(worker.running)
        if worker.in_flight:
            how = death_text(exit_code)
            _log.warning("a worker ended with %d calls in flight: %s", worker.in_flight, how.partition(".")[0])
            worker.fail_all(WorkerDied(how))

    async def stop(self, grace_s: float = 0.0) -> None:
        """Let calls in flight finish for `grace_s` seconds, then end every process that was started."""
        await self._pool.stop(grace_s)
        for task in self._background:
            task.cancel()

    def _spawn(self, work: Coroutine[Any, Any, Any]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._background.add(task)
        task.add_done_callback(self._background.discard)
