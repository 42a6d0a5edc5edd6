"""The front's end of a zygote: what it found, and new workers on request."""

from __future__ import annotations

import asyncio
import contextlib
import socket

from autotool.model import Description
from autotool.runtime.spawn import Launched
from autotool.runtime.worker_link import WorkerLink
from autotool.worker import frames, wire


class ZygoteLink:
    """Speaks to a process that has imported the targets.

    Attributes:
        forkable: whether it forks workers; otherwise it becomes the worker itself.
        is_gone: whether the process has ended, or has become a worker.
    """

    def __init__(self, launched: Launched) -> None:
        self._process = launched.process
        self._socket = launched.link
        self._socket.setblocking(False)
        self._splitter = frames.Splitter()
        self._workers: dict[int, WorkerLink] = {}
        self._next_id = 1
        self._reading: asyncio.Task[None] | None = None
        self.forkable = False
        self.is_gone = False

    async def described(self) -> Description:
        """Wait until the targets have been read.

        Raises:
            OperatorError: they cannot be served.
            OSError: the process ended first.
        """
        loop = asyncio.get_running_loop()
        while True:
            data = await loop.sock_recv(self._socket, 1 << 18)
            if not data:
                self.is_gone = True
                code = await loop.run_in_executor(None, self._process.wait)
                raise ConnectionError(f"exit code {code}")
            for kind, _, payload in self._splitter.feed(data):
                if kind == frames.FAILED:
                    raise wire.load_error(payload)
                description, self.forkable = wire.load_description(payload)
                if self.forkable:
                    self._reading = loop.create_task(self._read())
                return description

    async def _read(self) -> None:
        loop = asyncio.get_running_loop()
        with contextlib.suppress(OSError):
            while data := await loop.sock_recv(self._socket, 65536):
                for kind, worker_id, payload in self._splitter.feed(data):
                    self._handle(kind, worker_id, payload)
        self.is_gone = True

    def _handle(self, kind: int, worker_id: int, payload: bytes) -> None:
        worker = self._workers.get(worker_id)
        if worker is None:
            return
        if kind == frames.FORKED:
            worker.pid = int(payload)
        elif kind == frames.EXITED:
            del self._workers[worker_id]
            if not worker.exit_code.done():
                worker.exit_code.set_result(int(payload))
            # A process that the worker forked may hold the link open: the worker itself is gone all the same.
            worker.abort()

    def fork(self, worker: WorkerLink, theirs: socket.socket) -> None:
        """Have a process forked that serves at the other end of `theirs`."""
        worker_id, self._next_id = self._next_id, self._next_id + 1
        self._workers[worker_id] = worker
        with theirs:
            socket.send_fds(self._socket, [frames.pack(frames.FORK, worker_id)], [theirs.fileno()])

    async def become_worker(self) -> WorkerLink:
        """Have the process serve calls itself; it is no zygote any more."""
        self.is_gone = True
        loop = asyncio.get_running_loop()
        await loop.sock_sendall(self._socket, frames.pack(frames.SERVE, 0))
        if not await loop.sock_recv(self._socket, 64):
            raise ConnectionError("the process ended before it could serve")
        worker = await WorkerLink.connect(self._socket)
        worker.pid = self._process.pid
        task = loop.create_task(self._report_exit(worker))
        worker.lost.add_done_callback(lambda _: task)
        return worker

    async def _report_exit(self, worker: WorkerLink) -> None:
        await worker.lost
        code = await asyncio.get_running_loop().run_in_executor(None, self._process.wait)
        if not worker.exit_code.done():
            worker.exit_code.set_result(code)

    async def close(self) -> None:
        """End the process and reap it."""
        if self._reading is not None:
            self._reading.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._reading
        if not (self.is_gone and self.forkable is False):
            self._socket.close()
        self._process.kill()
        self._process.wait()
