"""What the kernel lets a worker take: memory, CPU time, open files, processes."""

from __future__ import annotations

import logging
import math
import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

try:
    import resource
except ImportError:  # not on Windows
    resource: Any = None

_log = logging.getLogger("autotool.worker")


@dataclass(frozen=True, slots=True)
class ProcessBounds:
    """The most that one process may take; 0 stands for no bound.

    Attributes:
        memory: bytes of address space.
        cpu_s: seconds of CPU time, from the start of its latest call.
        open_files: file descriptors.
        processes: processes and threads of the user, beyond those that there were at the start. The kernel does not hold root to it.
    """

    memory: int = 0
    cpu_s: float = 0.0
    open_files: int = 0
    processes: int = 0

    def apply(self) -> None:
        """Bound this process, and what it starts. A crash writes no core file."""
        if resource is None:
            return
        _lower(resource.RLIMIT_CORE, 0)
        if self.memory:
            _lower(resource.RLIMIT_AS, self.memory)
        if self.open_files:
            _lower(resource.RLIMIT_NOFILE, self.open_files)
        if self.processes:
            _lower(resource.RLIMIT_NPROC, self.processes + _threads_of_user())

    def allow_cpu(self) -> None:
        """Give this process its CPU time anew: what earlier calls have taken is not held against the next."""
        if self.cpu_s and resource is not None:
            _, hard = resource.getrlimit(resource.RLIMIT_CPU)
            soft = math.ceil(time.process_time() + self.cpu_s)
            resource.setrlimit(resource.RLIMIT_CPU, (soft if hard < 0 else min(soft, hard), hard))


def _lower(number: int, most: int) -> None:
    _, hard = resource.getrlimit(number)
    most = most if hard == resource.RLIM_INFINITY else min(most, hard)
    try:
        resource.setrlimit(number, (most, most))
    except (OSError, ValueError) as error:
        _log.warning("a limit of the worker could not be set: %s", error)


def _threads_of_user() -> int:
    """What the kernel counts against `RLIMIT_NPROC` now; 0 where it does not tell."""
    found = 0
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if process.stat().st_uid == os.getuid():
                found += sum(1 for _ in (process / "task").iterdir())
        except OSError:
            continue  # it has ended meanwhile
    return found
