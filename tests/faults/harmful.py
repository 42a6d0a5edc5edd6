"""Functions that harm the process they run in, or end in a way that nobody expects. Served by `test_hostile`."""

import asyncio
import ctypes
import faulthandler
import json
import locale
import logging
import os
import signal
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import AsyncIterator, Iterator
from typing import Any, Literal

COUNT = 0


def ok() -> int:
    """Count."""
    global COUNT
    COUNT += 1
    return COUNT


def state() -> dict[str, Any]:
    """Tell what the process looks like."""
    return {
        "cwd": os.getcwd(),
        "sticky": os.environ.get("STICKY", ""),
        "separator": locale.localeconv()["decimal_point"],
        "recursion": sys.getrecursionlimit() > 500,
        "streams": [type(sys.stdout).__name__, type(sys.stderr).__name__],
        "umask": os.umask(0o22),
    }


# Output


def prints_to_fd_1(to: Literal["descriptor", "original", "child", "c", "copy"]) -> str:
    """Write past `print`."""
    if to == "descriptor":
        os.write(1, b"raw words\n")
    elif to == "original":
        sys.__stdout__.write("raw words\n")
    elif to == "child":
        subprocess.run(["echo", "raw words"], check=True)
    elif to == "copy":
        with os.fdopen(os.dup(1), "w") as file:
            file.write("raw words\n")
    else:
        libc = ctypes.CDLL(None)
        libc.puts(b"raw words")
        libc.fflush(None)
    return "written"


def closes_streams(how: Literal["descriptors", "objects"]) -> str:
    """Close the standard streams."""
    if how == "descriptors":
        for fd in (0, 1, 2):
            os.close(fd)
    else:
        sys.stdout.close()
        sys.stderr.close()
        sys.stdin.close()
    return "closed"


def prints_forever() -> None:
    """Print and print."""
    while True:
        print("x" * 1000)


def writes_forever() -> None:
    """Write past `print`, for ever."""
    while True:
        os.write(1, b"y" * 4096)


def yields_forever() -> Iterator[str]:
    """Yield and yield."""
    while True:
        yield "z" * 100


async def yields_forever_async() -> AsyncIterator[str]:
    """Yield and yield."""
    while True:
        yield "z" * 100


# Ends


def leave(code: int = 0) -> str:
    """Leave."""
    print("said before leaving")
    sys.exit(code)


async def leave_async(code: int = 0) -> str:
    """Leave."""
    print("said before leaving")
    sys.exit(code)


def die() -> None:
    """Die."""
    os._exit(3)


async def die_async() -> None:
    """Die."""
    os._exit(3)


def crash() -> None:
    """Crash with the stacks told."""
    faulthandler.enable()
    ctypes.string_at(0)


def killed() -> None:
    """Be killed."""
    os.kill(os.getpid(), signal.SIGKILL)


def forks() -> str:
    """Fork, and come back twice."""
    pid = os.fork()
    if pid:
        os.waitpid(pid, 0)
    return "parent" if pid else "child"


async def forks_async() -> str:
    """Fork, and come back twice."""
    pid = os.fork()
    if pid:
        os.waitpid(pid, 0)
    return "parent" if pid else "child"


def forks_and_raises() -> str:
    """Fork, and fail in the child."""
    pid = os.fork()
    if not pid:
        raise ValueError("child")
    os.waitpid(pid, 0)
    return "parent"


def alarm_while_running() -> None:
    """Have a signal sent."""
    signal.alarm(1)
    time.sleep(30)


def alarm_left_behind() -> str:
    """Have a signal sent later."""
    signal.setitimer(signal.ITIMER_REAL, 0.2)
    return "set"


async def alarm_handled() -> str:
    """Handle a signal by an exception, as programs do that want a time limit."""

    def stop(*_: object) -> None:
        raise TimeoutError("the alarm went off")

    before = signal.signal(signal.SIGALRM, stop)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        time.sleep(5)
    finally:
        signal.signal(signal.SIGALRM, before)
    return "slept"


# Time


def hang(s: float) -> str:
    """Hang."""
    time.sleep(s)
    return "late"


async def wait(s: float) -> str:
    """Wait."""
    await asyncio.sleep(s)
    return "late"


async def stubborn(s: float) -> str:
    """Wait, whatever happens."""
    end = time.monotonic() + s
    while time.monotonic() < end:
        try:
            await asyncio.sleep(0.1)
        except asyncio.CancelledError:
            pass
    return "late"


def loops_forever() -> None:
    """Compute for ever."""
    while True:
        pass


async def blocks_forever() -> None:
    """Block the loop."""
    while True:
        pass


# Results


def recurses(n: int = 0) -> int:
    """Recurse."""
    return recurses(n + 1)


def recurses_without_limit(n: int = 0) -> int:
    """Recurse with the limit lifted."""
    sys.setrecursionlimit(10**9)
    return json.loads("[" * 10**6)


def returns_deep() -> Any:
    """Return 10,000 levels."""
    found: list[Any] = []
    for _ in range(10_000):
        found = [found]
    return found


def returns_cycle() -> Any:
    """Return what contains itself."""
    found: dict[str, Any] = {}
    found["self"] = found
    return found


def returns_100_mb(kind: Literal["text", "bytes", "list", "dict"]) -> Any:
    """Return too much."""
    if kind == "text":
        return "a" * 100_000_000
    if kind == "bytes":
        return b"\0" * 100_000_000
    if kind == "list":
        return ["a" * 1000] * 100_000
    return {str(number): "a" * 1000 for number in range(100_000)}


class Hostile:
    """Cannot be looked at."""

    def __repr__(self) -> str:
        raise RuntimeError("no")

    def __getattribute__(self, name: str) -> Any:
        raise RuntimeError("no")


def returns_hostile() -> Any:
    """Return what cannot be looked at."""
    return Hostile()


def returns_surrogate() -> str:
    """Return half a character."""
    return os.fsdecode(b"caf\xe9.txt")


# What all share


def patches_json() -> str:
    """Break the json module for everybody."""
    json.dumps = json.loads = None  # type: ignore[assignment]
    json.JSONEncoder.default = None  # type: ignore[assignment]
    return "patched"


def patches_time() -> str:
    """Break what the loop itself goes by."""
    time.monotonic = None  # type: ignore[assignment]
    os.write = os.getpid = os._exit = os.waitpid = None  # type: ignore[assignment]
    return "patched"


async def changes_settings() -> str:
    """Change what the interpreter shares."""
    sys.setrecursionlimit(60)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    threading.excepthook = None  # type: ignore[assignment]
    os.environ["STICKY"] = "1"
    os.chdir("/")
    os.umask(0o777)
    sys.stdout = sys.stderr = None  # type: ignore[assignment]
    sys.__stdout__ = sys.__stderr__ = None  # type: ignore[assignment, misc]
    locale.setlocale(locale.LC_ALL, "C.UTF-8")
    return "changed"


def changes_folder() -> str:
    """Stand in a folder that is no more."""
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
    return "gone"


def replaces_stdout() -> str:
    """Print into a stream of its own, and leave it there."""
    import io

    sys.stdout = io.StringIO()
    print("into the void")
    return "replaced"


def breaks_logging() -> str:
    """Take logging and warnings for itself."""
    logging.disable(logging.CRITICAL)
    logging.getLogger().handlers[:] = []
    logging.raiseExceptions = False
    warnings.showwarning = None  # type: ignore[assignment]
    warnings.simplefilter("error")
    return "broken"


# Loops, threads, processes


async def nests_a_loop() -> str:
    """Run the running loop."""
    asyncio.get_event_loop().run_until_complete(wait(0))
    return "nested"


async def stops_the_loop() -> str:
    """Stop the loop that others run in."""
    asyncio.get_running_loop().stop()
    await asyncio.sleep(0)
    return "stopped"


async def closes_the_loop() -> str:
    """Close the loop that others run in."""
    asyncio.get_running_loop().close()
    return "closed"


async def cancels_everything() -> str:
    """Cancel every task there is."""
    for task in asyncio.all_tasks():
        task.cancel()
    await asyncio.sleep(0)
    return "cancelled"


async def loop_in_a_coroutine() -> str:
    """Run a loop inside a loop."""
    return asyncio.run(wait(0))


def runs_a_loop() -> str:
    """Run a loop of its own."""
    return asyncio.run(wait(0))


def sets_a_loop() -> str:
    """Leave a closed loop behind."""
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    loop.run_until_complete(wait(0))
    loop.close()
    return "set"


def leaves_threads(daemon: bool = True) -> str:
    """Leave threads behind."""
    for _ in range(3):
        threading.Thread(target=time.sleep, args=(61.5,), daemon=daemon).start()
    return "left"


def thread_raises() -> str:
    """Leave a thread that fails."""

    def fail() -> None:
        raise SystemExit("from a thread")

    thread = threading.Thread(target=fail)
    thread.start()
    thread.join()
    return "joined"


async def leaves_a_task() -> str:
    """Leave a task behind."""
    asyncio.get_running_loop().create_task(fail_later())
    return "left"


async def fail_later() -> None:
    """Fail a little later."""
    await asyncio.sleep(0.01)
    raise ValueError("in a task that nobody waits for")


def leaves_a_process() -> str:
    """Leave a process behind that holds the standard streams."""
    subprocess.Popen(["sleep", "61.5"])
    return "left"


# Exceptions


class Base(BaseException):
    """Not an `Exception`."""


class Unspeakable(Exception):
    """Cannot be printed."""

    def __str__(self) -> str:
        raise RuntimeError("no")

    __repr__ = __str__


class Worse(BaseException):
    """Cannot be printed, in a way that is not an `Exception` either."""

    def __str__(self) -> str:
        raise KeyboardInterrupt

    __repr__ = __str__


def _make(kind: str) -> BaseException:
    made: dict[str, BaseException] = {
        "SystemExit": SystemExit(3),
        "KeyboardInterrupt": KeyboardInterrupt("stop"),
        "CancelledError": asyncio.CancelledError(),
        "Base": Base("down"),
        "RecursionError": RecursionError("too deep"),
        "MemoryError": MemoryError(),
        "GeneratorExit": GeneratorExit(),
        "StopIteration": StopIteration(1),
        "StopAsyncIteration": StopAsyncIteration(),
        "TimeoutError": TimeoutError("slow"),
        "ExceptionGroup": ExceptionGroup("several", [ValueError("a"), ExceptionGroup("more", [OSError("b")])]),
        "BaseExceptionGroup": BaseExceptionGroup("several", [KeyboardInterrupt("a"), SystemExit(1)]),
        "Unspeakable": Unspeakable(),
        "Worse": Worse(),
        "surrogate": ValueError("half \udce9"),
        "bytes": ValueError(b"\xff"),
        "long": ValueError("x" * 10_000_000),
    }
    return made[kind]


def throws(kind: str) -> None:
    """Raise it."""
    raise _make(kind)


async def throws_async(kind: str) -> None:
    """Raise it in the loop."""
    await asyncio.sleep(0)
    raise _make(kind)


def throws_in_generator(kind: str) -> Iterator[int]:
    """Raise it after an item."""
    yield 1
    raise _make(kind)


async def throws_in_async_generator(kind: str) -> AsyncIterator[int]:
    """Raise it after an item."""
    yield 1
    raise _make(kind)


def exhausts_memory() -> int:
    """Ask for more memory than there is."""
    return len(bytearray(1 << 60))
