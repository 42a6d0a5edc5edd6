"""Starts the process behind the link: a clean interpreter whose only way to the protocol is one socket."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field

from pydantic_core import to_json

from autotool.model import Selection, Target
from autotool.worker.frames import CALL, pack

SERVER_SECRETS = ("AUTOTOOL_",)
"""Environment variables that belong to the server and not to the person's code, by prefix."""


@dataclass(frozen=True, slots=True)
class WorkerSettings:
    """What a worker needs to know.

    Attributes:
        targets: what it imports.
        selection: which functions of them.
        threads: synchronous calls that run at the same time.
        debug: whether tracebacks of failed imports go to standard error.
    """

    targets: Sequence[Target]
    selection: Selection = field(default_factory=Selection)
    threads: int = 8
    debug: bool = False


@dataclass(frozen=True, slots=True)
class Launched:
    """A started process, the front's end of its link, and the pipe that carries what it prints."""

    process: subprocess.Popen[bytes]
    link: socket.socket
    output: int


_early: list[Launched] = []


def start_early() -> None:
    """Start the process before its settings are known: it imports what every worker needs in the meantime."""
    _early.append(_start())


def take_early() -> Launched | None:
    """The process that `start_early` started, once."""
    return _early.pop() if _early else None


def launch(settings: WorkerSettings, early: Launched | None = None) -> Launched:
    """A zygote that has been told its settings and imports its targets, while the caller goes on."""
    launched = early or _start()
    launched.link.sendall(pack(CALL, 0, to_json(asdict(settings))))
    return launched


def discard(launched: Launched | None) -> None:
    """End a process that is not needed after all."""
    if launched is not None:
        launched.link.close()
        os.close(launched.output)
        launched.process.kill()
        launched.process.wait()


def _start() -> Launched:
    ours, theirs = socket.socketpair()
    output_read, output_write = os.pipe()
    environment = {name: value for name, value in os.environ.items() if not name.startswith(SERVER_SECRETS)}
    try:
        # A session of its own: Ctrl-C in a terminal is for the front, which ends its workers in order.
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "autotool.worker", str(theirs.fileno())],
            stdin=subprocess.DEVNULL,
            stdout=output_write,
            stderr=output_write,
            env=environment,
            pass_fds=(theirs.fileno(),),
            start_new_session=True,
        )
    finally:
        theirs.close()
        os.close(output_write)
    return Launched(process, ours, output_read)
