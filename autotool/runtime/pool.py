"""Keeps workers ready: starts them, replaces those that end or are retired, and ends them all."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
import socket
from collections.abc import Callable, Coroutine
from dataclasses import replace
from typing import Any

from autotool.errors import OperatorError, Overloaded, WorkerDied
from autotool.model import Description
from autotool.runtime import logs
from autotool.runtime.launch import WorkerSettings, launch
from autotool.runtime.spawn import Launched
from autotool.runtime.worker_link import WorkerLink
from autotool.runtime.zygote_link import ZygoteLink

_log = logging.getLogger("autotool.worker")

_EXIT_HANDLERS_S = 0.5
_MOST_START_S = 60.0
"""How long a call waits for a worker that imports its code."""
_SETTLED_S = 1.0
"""A worker that ends sooner, and has had no call, is replaced when the next call comes: code that cannot stay up is not started for ever."""


class WorkerPool:
    """Up to `count` workers that take calls.

    Args:
        settings: what the workers import.
        launched: a process that was started early, or None to start one now.
        count: how many workers share the calls.
        spare: whether a further process is kept ready where workers cannot be forked.
        on_end: told of each worker that has ended, with its exit code where that is known.
    """

    def __init__(
        self,
        settings: WorkerSettings,
        launched: Launched | None,
        *,
        count: int,
        spare: bool,
        on_end: Callable[[WorkerLink, int | None], None],
    ) -> None:
        self._settings = settings
        self._launched = launched
        self._count = count
        self._wants_spare = spare
        self._on_end = on_end
        self._zygote: ZygoteLink | None = None
        self._launching = asyncio.Lock()
        self._forkable = True
        self._spare: asyncio.Task[ZygoteLink] | None = None
        self._starting: set[asyncio.Task[WorkerLink]] = set()
        self._workers: list[WorkerLink] = []
        self._background: set[asyncio.Task[Any]] = set()
        self._stopping = False

    async def start(self) -> Description:
        """Start the first process, if it was not started early, and read what it found.

        Raises:
            OperatorError: a target cannot be served.
            WorkerDied: the process ended before it could say what it found.
        """
        self._zygote, description = await self._new_zygote(launch(self._settings, self._launched))
        self._forkable = self._zygote.forkable
        self._fill()
        return replace(description, secrets=tuple(self._settings.secrets.items()))

    async def ready(self) -> WorkerLink:
        """The worker that has least to do; of several that are alike, the one that was idle longest.

        Raises:
            WorkerDied: none could be started.
            Overloaded: the server is shutting down.
        """
        while True:
            free = [worker for worker in self._workers if not worker.retired]
            if free:
                worker = min(free, key=lambda one: one.in_flight)
                if len(free) > 1:
                    self._workers.remove(worker)
                    self._workers.append(worker)
                return worker
            if self._stopping:
                raise Overloaded("The server is shutting down.")
            self._fill()
            await self._first_started()

    async def _first_started(self) -> None:
        done, _ = await asyncio.wait(self._starting, timeout=_MOST_START_S, return_when=asyncio.FIRST_COMPLETED)
        if not done:
            text = (
                f"The code that runs this call has not been started within {_MOST_START_S:g} s. Try again in a minute."
            )
            raise Overloaded(text, _MOST_START_S)
        errors = [task.exception() for task in done if not task.cancelled()]
        if errors and all(errors):
            raise WorkerDied(f"The code that runs this call could not be started again: {errors[0]}") from errors[0]

    def _fill(self) -> None:
        missing = self._count - sum(not worker.retired for worker in self._workers) - len(self._starting)
        for _ in range(0 if self._stopping else missing):
            task = asyncio.get_running_loop().create_task(self._start_worker())
            self._starting.add(task)
            task.add_done_callback(self._started)

    def _started(self, task: asyncio.Task[WorkerLink]) -> None:
        self._starting.discard(task)
        if not task.cancelled() and task.exception() is not None:
            _log.error("a worker could not be started: %s", task.exception())

    async def _start_worker(self) -> WorkerLink:
        zygote = await self._take_zygote()
        if zygote.forkable:
            ours, theirs = socket.socketpair()
            worker = await WorkerLink.connect(ours)
            zygote.fork(worker, theirs)
        else:
            worker = await zygote.become_worker()
            self._keep_spare()
        self._workers.append(worker)
        self._spawn(self._watch(worker))
        return worker

    async def _take_zygote(self) -> ZygoteLink:
        """A process that forks, and stays; or one that becomes the worker itself, and is nobody else's."""
        if not self._forkable:
            ready, self._zygote = self._zygote, None
            spare, self._spare = self._spare, None
            if ready is None and spare is not None:
                with contextlib.suppress(OperatorError, WorkerDied):
                    ready = await spare
            return ready or (await self._new_zygote())[0]
        async with self._launching:
            if self._zygote is not None and self._zygote.is_gone:
                await self._zygote.close()
                self._zygote = None
            if self._zygote is None:
                self._zygote, _ = await self._new_zygote()
            found = self._zygote
            if not found.forkable:
                self._zygote = None
            return found

    def _keep_spare(self) -> None:
        if not self._wants_spare or self._forkable or self._spare is not None or self._stopping:
            return

        async def prepare() -> ZygoteLink:
            return (await self._new_zygote())[0]

        self._spare = asyncio.get_running_loop().create_task(prepare())
        self._spare.add_done_callback(lambda task: task.cancelled() or task.exception())

    async def _new_zygote(self, launched: Launched | None = None) -> tuple[ZygoteLink, Description]:
        launched = launched or launch(self._settings)
        self._spawn(logs.forward(launched.output))
        zygote = ZygoteLink(launched)
        try:
            return zygote, await zygote.described()
        except OSError as error:
            await zygote.close()
            raise WorkerDied(f"the worker ended while it started: {error}") from error
        except BaseException:
            await zygote.close()
            raise

    async def _watch(self, worker: WorkerLink) -> None:
        """Wait for the end of a worker, say so, and start another one in its place."""
        loop = asyncio.get_running_loop()
        began = loop.time()
        await worker.lost
        code: int | None = None
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(1.0):
                code = await asyncio.shield(worker.exit_code)
        if code is None:
            _kill(worker.pid)
        self._workers.remove(worker)
        self._on_end(worker, code)
        if worker.has_been_called or loop.time() - began > _SETTLED_S:
            self._fill()

    def retire(self, worker: WorkerLink, grace_s: float) -> None:
        """Give a worker no more calls: a fresh one takes its place, and it is ended when its last call is, or after `grace_s` seconds."""
        if worker.retired:
            return
        worker.retired = True
        self._fill()
        self._spawn(self._end_worker(worker, grace_s))

    async def _end_worker(self, worker: WorkerLink, grace_s: float) -> None:
        await worker.idle(grace_s)
        worker.is_ending = True
        _kill(worker.pid)
        await worker.lost

    async def stop(self, grace_s: float = 0.0) -> None:
        """Let calls in flight finish for `grace_s` seconds, then end every process that was started."""
        self._stopping = True
        for worker in self._workers:
            worker.stop()
        if self._workers:
            # Even without grace an idle worker gets the time that its exit handlers need.
            is_idle = all(worker.in_flight == 0 for worker in self._workers)
            await asyncio.wait(
                [worker.lost for worker in self._workers], timeout=max(grace_s, _EXIT_HANDLERS_S if is_idle else 0.0)
            )
        for worker in self._workers:
            worker.is_ending = True
            _kill(worker.pid)
        await self._stop_starting()
        if self._zygote is not None:
            await self._zygote.close()
        pending = [task for task in self._background if not task.done()]
        if pending:
            await asyncio.wait(pending, timeout=0.5)
        for task in pending:
            task.cancel()

    async def _stop_starting(self) -> None:
        spare, self._spare = self._spare, None
        starting = [task for task in (*self._starting, spare) if task is not None]
        for task in starting:
            task.cancel()
        if starting:
            await asyncio.wait(starting, timeout=1.0)
        if spare is not None and not spare.cancelled() and spare.done() and spare.exception() is None:
            await spare.result().close()

    def _spawn(self, work: Coroutine[Any, Any, Any]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._background.add(task)
        task.add_done_callback(self._background.discard)


def _kill(pid: int) -> None:
    if pid:
        with contextlib.suppress(OSError):
            os.kill(pid, signal.SIGKILL)
