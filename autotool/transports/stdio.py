"""The protocol over standard input and output.

The file descriptors are taken away before anything else can use them: whatever prints to fd 1 afterwards prints to
standard error, and whatever reads fd 0 finds it empty.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import select
import signal
import threading
from collections import deque
from dataclasses import dataclass

from autotool.protocol.dispatcher import Dispatcher
from autotool.transports.lines import LineSplitter
from autotool.transports.session import Session

EOF_GRACE_S = 4.5
"""How long calls may go on after the end of input; the process has ended within five seconds."""

_READ_BYTES = 1 << 16
_WRITE_BYTES = 1 << 16
_ATOMIC_BYTES = getattr(select, "PIPE_BUF", 512)
"""A pipe that polls writable takes this much without blocking (POSIX, `select`)."""
_STALLED_S = 1.0
"""How long a client that reads nothing is waited for at the end."""
_MAX_BACKLOG_BYTES = 8 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class StdioEnd:
    """How a session ended: how many messages came in all."""

    messages: int


def claim() -> tuple[int, int]:
    """Take over fd 0 and fd 1, and give back private copies of them for `serve_stdio`."""
    reading, writing = os.dup(0), os.dup(1)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    os.dup2(2, 1)
    return reading, writing


async def serve_stdio(dispatcher: Dispatcher, reading: int, writing: int) -> StdioEnd:
    """Serve one client until its input ends, then answer what is under way, for at most `EOF_GRACE_S` seconds."""
    loop = asyncio.get_running_loop()
    ended: asyncio.Future[None] = loop.create_future()
    output = _Output(writing, ended, loop)
    session = Session(dispatcher, output.send)
    source = _Input(reading, session, dispatcher.settings.max_message_bytes, ended, output)
    stop_signals = _end_on_signals(loop, ended)
    source.start()
    try:
        await ended
        source.stop()
        await session.finish(EOF_GRACE_S)
    finally:
        for number in stop_signals:
            loop.remove_signal_handler(number)
        await output.drain()
    return StdioEnd(session.messages)


def _end_on_signals(loop: asyncio.AbstractEventLoop, ended: asyncio.Future[None]) -> list[int]:
    def end() -> None:
        if ended.done():
            os._exit(0)  # the second signal ends at once
        ended.set_result(None)

    installed: list[int] = []
    for number in (signal.SIGTERM, signal.SIGINT):
        with contextlib.suppress(NotImplementedError, RuntimeError, ValueError):
            loop.add_signal_handler(number, end)
            installed.append(number)
    return installed


class _Input:
    """Reads lines: in the loop where the descriptor can be polled, in a thread where it cannot (files, Windows)."""

    def __init__(self, fd: int, session: Session, max_bytes: int, ended: asyncio.Future[None], output: _Output) -> None:
        self._fd = fd
        self._session = session
        self._lines = LineSplitter(max_bytes)
        self._ended = ended
        self._output = output
        self._loop = asyncio.get_running_loop()
        self._polled = False
        self._room = threading.Event()

    def start(self) -> None:
        self._output.on_room = self._resume
        try:
            self._loop.add_reader(self._fd, self._readable)
            self._polled = True
        except (OSError, NotImplementedError, ValueError):
            threading.Thread(target=self._read_all, name="autotool-stdin", daemon=True).start()

    def stop(self) -> None:
        if self._polled:
            self._loop.remove_reader(self._fd)

    def _readable(self) -> None:
        try:
            data = os.read(self._fd, _READ_BYTES)
        except (BlockingIOError, InterruptedError):
            return
        except OSError:
            data = b""
        self._take(data)

    def _take(self, data: bytes) -> None:
        for line in self._lines.feed(data):
            if line is None:
                self._session.refuse_long_line()
            else:
                self._session.receive(line)
        if not data:
            self._session.receive(self._lines.rest())
            self.stop()
            if not self._ended.done():
                self._ended.set_result(None)
        elif self._output.is_full and self._polled:
            # A client that does not read its answers gets no new ones: memory stays bounded.
            self._loop.remove_reader(self._fd)

    def _resume(self) -> None:
        self._room.set()
        if self._polled and not self._ended.done():
            self._loop.add_reader(self._fd, self._readable)

    def _read_all(self) -> None:
        """Read in a thread, one chunk ahead of what has been taken: memory stays bounded."""
        data = b"more"
        while data:
            try:
                data = os.read(self._fd, _READ_BYTES)
            except OSError:
                data = b""
            self._room.clear()
            try:
                self._loop.call_soon_threadsafe(self._take_from_thread, data)
            except RuntimeError:
                return  # the loop has ended
            self._room.wait()

    def _take_from_thread(self, data: bytes) -> None:
        self._take(data)
        if not self._output.is_full:
            self._room.set()


class _Output:
    """Writes whole messages in order. Small ones go out at once; what would block goes through a thread."""

    def __init__(self, fd: int, ended: asyncio.Future[None], loop: asyncio.AbstractEventLoop) -> None:
        self._fd = fd
        self._ended = ended
        self._loop = loop
        self._waiting: deque[bytes] = deque()
        self._backlog = 0
        self._moved = 0
        self._busy = False
        self._idle = asyncio.Event()
        self._idle.set()
        self._poll = select.poll() if hasattr(select, "poll") else None
        if self._poll is not None:
            self._poll.register(fd, select.POLLOUT)
        self.on_room = lambda: None

    @property
    def is_full(self) -> bool:
        """Whether more than `_MAX_BACKLOG_BYTES` wait to be written."""
        return self._backlog > _MAX_BACKLOG_BYTES

    def send(self, message: bytes) -> None:
        """Write one message and a line end."""
        line = message + b"\n"
        if not self._busy and len(line) <= _ATOMIC_BYTES and self._is_writable():
            try:
                written = os.write(self._fd, line)
            except BlockingIOError:
                written = 0
            except OSError:
                self._client_is_gone()
                return
            if written == len(line):
                return
            line = line[written:]
        self._waiting.append(line)
        self._backlog += len(line)
        if not self._busy:
            self._busy = True
            self._idle.clear()
            threading.Thread(target=self._write_all, name="autotool-stdout", daemon=True).start()

    def _is_writable(self) -> bool:
        return self._poll is not None and bool(self._poll.poll(0))

    def _write_all(self) -> None:
        while True:
            try:
                line = self._waiting.popleft()
            except IndexError:
                self._loop.call_soon_threadsafe(self._thread_ended)
                return
            view = memoryview(line)
            try:
                while view:
                    view = view[self._write_some(view) :]
            except OSError:
                self._loop.call_soon_threadsafe(self._client_is_gone)
            self._loop.call_soon_threadsafe(self._written, len(line))

    def _write_some(self, view: memoryview) -> int:
        try:
            written = os.write(self._fd, view[:_WRITE_BYTES])
        except BlockingIOError:
            # Whoever shares the pipe may have made it non-blocking.
            if self._poll is not None:
                self._poll.poll()
            return 0
        self._moved += written
        return written

    def _written(self, count: int) -> None:
        was_full = self.is_full
        self._backlog -= count
        if was_full and not self.is_full:
            self.on_room()

    def _thread_ended(self) -> None:
        if self._waiting:
            threading.Thread(target=self._write_all, name="autotool-stdout", daemon=True).start()
            return
        self._busy = False
        self._idle.set()

    def _client_is_gone(self) -> None:
        if not self._ended.done():
            self._ended.set_result(None)

    async def drain(self) -> None:
        """Wait until everything is written, or nobody has read for `_STALLED_S` seconds."""
        seen = -1
        while not self._idle.is_set() and self._moved != seen:
            seen = self._moved
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_STALLED_S):
                    await self._idle.wait()
