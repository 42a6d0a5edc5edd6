"""The working directory, the environment, the standard streams and their like, given back when a call that changed them is over."""

from __future__ import annotations

import logging
import os
import signal
import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

try:
    import fcntl
except ImportError:  # not on Windows
    fcntl: Any = None

_log = logging.getLogger("autotool.worker")
_HIGH_FD = 128
_fstat = os.fstat
_dup2 = os.dup2
_getcwd = os.getcwd
_chdir = os.chdir
_umask = os.umask


class Surroundings:
    """What every call finds as the process started. They are shared by calls that overlap, and restored between calls."""

    def __init__(self) -> None:
        self._folder = _folder()
        self._environment = dict(os.environ)
        # The encoded table behind `os.environ`: comparing it costs a microsecond, comparing the mapping thirty.
        self._table = dict(_environ_table())
        self._streams = (sys.stdout, sys.stderr)
        self._outputs = _copies_of_outputs()
        self._recursion_limit = sys.getrecursionlimit()
        self._mask = _umask(0o077)
        _umask(self._mask)
        self._hooks = (threading.excepthook, sys.excepthook, sys.unraisablehook)
        self._running = 0

    @contextmanager
    def kept(self) -> Generator[None]:
        """Run one call; when no other is under way afterwards, put things back."""
        self._running += 1
        try:
            yield
        finally:
            self._running -= 1
            if self._running == 0:
                self._restore()

    def _restore(self) -> None:
        self._restore_streams()
        if sys.getrecursionlimit() != self._recursion_limit:
            sys.setrecursionlimit(self._recursion_limit)
        threading.excepthook, sys.excepthook, sys.unraisablehook = self._hooks
        _umask(self._mask)
        _disarm()
        if self._folder and _folder() != self._folder:
            _log.warning("a call changed the working directory; it is %s again", self._folder)
            try:
                _chdir(self._folder)
            except OSError as error:
                _log.warning("the working directory is gone: %s", error)
        if _environ_table() != self._table:
            _log.warning("a call changed the environment; it is as it was again")
            for name in set(os.environ) - set(self._environment):
                del os.environ[name]
            os.environ.update(self._environment)

    def _restore_streams(self) -> None:
        if (sys.stdout, sys.stderr) != self._streams:
            sys.stdout, sys.stderr = self._streams
        for fd, copy in self._outputs.items():
            try:
                _fstat(fd)
            except OSError:
                _dup2(copy, fd)


def _disarm() -> None:
    """Call off an alarm that would end the process some time after its call."""
    if hasattr(signal, "setitimer") and signal.getsignal(signal.SIGALRM) is signal.SIG_DFL:
        signal.setitimer(signal.ITIMER_REAL, 0)


def _copies_of_outputs() -> dict[int, int]:
    """Private copies of file descriptors 1 and 2, by the number of which each is a copy."""
    try:
        return {fd: fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, _HIGH_FD) for fd in (1, 2)}
    except (OSError, AttributeError):
        return {}


def _environ_table() -> dict[Any, Any]:
    table = getattr(os.environ, "_data", None)
    return table if isinstance(table, dict) else dict(os.environ)


def _folder() -> str:
    try:
        return _getcwd()
    except OSError:
        return ""
