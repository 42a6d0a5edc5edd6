"""Runs one program to its end: its output bounded, its time limited, nothing left behind."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import tempfile
from dataclasses import dataclass, field

from autotool.runtime.keepers import Keepers, Request, end
from autotool.worker.kept import Kept

_DRAIN_S = 1.0
_END_ANSWER_S = 0.25
_STDERR_BYTES = 64_000


@dataclass(frozen=True, slots=True)
class Finished:
    """How a program ended: one of `exit_code`, `signal` and `errno` says it, or it was stopped.

    Attributes:
        failed_at: with `errno`, what failed: `program`, `cwd` or `fork`.
        stopped: `timeout` or `flood` where it was ended before its time, else "".
    """

    stdout: Kept
    stderr: Kept
    exit_code: int | None = None
    signal: int | None = None
    errno: int | None = None
    failed_at: str = ""
    stopped: str = ""


@dataclass(eq=False)
class Running:
    """A program that was started. Ending the `control` socket's talk ends the program."""

    control: socket.socket
    stdout: Kept
    stderr: Kept
    transports: list[asyncio.BaseTransport] = field(default_factory=list[asyncio.BaseTransport])
    said: asyncio.Future[str] = field(default_factory=lambda: asyncio.get_running_loop().create_future())
    gone: asyncio.Future[None] = field(default_factory=lambda: asyncio.get_running_loop().create_future())

    def stop(self) -> None:
        """Have everything that it started ended."""
        end(self.control)


class ProcessRunner:
    """Runs programs, and knows which are running."""

    def __init__(self) -> None:
        self._keepers = Keepers()
        self._running: set[Running] = set()
        self._background: set[asyncio.Task[None]] = set()

    async def run(self, request: Request, *, stdin: bytes = b"", timeout_s: float | None, max_output: int) -> Finished:
        """Run a program to its end. Cancelling the awaiting task ends it and all that it started.

        Raises:
            OSError: no process can be started at all.
        """
        running = await self._start(request, stdin, max_output)
        try:
            return await self._finish(running, timeout_s)
        except asyncio.CancelledError:
            running.stop()
            raise
        finally:
            task = asyncio.get_running_loop().create_task(self._see_off(running))
            self._background.add(task)
            task.add_done_callback(self._background.discard)

    async def _start(self, request: Request, stdin: bytes, max_output: int) -> Running:
        loop = asyncio.get_running_loop()
        out_read, out_write = os.pipe()
        err_read, err_write = os.pipe()
        source = _source(stdin)
        try:
            control = self._keepers.start(request, (source, out_write, err_write))
        except BaseException:
            os.close(out_read)
            os.close(err_read)
            raise
        finally:
            for fd in (source, out_write, err_write):
                os.close(fd)
        control.setblocking(False)
        running = Running(control, Kept(max_output), Kept(min(max_output, _STDERR_BYTES)))
        for fd, kept in ((out_read, running.stdout), (err_read, running.stderr)):
            transport, _ = await loop.connect_read_pipe(lambda kept=kept: kept, os.fdopen(fd, "rb", 0))
            running.transports.append(transport)
        loop.add_reader(control.fileno(), _listen, running)
        self._running.add(running)
        return running

    async def _finish(self, running: Running, timeout_s: float | None) -> Finished:
        waiting = {running.said, running.stdout.flooded, running.stderr.flooded}
        done, _ = await asyncio.wait(waiting, timeout=timeout_s, return_when=asyncio.FIRST_COMPLETED)
        if running.said not in done:
            running.stop()
            # What is still on its way belongs to the answer, but a program that will not end does not hold it up.
            await asyncio.wait({running.gone}, timeout=_END_ANSWER_S)
            return Finished(running.stdout, running.stderr, stopped="flood" if done else "timeout")
        await asyncio.wait({running.stdout.ended, running.stderr.ended}, timeout=_DRAIN_S)
        return _finished(running)

    async def _see_off(self, running: Running) -> None:
        """Wait until nothing is left, and close what belonged to it."""
        try:
            await asyncio.wait({running.gone}, timeout=6.0)
        finally:
            asyncio.get_running_loop().remove_reader(running.control.fileno())
            running.control.close()
            for transport in running.transports:
                transport.close()
            self._running.discard(running)

    async def stop(self, grace_s: float = 0.0) -> None:
        """Let programs finish for `grace_s` seconds, then end all of them."""
        if self._running and grace_s:
            await asyncio.wait({running.said for running in self._running}, timeout=grace_s)
        for running in self._running:
            running.stop()
        if self._background:
            await asyncio.wait(set(self._background), timeout=3.0)
        for running in list(self._running):
            running.control.close()
        self._keepers.close()


def _source(data: bytes) -> int:
    """A descriptor to read `data` from: a file, so that a program that does not read it blocks nobody."""
    if not data:
        return os.open(os.devnull, os.O_RDONLY)
    with tempfile.TemporaryFile() as file:
        file.write(data)
        file.seek(0)
        return os.dup(file.fileno())


def _listen(running: Running) -> None:
    try:
        data = running.control.recv(256)
    except BlockingIOError:
        return
    except OSError:
        data = b""
    if data and not running.said.done():
        running.said.set_result(data.decode("ascii", "replace"))
    if not data:
        with contextlib.suppress(OSError, ValueError):
            asyncio.get_running_loop().remove_reader(running.control.fileno())
        if not running.said.done():
            running.said.set_result("")
        if not running.gone.done():
            running.gone.set_result(None)


def _finished(running: Running) -> Finished:
    words = running.said.result().split()
    facts: dict[str, int | str] = {}
    if words[:1] == ["exit"]:
        facts = {"exit_code": int(words[1])}
    elif words[:1] == ["signal"]:
        facts = {"signal": int(words[1])}
    elif words[:1] == ["failed"]:
        facts = {"errno": int(words[1]), "failed_at": words[2]}
    return Finished(running.stdout, running.stderr, **facts)  # pyright: ignore[reportArgumentType] - by name, as above
