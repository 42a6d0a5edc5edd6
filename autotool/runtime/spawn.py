"""Starts a worker's process. Imports next to nothing, so that `autotool serve` can start it before anything else."""

import os
import socket
import subprocess
import sys
from collections.abc import Mapping
from typing import NamedTuple

SERVER_SECRETS = "AUTOTOOL_"
"""Environment variables that belong to the server and not to the person's code begin with this."""


class Launched(NamedTuple):
    """A started process, the front's end of its link, and the pipe that carries what it prints."""

    process: "subprocess.Popen[bytes]"
    link: socket.socket
    output: int


_early: list[Launched] = []


def start(environment: Mapping[str, str] | None = None) -> Launched:
    """Start a process that waits for its settings, importing what every worker needs in the meantime.

    Args:
        environment: all its variables; None for those of this process that are not the server's.
    """
    ours, theirs = socket.socketpair()
    output_read, output_write = os.pipe()
    if environment is None:
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


def start_early() -> None:
    """Start a process before its settings are known."""
    _early.append(start())


def take_early() -> Launched | None:
    """The process that `start_early` started, once."""
    return _early.pop() if _early else None


def discard(launched: Launched | None) -> None:
    """End a process that is not needed after all."""
    if launched is not None:
        launched.link.close()
        os.close(launched.output)
        launched.process.kill()
        launched.process.wait()
