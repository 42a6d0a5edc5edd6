"""Keeps commands on a leash. Run as a script beside the front, never imported by it.

A command may start children, put them in sessions of their own and exit; and the front may be killed before it can tidy up.
So this small single-threaded process forks once for each command, and the fork becomes the parent of every orphan below it
(Linux `PR_SET_CHILD_SUBREAPER`): it ends the whole tree when the command has ended, when the front says so, or when the front is gone.
Without subreapers (macOS) it ends the process group.

Usage: `python -I -S keeper.py SOCKET_FD`. A request is eight bytes of length, which carry four descriptors (standard input, output,
error, control), and a marshalled `(program, argv, environment, cwd, grace_s)`, texts as bytes. On the control socket the keeper writes
one line, `exit CODE`, `signal NUMBER` or `failed ERRNO WHAT`, and closes it when nothing of the command is left; it reads `T` (end the
tree) or the end of the stream (the front is gone).
"""

import contextlib
import ctypes
import marshal
import os
import resource
import select
import signal
import socket
import sys
import time

_SUBREAPER = 36
_POLL_S = 0.02
_LEFT_BEHIND_GRACE_S = 0.2
_HEADER_BYTES = 8


def _become_subreaper() -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0)


def _descendants() -> list[int]:
    """Every process below this one, by the parent links in /proc; empty where there is no /proc."""
    children: dict[int, list[int]] = {}
    try:
        entries = os.listdir("/proc")  # noqa: PTH208 - runs once a command: pathlib costs milliseconds
    except OSError:
        return []
    for entry in entries:
        if not entry.isdigit():
            continue
        try:
            with open(f"/proc/{entry}/stat", "rb") as stat:  # noqa: PTH123 - as above
                fields = stat.read().rpartition(b")")[2].split()
        except OSError:
            continue
        children.setdefault(int(fields[1]), []).append(int(entry))
    found: list[int] = []
    pending = [os.getpid()]
    while pending:
        below = children.get(pending.pop(), [])
        found.extend(below)
        pending.extend(below)
    return found


def _send(number: int, group: int) -> None:
    # The group by its number only while it holds its leader's unreaped name; the tree by the links that the kernel keeps.
    for pid in [*_descendants(), -group]:
        try:
            os.kill(pid, number)
        except OSError:
            continue


def _reap() -> bool:
    """Collect what has ended; whether anything is left."""
    while True:
        try:
            pid, _ = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return False
        if pid == 0:
            return True


def _end_tree(group: int, grace_s: float) -> None:
    """SIGTERM, up to `grace_s` seconds, then SIGKILL until nothing is left (at most two seconds more)."""
    if not _reap():
        return
    _send(signal.SIGTERM, group)
    deadline = time.monotonic() + grace_s
    while _reap() and time.monotonic() < deadline:
        time.sleep(_POLL_S)
    deadline = time.monotonic() + 2.0
    while _reap() and time.monotonic() < deadline:
        _send(signal.SIGKILL, group)
        time.sleep(_POLL_S)


def _execute(program: bytes, argv: list[bytes], environment: dict[bytes, bytes], cwd: bytes, control: int) -> None:
    """In the child: become the command, or say why not."""
    what = "cwd"
    try:
        os.setsid()
        for number in (signal.SIGPIPE, signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGCHLD):
            signal.signal(number, signal.SIG_DFL)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if cwd:
            os.chdir(cwd)
        what = "program"
        os.execve(program, argv, environment)
    except OSError as error:
        os.write(control, f"failed {error.errno} {what}\n".encode())
    os._exit(127)


def _detach_output() -> None:
    """Let go of the pipes, so that they end when the command and its children let go."""
    null = os.open(os.devnull, os.O_RDWR)
    for fd in (0, 1, 2):
        os.dup2(null, fd)
    os.close(null)


def _wait(pid: int, control: int) -> int | None:
    """The command's wait status, or None when the front asked for the end or is gone."""
    wake_read, wake_write = os.pipe()
    os.set_blocking(wake_read, False)
    os.set_blocking(wake_write, False)
    signal.set_wakeup_fd(wake_write, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    while True:
        try:
            # Orphans that were handed to this process are collected as they end.
            done, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return None
        if done == pid:
            return status
        if done:
            continue
        ready, _, _ = select.select([control, wake_read], [], [])
        if control in ready:
            return None
        with contextlib.suppress(BlockingIOError):
            os.read(wake_read, 512)


def keep(
    program: bytes, argv: list[bytes], environment: dict[bytes, bytes], cwd: bytes, grace_s: float, control: int
) -> None:
    """Run one command to its end, report it, and leave nothing of it behind."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.set_inheritable(control, False)
    _become_subreaper()
    pid = os.fork()
    if pid == 0:
        _execute(program, argv, environment, cwd, control)
    _detach_output()
    status = _wait(pid, control)
    if status is not None:
        ended = os.waitstatus_to_exitcode(status)
        line = f"exit {ended}\n" if ended >= 0 else f"signal {-ended}\n"
        with contextlib.suppress(OSError):
            os.write(control, line.encode())
    _end_tree(pid, grace_s if status is None else _LEFT_BEHIND_GRACE_S)


def _receive(link: socket.socket) -> tuple[bytes, list[int]] | None:
    """One request and its descriptors; None when the front is gone."""
    header, fds, _, _ = socket.recv_fds(link, _HEADER_BYTES, 4)
    if len(header) < _HEADER_BYTES:
        return None
    wanted = int.from_bytes(header, "big")
    parts: list[bytes] = []
    while wanted:
        part = link.recv(min(wanted, 1 << 20))
        if not part:
            return None
        parts.append(part)
        wanted -= len(part)
    return b"".join(parts), fds


def _start(request: bytes, fds: list[int], link: socket.socket) -> None:
    """Fork a keeper for one request."""
    control = fds[3]
    try:
        pid = os.fork()
    except OSError as error:
        os.write(control, f"failed {error.errno} fork\n".encode())
        return
    if pid:
        return
    try:
        link.close()
        for place, fd in enumerate(fds[:3]):
            os.dup2(fd, place)
        for fd in fds[:3]:
            os.close(fd)
        program, argv, environment, cwd, grace_s = marshal.loads(request)
        keep(program, argv, environment, cwd, grace_s, control)
    finally:
        os._exit(0)


def serve(link: socket.socket) -> None:
    """Take requests until the front is gone."""
    # Keepers are nobody's concern once they are forked: the kernel collects them.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    while True:
        received = _receive(link)
        if received is None:
            return
        request, fds = received
        _start(request, fds, link)
        for fd in fds:
            os.close(fd)


if __name__ == "__main__":
    serve(socket.socket(fileno=int(sys.argv[1])))
