"""The process that imports the targets once, and then forks a worker whenever the front wants one.

It stays single-threaded and never runs a tool, so that a fork of it is a clean start that costs milliseconds. Where
the imported code has started threads, or there is no `fork`, it becomes the worker itself.
"""

from __future__ import annotations

import gc
import logging
import os
import random
import select
import signal
import socket
import sys
import threading
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pydantic_core import from_json

from autotool.errors import OperatorError
from autotool.introspect.touched import imported_files
from autotool.model import Description, Selection, Target
from autotool.sources.python import discover
from autotool.worker import capture, frames, leash, wire
from autotool.worker.bounds import ProcessBounds

_HIGH_FD = 96


def main(fd: int) -> None:
    """Read the settings, describe the targets, and fork workers until the front is gone."""
    link = _adopt(fd)
    leash.follow_parent()
    _prepare_streams()
    settings = _read_settings(link)
    bounds = ProcessBounds(**settings["bounds"])
    bounds.apply()
    _prepare_path(settings)
    # Bytecode is told stale by whole seconds and size: a file that is saved twice in a second would be read as it was before.
    sys.dont_write_bytecode = sys.dont_write_bytecode or bool(settings["watched"])
    try:
        found = discover(
            [Target(**target) for target in settings["targets"]], Selection(**_tuples(settings["selection"]))
        )
    except OperatorError as error:
        if settings["debug"]:
            logging.getLogger("autotool.worker").error("%s", error.message, exc_info=error.__cause__ or error)
        error.files = _failed_files(error) if settings["watched"] else ()
        link.sendall(frames.pack(frames.FAILED, 0, wire.dump_error(error)))
        return
    candidates = tuple(tool.candidate for tool in found.tools)
    files = imported_files(one.file for one in candidates) if settings["watched"] else ()
    description = Description(candidates, found.refusals, found.package, files=files)
    forkable = _is_forkable()
    # The loop and its libraries come after the description, while the front makes its catalog of it.
    link.sendall(frames.pack(frames.DESCRIBED, 0, wire.dump_description(description, forkable=forkable)))
    tools = {tool.candidate.key: tool for tool in found.tools}
    from autotool.worker.main import serve

    _Zygote(link, lambda worker_link: serve(worker_link, tools, int(settings["threads"]), bounds)).run()


def _failed_files(error: OperatorError) -> tuple[str, ...]:
    """What had been imported, and the files in which the import stopped."""
    cause = error.__cause__
    where = [frame.filename for frame in traceback.extract_tb(cause.__traceback__)] if cause is not None else []
    if isinstance(cause, SyntaxError) and cause.filename:
        where.append(cause.filename)
    return tuple(one.path for one in imported_files(name for name in where if Path(name).is_file()))


def _adopt(fd: int) -> socket.socket:
    """Take the link to a number that foreign code does not close by accident, and keep it from child processes."""
    if sys.platform == "win32":
        return socket.socket(fileno=fd)
    import fcntl

    moved = fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, _HIGH_FD)
    os.close(fd)
    return socket.socket(fileno=moved)


def _prepare_streams() -> None:
    log = open(2, "w", encoding="utf-8", errors="backslashreplace", buffering=1, closefd=False)  # noqa: SIM115 - for the life of the process
    capture.install(log)
    logging.basicConfig(stream=log, level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")


def _read_settings(link: socket.socket) -> dict[str, Any]:
    splitter = frames.Splitter()
    while True:
        data = link.recv(65536)
        if not data:
            sys.exit(0)
        for _, _, payload in splitter.feed(data):
            settings: dict[str, Any] = from_json(payload)
            return settings


def _tuples(plain: dict[str, Any]) -> dict[str, Any]:
    return {key: tuple(value) if isinstance(value, list) else value for key, value in plain.items()}


def _prepare_path(settings: dict[str, Any]) -> None:
    """`sys.path` as `python -m` would have it: the working directory first, when a module is a target."""
    sys.argv = ["autotool"]
    if any(not target["is_file"] for target in settings["targets"]):
        sys.path.insert(0, str(Path.cwd()))


def _is_forkable() -> bool:
    """Whether this process has one thread only, as far as can be seen, and can fork."""
    if not hasattr(os, "fork") or threading.active_count() > 1:
        return False
    tasks = Path("/proc/self/task")
    if tasks.is_dir():
        return len(list(tasks.iterdir())) == 1
    # Elsewhere native threads cannot be counted; on macOS a fork without exec breaks system frameworks.
    return False


class _Zygote:
    def __init__(self, link: socket.socket, serve: Callable[[socket.socket], None]) -> None:
        self._link = link
        self._serve = serve
        self._workers: dict[int, int] = {}
        self._splitter = frames.Splitter()

    def run(self) -> None:
        """Obey the front until it says `SERVE` or is gone."""
        gc.collect()
        gc.freeze()
        gc.enable()
        wake_read, wake_write = os.pipe()
        os.set_blocking(wake_read, False)
        os.set_blocking(wake_write, False)
        if hasattr(signal, "SIGCHLD"):
            signal.signal(signal.SIGCHLD, lambda *_: None)
            signal.set_wakeup_fd(wake_write, warn_on_full_buffer=False)
        while True:
            ready, _, _ = select.select([self._link, wake_read], [], [])
            if wake_read in ready:
                os.read(wake_read, 512)
                self._report_exits()
            if self._link in ready and not self._obey(wake_read, wake_write):
                return

    def _obey(self, wake_read: int, wake_write: int) -> bool:
        data, fds = _receive(self._link)
        if not data:
            self._end()
        for kind, call_id, _ in self._splitter.feed(data):
            if kind == frames.FORK and fds:
                self._fork(call_id, fds.pop(0))
            elif kind == frames.SERVE:
                signal.set_wakeup_fd(-1)
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                os.close(wake_read)
                os.close(wake_write)
                # The front sends no call before this answer, so that none is read here and lost.
                self._link.sendall(frames.pack(frames.FORKED, 0, str(os.getpid()).encode()))
                self._serve(self._link)
                return False
        return True

    def _fork(self, worker_id: int, fd: int) -> None:
        pid = os.fork()
        if pid:
            os.close(fd)
            self._workers[pid] = worker_id
            self._link.sendall(frames.pack(frames.FORKED, worker_id, str(pid).encode()))
            return
        try:
            leash.follow_parent()
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            self._link.close()
            random.seed()
            self._serve(_adopt(fd))
        finally:
            os._exit(0)

    def _report_exits(self) -> None:
        for pid, worker_id in list(self._workers.items()):
            done, status = os.waitpid(pid, os.WNOHANG)
            if done:
                del self._workers[pid]
                code = os.waitstatus_to_exitcode(status)
                self._link.sendall(frames.pack(frames.EXITED, worker_id, str(code).encode()))

    def _end(self) -> None:
        """The front is gone: so is every worker, whatever it is doing."""
        for pid in self._workers:
            os.kill(pid, signal.SIGKILL)
        os._exit(0)


def _receive(link: socket.socket) -> tuple[bytes, list[int]]:
    if not hasattr(socket, "recv_fds"):
        return link.recv(65536), []
    data, fds, _, _ = socket.recv_fds(link, 65536, 16)
    return data, list(fds)
