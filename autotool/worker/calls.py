"""Runs bound tools: asynchronous ones in the loop, synchronous ones in threads, each with its own capture."""

from __future__ import annotations

import asyncio
import inspect
import logging
import os
import traceback
from collections.abc import Callable, Mapping
from typing import Any

from pydantic_core import to_json

from autotool.context import Context, NeedsInput
from autotool.errors import ArgumentError
from autotool.model import Invocation, Outcome, Progress
from autotool.sources.base import BoundTool, Exited, Subprogram
from autotool.worker import capture, exits, results
from autotool.worker.binding import bind
from autotool.worker.capture import Captured
from autotool.worker.outcomes import error_outcome
from autotool.worker.surroundings import Surroundings
from autotool.worker.threads import Job, ThreadPool

_log = logging.getLogger("autotool.worker")
_getpid = os.getpid
_exit = os._exit
_MAX_TRACE_CHARS = 20_000

Report = Callable[[Progress], None]


class _Unfinished:
    """What a synchronous function returned that only the loop can bring to its end."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value


class Runner:
    """Runs the tools of one process.

    Args:
        tools: by key.
        threads: how many synchronous calls run at the same time; further ones wait in order.
    """

    def __init__(self, tools: Mapping[str, BoundTool], *, threads: int = 8) -> None:
        self._tools = tools
        self._pool = ThreadPool(threads)
        self._turns: dict[int, asyncio.Lock] = {}
        self._surroundings = Surroundings()
        self._pid = _getpid()

    async def run(self, invocation: Invocation, report: Report | None = None) -> Outcome:
        """Run one call to its end. Whatever the function does becomes an `Outcome`.

        Raises:
            asyncio.CancelledError: the awaiting task was cancelled.
        """
        tool = self._tools.get(invocation.key)
        if tool is None:
            return error_outcome(f"`{invocation.key}` is not served here.")
        with self._surroundings.kept():
            if tool.serial is None:
                return await self._start(tool, invocation, report)
            async with self._turn(tool.serial):
                return await self._start(tool, invocation, report)

    def _turn(self, serial: object) -> asyncio.Lock:
        return self._turns.setdefault(id(serial), asyncio.Lock())

    async def _start(self, tool: BoundTool, invocation: Invocation, report: Report | None) -> Outcome:
        captured = Captured()
        capture.current.set(captured)
        if tool.candidate.is_async:
            return await self._in_loop(tool, invocation, captured, report)
        job = Job(lambda: self._in_thread(tool, invocation, captured, report), asyncio.get_running_loop())
        self._pool.submit(job)
        try:
            outcome = await job.future
        except asyncio.CancelledError:
            job.drop()
            raise _StillRunning if job.started else asyncio.CancelledError from None
        if isinstance(outcome, _Unfinished):
            return await self._finish(tool, outcome.value, invocation, captured)
        return outcome

    def _in_thread(
        self, tool: BoundTool, invocation: Invocation, captured: Captured, report: Report | None
    ) -> Outcome | _Unfinished:
        bound = None
        try:
            bound = bind(tool.arguments, invocation.arguments)
            value = tool.function(*bound.args, **_with_context(tool, invocation, bound.kwargs, report))
            self._end_fork()
            if isinstance(value, Subprogram) or inspect.isawaitable(value) or hasattr(value, "__aiter__"):
                return _Unfinished(value)
            return _shape(value, tool, invocation, captured)
        except ArgumentError as error:
            return _refused(error)
        except BaseException as error:
            self._end_fork()
            return _failed(error, tool, captured)
        finally:
            if bound is not None:
                bound.close()

    async def _in_loop(
        self, tool: BoundTool, invocation: Invocation, captured: Captured, report: Report | None
    ) -> Outcome:
        try:
            bound = bind(tool.arguments, invocation.arguments)
        except ArgumentError as error:
            return _refused(error)
        except BaseException as error:
            return _failed(error, tool, captured)
        try:
            value = tool.function(*bound.args, **_with_context(tool, invocation, bound.kwargs, report))
            return await self._finish(tool, value, invocation, captured)
        except BaseException as error:
            if isinstance(error, asyncio.CancelledError) and _is_cancelled():
                raise
            return _failed(error, tool, captured)
        finally:
            bound.close()

    def _end_fork(self) -> None:
        """End the process of a function that forked and came back twice: the call belongs to the parent."""
        if _getpid() != self._pid:
            _exit(0)

    async def _finish(self, tool: BoundTool, value: Any, invocation: Invocation, captured: Captured) -> Outcome:
        try:
            if isinstance(value, Subprogram):
                return await exits.run(value, invocation.max_output_bytes)
            settled = await results.settle(value)
            self._end_fork()
            return _shape(settled, tool, invocation, captured)
        except BaseException as error:
            self._end_fork()
            if isinstance(error, asyncio.CancelledError) and _is_cancelled():
                raise
            return _failed(error, tool, captured)


def _with_context(
    tool: BoundTool, invocation: Invocation, kwargs: dict[str, Any], report: Report | None
) -> dict[str, Any]:
    """The keyword arguments, with the call's context where the function wants it."""
    name = tool.arguments.context
    if not name:
        return kwargs
    tell = None if report is None else (lambda done, total, text: report(Progress(done, total, text)))
    return {**kwargs, name: Context(invocation.answers, abilities=invocation.abilities, report=tell)}


class _StillRunning(asyncio.CancelledError):
    """The call was cancelled, but its thread goes on: Python cannot stop a thread."""


def is_still_running(error: asyncio.CancelledError) -> bool:
    """Whether a cancelled call's thread goes on, so that only the end of the process ends it."""
    return isinstance(error, _StillRunning)


def _is_cancelled() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def _shape(value: Any, tool: BoundTool, invocation: Invocation, captured: Captured) -> Outcome:
    if isinstance(value, Exited):
        return exits.ended(value, captured.text, captured.errors.text, invocation.max_output_bytes)
    return results.shape(value, tool.result, max_output_bytes=invocation.max_output_bytes, captured=captured.text)


def _asking(needs: NeedsInput) -> Outcome:
    return Outcome(False, b"[]", asks=to_json(needs.requests))


def _refused(error: ArgumentError) -> Outcome:
    return error_outcome("\n".join(error.problems), error_type="ArgumentError")


def _trace(error: BaseException) -> str:
    try:
        text = "".join(traceback.format_exception(error)).rstrip()
    except BaseException:  # foreign code runs in it
        return "(its traceback cannot be shown)"
    half = _MAX_TRACE_CHARS // 2
    return text if len(text) <= _MAX_TRACE_CHARS else f"{text[:half]}\n[…]\n{text[-half:]}"


def _failed(error: BaseException, tool: BoundTool, captured: Captured) -> Outcome:
    if isinstance(error, NeedsInput):
        return _asking(error)
    if not isinstance(error, SystemExit):
        _log.warning("`%s` raised %s\n%s", tool.candidate.key, type(error).__name__, _trace(error))
    return results.failure(error, captured=captured.text)
