"""Code that dies, hangs, forks or threads: what its call gives, and that the next call on the same server works."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from rawclient import RawClient, text_of

CODE = """
import asyncio, ctypes, os, signal, sys, threading, time, warnings

COUNT = 0

def ok() -> int:
    "Count."
    global COUNT
    COUNT += 1
    return COUNT

def leave(code: int = 0) -> str:
    "Leave."
    print("said before leaving")
    sys.exit(code)

def die() -> None:
    "Die."
    os._exit(3)

def crash() -> None:
    "Crash."
    ctypes.string_at(0)

def killed() -> None:
    "Be killed."
    os.kill(os.getpid(), signal.SIGKILL)

def hang(s: float) -> str:
    "Hang."
    time.sleep(s)
    return "late"

async def wait(s: float) -> str:
    "Wait."
    await asyncio.sleep(s)
    return "late"

async def stubborn(s: float) -> str:
    "Wait, whatever happens."
    end = time.monotonic() + s
    while time.monotonic() < end:
        try:
            await asyncio.sleep(0.1)
        except asyncio.CancelledError:
            pass
    return "late"

def forks() -> str:
    "Fork."
    pid = os.fork()
    if pid:
        os.waitpid(pid, 0)
    return "parent" if pid else "child"

def interrupts() -> None:
    "Raise what ends programs."
    raise KeyboardInterrupt("stop")

async def cancels() -> None:
    "Raise a cancellation of its own."
    raise asyncio.CancelledError

def recurses() -> None:
    "Recurse."
    recurses()

def unspeakable() -> None:
    "Raise what cannot be printed."
    class Odd(Exception):
        def __str__(self):
            raise RuntimeError
    raise Odd

def group() -> None:
    "Raise several at once."
    raise ExceptionGroup("several", [ValueError("a"), OSError("b")])

def loops() -> str:
    "Run a loop of its own."
    return asyncio.run(wait(0))

def threads() -> str:
    "Leave a thread behind."
    threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
    return "left"

async def settings() -> str:
    "Change what the interpreter shares."
    sys.setrecursionlimit(60)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    threading.excepthook = None
    os.environ["STICKY"] = "1"
    os.chdir("/")
    sys.stdout = sys.stderr = None
    return "changed"

def streams() -> str:
    "Close every standard stream."
    for fd in (0, 1, 2):
        os.close(fd)
    return "closed"
"""

OUTCOMES = [
    ("leave", {}, False, "said before leaving"), ("leave", {"code": 4}, True, "sys.exit(4)"), ("die", {}, True, "exited with code 3"), ("crash", {}, True, "SIGSEGV"),
    ("killed", {}, True, "SIGKILL"), ("hang", {"s": 30}, True, "time limit of 1 s"), ("wait", {"s": 30}, True, "time limit of 1 s"), ("stubborn", {"s": 30}, True, "time limit of 1 s"),
    ("forks", {}, False, "parent"), ("interrupts", {}, True, "KeyboardInterrupt: stop"), ("cancels", {}, True, "CancelledError"), ("recurses", {}, True, "RecursionError"),
    ("unspeakable", {}, True, "Odd"), ("group", {}, True, "- ValueError: a"), ("loops", {}, False, "late"), ("threads", {}, False, "left"), ("settings", {}, False, "changed"),
    ("streams", {}, False, "closed"),
]  # fmt: skip


@pytest.fixture(scope="module", params=["forked", "started anew"])
def client(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RawClient]:
    """One server whose workers are forked, and one whose module starts a thread, so that none can be."""
    folder = tmp_path_factory.mktemp("faults")
    thread = "threading.Thread(target=time.sleep, args=(600,), daemon=True).start()\n"
    (folder / "faults.py").write_text(CODE + (thread if request.param == "started anew" else ""))
    with RawClient("./faults.py", "--timeout", "1s", cwd=folder) as client:
        yield client


@pytest.mark.parametrize(
    ("name", "arguments", "is_error", "said"), OUTCOMES, ids=lambda value: value if isinstance(value, str) else ""
)
def test_a_fault_costs_its_own_call_only(
    name: str, arguments: dict[str, object], is_error: bool, said: str, client: RawClient
) -> None:
    result = client.call(name, arguments)["result"]
    assert (result["isError"], said in text_of(result)) == (is_error, True), text_of(result)
    assert "Traceback" not in text_of(result)
    for _ in range(2):
        following = client.call("ok")["result"]
        assert not following["isError"], text_of(following)
    assert client.junk == []


def test_prints_of_calls_that_overlap_do_not_mix(tmp_path: Path) -> None:
    (tmp_path / "talk.py").write_text(
        "import time\ndef talk(word: str) -> None:\n    'Print a word slowly.'\n    for letter in word:\n        print(letter, end='')\n        time.sleep(0.02)\n"
    )
    with RawClient("./talk.py", cwd=tmp_path) as client:
        words = ["aaaa", "bbbb", "cccc", "dddd"]
        ids = [client.start("tools/call", name="talk", arguments={"word": word}) for word in words]
        answers = [client.answer(one, 10) for one in ids]
    assert [text_of(answer["result"]) for answer in answers if answer] == words


def test_a_full_queue_says_so_at_once(tmp_path: Path) -> None:
    (tmp_path / "slow.py").write_text(
        "import time\ndef nap() -> str:\n    'Nap.'\n    time.sleep(0.4)\n    return 'done'\n"
    )
    (tmp_path / "autotool.toml").write_text('targets = ["./slow.py"]\n[defaults]\nin_flight = 2\nqueue = 2\n')
    with RawClient(cwd=tmp_path) as client:
        ids = [client.start("tools/call", name="nap", arguments={}) for _ in range(6)]
        texts = [text_of(answer["result"]) for answer in (client.answer(one, 10) for one in ids) if answer]
    assert sorted(texts) == ["The server is busy and its queue is full. Try again in 1 s."] * 2 + ["done"] * 4


def test_an_error_output_that_nobody_reads_holds_up_nothing(tmp_path: Path) -> None:
    (tmp_path / "loud.py").write_text(
        "def loud() -> int:\n    'Print a lot.'\n    print('x' * 100_000)\n    return 1\n"
    )
    with RawClient("./loud.py", cwd=tmp_path) as client:
        client.tools()
        client._selector.unregister(client.process.stderr)
        assert [client.call("loud")["result"]["structuredContent"] for _ in range(40)] == [1] * 40
