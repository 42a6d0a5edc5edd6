"""Keeps a worker running: starts it, gives it calls, holds them to their deadlines, and replaces it when it ends."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
import socket
from collections.abc import Coroutine
from typing import Any

from autotool.errors import DeadlineExceeded, OperatorError, Overloaded, WorkerDied
from autotool.model import Description, Invocation, Outcome
from autotool.runtime import logs
from autotool.runtime.launch import WorkerSettings, launch
from autotool.runtime.spawn import Launched
from autotool.runtime.worker_link import Report, WorkerLink, death_text
from autotool.runtime.zygote_link import ZygoteLink

_log = logging.getLogger("autotool.worker")

_CANCEL_ANSWER_S = 0.25
"""How long a cancelled call may take to end by itself before its worker is retired."""


_EXIT_HANDLERS_S = 0.5


class WorkerExecutor:
    """Runs tools in a worker process.

    Args:
        settings: what the worker imports.
        launched: a process that was started early, or None to start one now.
        grace_s: how long the other calls of a retired worker may go on.
    """

    def __init__(
        self,
        settings: WorkerSettings,
        launched: Launched | None = None,
        *,
        grace_s: float = 5.0,
    ) -> None:
        self._settings = settings
        self._launched = launched
        self._grace_s = grace_s
        self._zygote: ZygoteLink | None = None
        self._worker: WorkerLink | None = None
        self._starting: asyncio.Task[WorkerLink] | None = None
        self._workers: set[WorkerLink] = set()
        self._background: set[asyncio.Task[Any]] = set()
        self._stopping = False

    async def start(self) -> Description:
        """Start the process, if it was not started early, and read what it found.

        Raises:
            OperatorError: a target cannot be served.
        """
        description = await self._start_zygote(launch(self._settings, self._launched))
        self._ensure_worker()
        return description

    async def run(self, invocation: Invocation, report: Report | None = None) -> Outcome:
        """Run one call within its deadline, which counts from now.

        Raises:
            DeadlineExceeded: it did not end in time.
            WorkerDied: the process that ran it ended.
            Overloaded: the server is shutting down.
        """
        timeout = invocation.timeout_s or None
        worker = await self._ready_worker()
        call_id, future = worker.start_call(invocation, report)
        try:
            async with asyncio.timeout(timeout):
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
        if worker.lost.done():
            return
        self._retire(worker)

    def _retire(self, worker: WorkerLink) -> None:
        if worker.retired:
            return
        worker.retired = True
        _log.warning("a call does not end; its worker (pid %d) is replaced", worker.pid)
        self._ensure_worker()
        self._spawn(self._end_worker(worker, self._grace_s))

    async def _end_worker(self, worker: WorkerLink, grace_s: float) -> None:
        """Let the other calls in flight finish, then kill."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + grace_s
        while worker.in_flight and loop.time() < deadline and not worker.lost.done():
            await asyncio.sleep(0.05)
        _kill(worker.pid)
        await worker.lost

    async def _ready_worker(self) -> WorkerLink:
        worker = self._worker
        if worker is not None and not worker.retired:
            return worker
        if self._stopping:
            raise Overloaded("The server is shutting down.")
        self._ensure_worker()
        assert self._starting is not None  # made by the line above
        return await asyncio.shield(self._starting)

    def _ensure_worker(self) -> None:
        if self._stopping or (self._starting is not None and not self._starting.done()):
            return
        if self._worker is not None and not self._worker.retired:
            return
        self._starting = asyncio.get_running_loop().create_task(self._start_worker())
        self._starting.add_done_callback(_mark_retrieved)

    async def _start_worker(self) -> WorkerLink:
        zygote = self._zygote
        if zygote is None or zygote.is_gone:
            await self._start_zygote(launch(self._settings))
            zygote = self._zygote
        assert zygote is not None  # set by `_start_zygote`
        if zygote.forkable:
            ours, theirs = socket.socketpair()
            worker = await WorkerLink.connect(ours)
            zygote.fork(worker, theirs)
        else:
            worker = await zygote.become_worker()
            self._zygote = None
        self._worker = worker
        self._workers.add(worker)
        self._spawn(self._watch(worker))
        return worker

    async def _start_zygote(self, launched: Launched) -> Description:
        self._spawn(logs.forward(launched.output))
        zygote = ZygoteLink(launched)
        try:
            description = await zygote.described()
        except OperatorError:
            await zygote.close()
            raise
        except OSError as error:
            raise WorkerDied(f"the worker ended while it started: {error}") from error
        self._zygote = zygote
        return description

    async def _watch(self, worker: WorkerLink) -> None:
        """Wait for the end of a worker, and answer what it left unanswered."""
        await worker.lost
        code: int | None = None
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(1.0):
                code = await asyncio.shield(worker.exit_code)
        if code is None:
            _kill(worker.pid)
        self._workers.discard(worker)
        if worker.in_flight:
            _log.warning(
                "a worker ended with %d calls in flight: %s", worker.in_flight, death_text(code).partition(".")[0]
            )
            worker.fail_all(WorkerDied(death_text(code)))
        if not self._stopping:
            self._ensure_worker()

    async def stop(self, grace_s: float = 0.0) -> None:
        """Let calls in flight finish for `grace_s` seconds, then end every process that was started."""
        self._stopping = True
        for worker in list(self._workers):
            worker.stop()
        if self._workers:
            # Even without grace an idle worker gets the time that its exit handlers need.
            is_idle = all(worker.in_flight == 0 for worker in self._workers)
            await asyncio.wait(
                [worker.lost for worker in self._workers], timeout=max(grace_s, _EXIT_HANDLERS_S if is_idle else 0.0)
            )
        for worker in list(self._workers):
            _kill(worker.pid)
        if self._starting is not None and not self._starting.done():
            self._starting.cancel()
        if self._zygote is not None:
            await self._zygote.close()
        pending = [task for task in self._background if not task.done()]
        if pending:
            await asyncio.wait(pending, timeout=0.5)
        for task in pending:
            task.cancel()

    def _spawn(self, work: Coroutine[Any, Any, Any]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._background.add(task)
        task.add_done_callback(self._background.discard)


def _mark_retrieved(task: asyncio.Task[WorkerLink]) -> None:
    if not task.cancelled() and task.exception() is not None:
        _log.error("a worker could not be started: %s", task.exception())


def _kill(pid: int) -> None:
    if pid:
        with contextlib.suppress(OSError):
            os.kill(pid, signal.SIGKILL)
