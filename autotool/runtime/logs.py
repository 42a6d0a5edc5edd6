"""Standard error, written by one thread, so that nobody who forgets to read it can hold up the server."""

from __future__ import annotations

import asyncio
import logging
import os
import queue
import threading

_QUEUED_CHUNKS = 2_000


class StderrWriter:
    """Writes to file descriptor 2 in order. What does not fit in the queue is dropped and counted."""

    def __init__(self) -> None:
        self._chunks: queue.Queue[bytes] = queue.Queue(_QUEUED_CHUNKS)
        self._dropped = 0
        self._idle = threading.Event()
        self._idle.set()
        self._thread: threading.Thread | None = None

    def write(self, data: bytes) -> None:
        """Queue `data`; never blocks."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name="autotool-stderr", daemon=True)
            self._thread.start()
        try:
            self._idle.clear()
            self._chunks.put_nowait(data)
        except queue.Full:
            self._dropped += 1

    def drain(self, timeout_s: float = 0.5) -> None:
        """Wait until what is queued has been written, at most `timeout_s` seconds."""
        if self._thread is not None:
            self._idle.wait(timeout_s)

    def _work(self) -> None:
        while True:
            data = self._chunks.get()
            if self._dropped:
                data += f"autotool: {self._dropped} log messages were dropped, because standard error is not read\n".encode()
                self._dropped = 0
            try:
                _write_all(data)
            except OSError:
                continue
            finally:
                if self._chunks.empty():
                    self._idle.set()


def _write_all(data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(2, view) :]


stderr = StderrWriter()
"""The process's standard error."""


class _Handler(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        try:
            stderr.write((self.format(record) + "\n").encode("utf-8", "backslashreplace"))
        except Exception:
            self.handleError(record)


def configure(*, debug: bool) -> None:
    """Send the log of the front to standard error."""
    handler = _Handler()
    handler.setFormatter(logging.Formatter("autotool: %(message)s"))
    logger = logging.getLogger("autotool")
    logger.handlers[:] = [handler]
    logger.propagate = False
    logger.setLevel(logging.DEBUG if debug else logging.INFO)


async def forward(fd: int) -> None:
    """Pass what arrives on the pipe `fd` on to standard error until it ends."""
    loop = asyncio.get_running_loop()
    ended: asyncio.Future[None] = loop.create_future()
    transport, _ = await loop.connect_read_pipe(lambda: _Forwarder(ended), os.fdopen(fd, "rb", buffering=0))
    try:
        await ended
    finally:
        transport.close()


class _Forwarder(asyncio.Protocol):
    def __init__(self, ended: asyncio.Future[None]) -> None:
        self._ended = ended

    def data_received(self, data: bytes) -> None:
        stderr.write(data)

    def connection_lost(self, exc: Exception | None) -> None:
        if not self._ended.done():
            self._ended.set_result(None)
