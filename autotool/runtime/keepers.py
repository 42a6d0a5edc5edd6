"""The front's end of the process that starts commands (`runtime.keeper`)."""

from __future__ import annotations

import contextlib
import marshal
import os
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

_SCRIPT = Path(__file__).with_name("keeper.py")
_END = b"T"


@dataclass(frozen=True, slots=True)
class Request:
    """One command to start.

    Attributes:
        program: absolute path of what is executed.
        argv: its words, the first being its own name.
        environment: all that it gets.
        cwd: the working directory; "" for the front's.
        grace_s: seconds between SIGTERM and SIGKILL when it is ended.
    """

    program: str
    argv: Sequence[str]
    environment: Mapping[str, str]
    cwd: str = ""
    grace_s: float = 2.0


class Keepers:
    """Starts commands through one small process, which is started with the first of them."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._link: socket.socket | None = None

    def start(self, request: Request, fds: tuple[int, int, int]) -> socket.socket:
        """Start a command with `fds` as its standard input, output and error; gives the front's end of the control socket.

        Raises:
            OSError: no process can be started.
        """
        ours, theirs = socket.socketpair()
        try:
            message = _packed(request)
            try:
                self._send(message, (*fds, theirs.fileno()))
            except OSError:
                # The process is gone; a new one takes its place, and nothing had been started yet.
                self.close()
                self._send(message, (*fds, theirs.fileno()))
        except BaseException:
            ours.close()
            raise
        finally:
            theirs.close()
        return ours

    def _send(self, message: bytes, fds: tuple[int, int, int, int]) -> None:
        link = self._link or self._launch()
        socket.send_fds(link, [len(message).to_bytes(8, "big")], fds)
        link.sendall(message)

    def _launch(self) -> socket.socket:
        ours, theirs = socket.socketpair()
        # Nothing of the person's environment or packages reaches it: isolated mode, no site, its own session.
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-S", str(_SCRIPT), str(theirs.fileno())],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=(theirs.fileno(),),
            env={},
            start_new_session=True,
        )
        theirs.close()
        self._link = ours
        return ours

    def close(self) -> None:
        """Let the process end; commands that run are ended by their own keepers when their control sockets close."""
        if self._link is not None:
            self._link.close()
            self._link = None
        if self._process is not None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(1.0)
            if self._process.returncode is None:
                self._process.kill()
                self._process.wait()
            self._process = None


def end(control: socket.socket) -> None:
    """Have everything that a command started ended."""
    with contextlib.suppress(OSError):
        control.send(_END)


def _packed(request: Request) -> bytes:
    encode = os.fsencode
    return marshal.dumps(
        (
            encode(request.program),
            [encode(word) for word in request.argv],
            {encode(name): encode(value) for name, value in request.environment.items()},
            encode(request.cwd),
            request.grace_s,
        )
    )
