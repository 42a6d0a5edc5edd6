"""A worker's loop: calls come in from the link, outcomes go out."""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import logging
import os
import socket
import sys
from collections.abc import Mapping

from autotool.model import Progress
from autotool.sources.base import BoundTool
from autotool.worker import frames, wire
from autotool.worker.bounds import ProcessBounds
from autotool.worker.calls import Runner, is_still_running
from autotool.worker.outcomes import error_outcome

_log = logging.getLogger("autotool.worker")
_exit = os._exit
_run_exit_handlers = getattr(atexit, "_run_exitfuncs")  # noqa: B009 - the only way to run them without ending threads


def serve(link: socket.socket, tools: Mapping[str, BoundTool], threads: int, bounds: ProcessBounds) -> None:
    """Run calls until the front says stop or is gone; then the process ends, with its exit handlers run."""
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    if hasattr(os, "register_at_fork"):
        # A child of the person's code must neither answer calls nor keep the front from seeing this process end.
        os.register_at_fork(after_in_child=link.close)
    # The default handler would raise `KeyboardInterrupt` in the loop; the front alone decides when a worker ends.
    try:
        _run(loop, loop.create_task(_serve(link, tools, threads, bounds)))
    finally:
        try:
            _run_exit_handlers()
            sys.stdout.flush()
        finally:
            _exit(0)


def _run(loop: asyncio.AbstractEventLoop, serving: asyncio.Task[None]) -> None:
    """Run the loop to the end of `serving`, also where the person's code stops it, or raises what ends loops."""
    while not serving.done() and not loop.is_closed():
        try:
            loop.run_until_complete(serving)
        except BaseException as error:
            _log.warning("a call stopped the loop that all share (%s); it goes on", type(error).__name__)


async def _serve(link: socket.socket, tools: Mapping[str, BoundTool], threads: int, bounds: ProcessBounds) -> None:
    loop = asyncio.get_running_loop()
    ended: asyncio.Future[None] = loop.create_future()
    await loop.connect_accepted_socket(lambda: _Worker(Runner(tools, threads=threads), ended, bounds), link)
    while not ended.done():
        with contextlib.suppress(asyncio.CancelledError):  # code that cancels every task there is
            await asyncio.wait([ended])


class _Worker(asyncio.Protocol):
    """The worker's end of the link."""

    def __init__(self, runner: Runner, ended: asyncio.Future[None], bounds: ProcessBounds) -> None:
        self._runner = runner
        self._bounds = bounds
        self._ended = ended
        self._splitter = frames.Splitter()
        self._tasks: dict[int, asyncio.Task[None]] = {}
        self._out: list[bytes] = []
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.WriteTransport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.WriteTransport)  # a stream socket
        self._transport = transport

    def connection_lost(self, exc: Exception | None) -> None:
        _exit(0)  # the front is gone

    def data_received(self, data: bytes) -> None:
        for kind, call_id, payload in self._splitter.feed(data):
            if kind == frames.CALL:
                self._bounds.allow_cpu()
                task = self._loop.create_task(self._call(call_id, payload))
                self._tasks[call_id] = task
            elif kind == frames.CANCEL:
                self._cancel(call_id)
            elif kind == frames.STOP:
                self._loop.create_task(self._stop())

    def _cancel(self, call_id: int) -> None:
        task = self._tasks.get(call_id)
        if task is not None:
            task.cancel()

    async def _call(self, call_id: int, payload: bytes) -> None:
        try:
            invocation = wire.load_invocation(payload)
            report = (lambda progress: self._report(call_id, progress)) if invocation.wants_progress else None
            outcome = await self._runner.run(invocation, report)
            self._send(frames.pack(frames.RESULT, call_id, frames.pack_outcome(outcome)))
        except asyncio.CancelledError as error:
            if not is_still_running(error):
                self._send(frames.pack(frames.CANCELLED, call_id))
        except BaseException as error:
            text = f"autotool could not run this call: {type(error).__name__}: {error}"
            self._send(frames.pack(frames.RESULT, call_id, frames.pack_outcome(error_outcome(text))))
        finally:
            del self._tasks[call_id]

    def _report(self, call_id: int, progress: Progress) -> None:
        self._loop.call_soon_threadsafe(self._send, frames.pack(frames.PROGRESS, call_id, wire.dump_progress(progress)))

    def _send(self, frame: bytes) -> None:
        """Write with whatever else is ready in this turn of the loop."""
        if not self._out:
            self._loop.call_soon(self._flush)
        self._out.append(frame)

    def _flush(self) -> None:
        out, self._out = self._out, []
        if self._transport is not None:
            self._transport.write(b"".join(out))

    async def _stop(self) -> None:
        while self._tasks:
            await asyncio.wait(list(self._tasks.values()))
        self._flush()
        if not self._ended.done():
            self._ended.set_result(None)
