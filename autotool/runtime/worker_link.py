"""The front's end of one worker: calls go out, outcomes come back, and its end is noticed."""

from __future__ import annotations

import asyncio
import itertools
import signal
import socket
from collections.abc import Callable
from typing import cast

from autotool.errors import WorkerDied
from autotool.model import Invocation, Outcome, Progress
from autotool.worker import frames, wire

Report = Callable[[Progress], None]

_SIGXCPU = getattr(signal, "SIGXCPU", 0)


class WorkerLink(asyncio.Protocol):
    """One worker that is ready for calls.

    Attributes:
        pid: of the process, 0 until it is known.
        retired: whether new calls go elsewhere.
        is_ending: whether the server ends it, whatever it is doing.
        lost: done when the link has ended.
        exit_code: of the process, once it is known; negative for a signal.
        has_been_called: whether it was ever given a call.
    """

    def __init__(self) -> None:
        loop = asyncio.get_running_loop()
        self.pid = 0
        self.retired = False
        self.is_ending = False
        self.lost: asyncio.Future[None] = loop.create_future()
        self.exit_code: asyncio.Future[int] = loop.create_future()
        self.has_been_called = False
        self._loop = loop
        self._ids = itertools.count(1)
        self._splitter = frames.Splitter()
        self._waiting: dict[int, asyncio.Future[Outcome | None]] = {}
        self._keys: dict[int, str] = {}
        self._reports: dict[int, Report] = {}
        self._out: list[bytes] = []
        self._transport: asyncio.WriteTransport | None = None

    @classmethod
    async def connect(cls, link: socket.socket) -> WorkerLink:
        """Speak to the worker at the other end of `link`."""
        link.setblocking(False)
        loop = asyncio.get_running_loop()
        _, protocol = await loop.connect_accepted_socket(cls, link)
        return protocol

    @property
    def in_flight(self) -> int:
        """How many calls have not been answered."""
        return len(self._waiting)

    @property
    def running(self) -> frozenset[str]:
        """The keys of the tools whose calls it has not ended, also of those that nobody waits for any more."""
        return frozenset(self._keys.values())

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """The link is open."""
        self._transport = cast("asyncio.WriteTransport", transport)

    def data_received(self, data: bytes) -> None:
        """Frames have come in."""
        try:
            for kind, call_id, payload in self._splitter.feed(data):
                self._handle(kind, call_id, payload)
        except (frames.MalformedFrame, ValueError, TypeError, IndexError):
            # Only foreign code that wrote on the link can have caused this: the worker cannot be trusted any more.
            self.abort()

    def _handle(self, kind: int, call_id: int, payload: bytes) -> None:
        if kind == frames.PROGRESS:
            report = self._reports.get(call_id)
            if report is not None:
                report(wire.load_progress(payload))
            return
        self._keys.pop(call_id, None)
        future = self._waiting.pop(call_id, None)
        if future is None or future.done():
            return
        future.set_result(frames.unpack_outcome(payload) if kind == frames.RESULT else None)

    def connection_lost(self, exc: Exception | None) -> None:
        """The worker has closed the link, or ended."""
        self.retired = True
        if not self.lost.done():
            self.lost.set_result(None)

    def start_call(self, invocation: Invocation, report: Report | None) -> tuple[int, asyncio.Future[Outcome | None]]:
        """Send a call. The future gives its outcome, or None when it was cancelled in time."""
        call_id = next(self._ids)
        self.has_been_called = True
        future: asyncio.Future[Outcome | None] = self._loop.create_future()
        self._waiting[call_id] = future
        self._keys[call_id] = invocation.key
        if report is not None:
            self._reports[call_id] = report
            future.add_done_callback(lambda _: self._reports.pop(call_id, None))
        self._send(frames.pack(frames.CALL, call_id, wire.dump_invocation(invocation)))
        return call_id, future

    def cancel(self, call_id: int) -> None:
        """Ask the worker to end a call."""
        self._send(frames.pack(frames.CANCEL, call_id))

    def forget(self, call_id: int) -> None:
        """Wait for a call no longer."""
        self._waiting.pop(call_id, None)

    def fail_all(self, error: WorkerDied) -> None:
        """Answer every call in flight with `error`."""
        waiting, self._waiting = self._waiting, {}
        for future in waiting.values():
            if not future.done():
                future.set_exception(error)

    async def idle(self, within_s: float) -> None:
        """Wait until every call has been answered, the link has ended, or `within_s` seconds have passed."""
        waiting = [asyncio.gather(*self._waiting.values(), return_exceptions=True)] if self._waiting else []
        if waiting:
            await asyncio.wait([*waiting, self.lost], timeout=within_s, return_when=asyncio.FIRST_COMPLETED)

    def stop(self) -> None:
        """Ask the worker to finish what runs and to end."""
        self.retired = True
        self._send(frames.pack(frames.STOP, 0))

    def abort(self) -> None:
        """Close the link at once."""
        if self._transport is not None:
            self._transport.abort()

    def _send(self, frame: bytes) -> None:
        if not self._out:
            self._loop.call_soon(self._flush)
        self._out.append(frame)

    def _flush(self) -> None:
        out, self._out = self._out, []
        if self._transport is not None and not self._transport.is_closing():
            self._transport.write(b"".join(out))


def death_text(exit_code: int | None) -> str:
    """What a model reads when the worker ended in the middle of its call."""
    how = "ended without saying why"
    if exit_code == -_SIGXCPU:
        how = "used more CPU time than it may, and was ended"
    elif exit_code is not None and exit_code < 0:
        how = f"was ended by signal {-exit_code} ({_signal_name(-exit_code)})"
    elif exit_code is not None:
        how = f"exited with code {exit_code}"
    return f"The process that ran this call {how} before it answered. It has been replaced: other calls go on as usual."


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return "unknown"
