"""Keeps one command on a leash. Run as a script between the front and the command, never imported.

A command may start children, put them in sessions of their own and exit; and the front may be killed
before it can tidy up. So a command is started by this small process, which becomes the parent of
every orphan below it (Linux `PR_SET_CHILD_SUBREAPER`), and which ends the whole tree when the command has
ended, when the front says so, or when the front is gone. Elsewhere it ends the process group.

Usage: `python -I -S keeper.py CONTROL_FD GRACE_S PROGRAM ARG...`; PROGRAM is an absolute path, ARG... its argv from
argv[0] on. On the control socket it writes one line, `exit CODE`, `signal NUMBER` or `failed ERRNO`; it reads one byte
`T` (end the tree) or the end of the stream (the front is gone).
"""

import contextlib
import ctypes
import os
import select
import signal
import sys
import time

_SUBREAPER = 36
_POLL_S = 0.02


def _become_subreaper() -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0)


def _descendants() -> list[int]:
    """Every process below this one, by the parent links in /proc; empty where there is no /proc."""
    children: dict[int, list[int]] = {}
    try:
        entries = os.listdir("/proc")  # noqa: PTH208 - a script that starts once a call: pathlib costs milliseconds
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


def _start(program: str, argv: list[str], control: int) -> int:
    """Fork and execute; the child's errno comes back through the control socket when that fails."""
    pid = os.fork()
    if pid:
        return pid
    try:
        os.setsid()
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        os.execv(program, argv)
    except OSError as error:
        os.write(control, f"failed {error.errno}\n".encode())
    os._exit(127)


def _detach_output() -> None:
    """Let go of the pipes, so that they end when the command and its children let go."""
    null = os.open(os.devnull, os.O_RDWR)
    for fd in (0, 1, 2):
        os.dup2(null, fd)


def _wait(pid: int, control: int) -> int | None:
    """The command's wait status, or None when the front asked for the end or is gone."""
    wake_read, wake_write = os.pipe()
    os.set_blocking(wake_write, False)
    signal.set_wakeup_fd(wake_write, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    while True:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            return status
        ready, _, _ = select.select([control, wake_read], [], [])
        if control in ready:
            return None
        os.read(wake_read, 512)
        # Orphans that were handed to this process are collected as they end.
        try:
            while os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None:
                ended = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
                if ended is None or ended.si_pid == pid:
                    break
                os.waitpid(ended.si_pid, os.WNOHANG)
        except ChildProcessError:
            continue


def main() -> None:
    """Start the command, wait, report, and leave nothing behind."""
    control, grace_s, program, argv = int(sys.argv[1]), float(sys.argv[2]), sys.argv[3], sys.argv[4:]
    os.set_inheritable(control, False)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    _become_subreaper()
    pid = _start(program, argv, control)
    _detach_output()
    status = _wait(pid, control)
    if status is not None:
        ended = os.waitstatus_to_exitcode(status)
        line = f"exit {ended}\n" if ended >= 0 else f"signal {-ended}\n"
        with contextlib.suppress(OSError):
            os.write(control, line.encode())
    _end_tree(pid, grace_s if status is None else 0.2)


if __name__ == "__main__":
    main()
