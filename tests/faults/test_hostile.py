"""Hostile code against the real program on both transports: what its call gives, and that the next call on the same server works."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from rawclient import RawClient, text_of
from webserver import WebServer

HARMFUL = Path(__file__).with_name("harmful.py")
THREAD = "\nthreading.Thread(target=time.sleep, args=(600,), daemon=True).start()\n"
CONFIG = """
targets = ["./harmful.py"]
[defaults]
timeout = "2s"
rate_limit = ""
"""


class Server:
    """A server under either transport. `forkable` code has its workers forked; the other is started anew each time."""

    def __init__(self, folder: Path, transport: str, *, forkable: bool = True) -> None:
        (folder / "harmful.py").write_text(HARMFUL.read_text() + ("" if forkable else THREAD))
        (folder / "autotool.toml").write_text(CONFIG)
        self.folder = folder
        self.real: RawClient | WebServer = RawClient(cwd=folder) if transport == "stdio" else WebServer(folder)

    def call(self, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        if isinstance(self.real, RawClient):
            return self.real.call(name, arguments)["result"]
        status, message, _ = self.real.call(name, **arguments)
        assert status == 200, message
        return message["result"]

    @property
    def junk(self) -> list[bytes]:
        """What came on standard output and is no message."""
        return self.real.junk if isinstance(self.real, RawClient) else []


@pytest.fixture(
    scope="module", params=[("stdio", True), ("http", True), ("stdio", False)], ids=["stdio", "http", "stdio-anew"]
)
def server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    transport, forkable = request.param
    server = Server(tmp_path_factory.mktemp("hostile"), transport, forkable=forkable)
    with server.real:
        yield server


TIMEOUT = "time limit of 2 s"
FAULTS: list[tuple[str, dict[str, Any], bool, str]] = [
    ("prints_to_fd_1", {"to": "descriptor"}, False, "written"),
    ("prints_to_fd_1", {"to": "original"}, False, "written"),
    ("prints_to_fd_1", {"to": "child"}, False, "written"),
    ("prints_to_fd_1", {"to": "c"}, False, "written"),
    ("prints_to_fd_1", {"to": "copy"}, False, "written"),
    ("closes_streams", {"how": "descriptors"}, False, "closed"),
    ("closes_streams", {"how": "objects"}, False, "closed"),
    ("prints_forever", {}, True, TIMEOUT),
    ("writes_forever", {}, True, TIMEOUT),
    ("yields_forever", {}, False, "truncated"),
    ("yields_forever_async", {}, False, "truncated"),
    ("leave", {}, False, "said before leaving"),
    ("leave", {"code": 4}, True, "sys.exit(4)"),
    ("leave_async", {}, False, "said before leaving"),
    ("leave_async", {"code": 4}, True, "sys.exit(4)"),
    ("die", {}, True, "exited with code 3"),
    ("die_async", {}, True, "exited with code 3"),
    ("crash", {}, True, "SIGSEGV"),
    ("killed", {}, True, "SIGKILL"),
    ("forks", {}, False, "parent"),
    ("forks_async", {}, False, "parent"),
    ("forks_and_raises", {}, False, "parent"),
    ("alarm_while_running", {}, True, "SIGALRM"),
    ("alarm_left_behind", {}, False, "set"),
    ("alarm_handled", {}, True, "TimeoutError: the alarm went off"),
    ("hang", {"s": 30}, True, TIMEOUT),
    ("wait", {"s": 30}, True, TIMEOUT),
    ("stubborn", {"s": 30}, True, TIMEOUT),
    ("loops_forever", {}, True, TIMEOUT),
    ("blocks_forever", {}, True, TIMEOUT),
    ("recurses", {}, True, "RecursionError"),
    ("recurses_without_limit", {}, True, ""),
    ("returns_deep", {}, True, "cannot be sent as JSON"),
    ("returns_cycle", {}, True, "cannot be sent as JSON"),
    ("returns_100_mb", {"kind": "text"}, False, "truncated"),
    ("returns_100_mb", {"kind": "bytes"}, True, "more than can be sent"),
    ("returns_100_mb", {"kind": "list"}, False, "truncated"),
    ("returns_100_mb", {"kind": "dict"}, False, "truncated"),
    ("returns_hostile", {}, True, "RuntimeError"),
    ("returns_surrogate", {}, False, "caf\ufffd.txt"),
    ("patches_json", {}, False, "patched"),
    ("patches_time", {}, True, "exited with code 0"),
    ("changes_settings", {}, False, "changed"),
    ("changes_folder", {}, False, "gone"),
    ("replaces_stdout", {}, False, "replaced"),
    ("breaks_logging", {}, False, "broken"),
    ("nests_a_loop", {}, True, "RuntimeError"),
    ("stops_the_loop", {}, False, "stopped"),
    ("closes_the_loop", {}, True, "Cannot close a running event loop"),
    ("cancels_everything", {}, True, "cancelled"),
    ("loop_in_a_coroutine", {}, True, "RuntimeError"),
    ("runs_a_loop", {}, False, "late"),
    ("sets_a_loop", {}, False, "set"),
    ("leaves_threads", {}, False, "left"),
    ("leaves_threads", {"daemon": False}, False, "left"),
    ("thread_raises", {}, False, "joined"),
    ("leaves_a_task", {}, False, "left"),
    ("leaves_a_process", {}, False, "left"),
    ("exhausts_memory", {}, True, "MemoryError"),
]
RAISED = {
    "SystemExit": "sys.exit(3)",
    "KeyboardInterrupt": "KeyboardInterrupt: stop",
    "CancelledError": "CancelledError",
    "Base": "Base: down",
    "RecursionError": "RecursionError: too deep",
    "MemoryError": "MemoryError",
    "GeneratorExit": "GeneratorExit",
    "StopIteration": "StopIteration",
    "StopAsyncIteration": "StopAsyncIteration",
    "TimeoutError": "TimeoutError: slow",
    "ExceptionGroup": "- ValueError: a",
    "BaseExceptionGroup": "- KeyboardInterrupt: a",
    "Unspeakable": "Unspeakable",
    "Worse": "Worse",
    "surrogate": "half \ufffd",
    "bytes": "ValueError",
    "long": "… (cut)",
}
WAYS = ("throws", "throws_async", "throws_in_generator", "throws_in_async_generator")


def named(fault: tuple[str, dict[str, Any], bool, str]) -> str:
    return "-".join([fault[0], *map(str, fault[1].values())])


def check(server: Server, name: str, arguments: dict[str, Any], is_error: bool, said: str) -> None:
    before = server.call("state", {})["structuredContent"]
    result = server.call(name, arguments)
    assert (result["isError"], said in text_of(result)) == (is_error, True), text_of(result)[:2000]
    assert "Traceback" not in text_of(result)
    assert len(json.dumps(result)) < 5_000_000
    if name == "blocks_forever":
        # A call that comes between the time limit and the replacement of the worker waits in the blocked loop.
        server.call("ok", {})
    for _ in range(2):
        following = server.call("ok", {})
        assert not following["isError"], text_of(following)
    assert server.call("state", {})["structuredContent"] == before
    assert server.junk == []


@pytest.mark.parametrize("fault", FAULTS, ids=named)
def test_a_fault_costs_its_own_call_only(fault: tuple[str, dict[str, Any], bool, str], server: Server) -> None:
    check(server, *fault)


@pytest.mark.parametrize("kind", RAISED)
@pytest.mark.parametrize("way", WAYS)
def test_whatever_is_raised_is_a_tool_error(way: str, kind: str, server: Server) -> None:
    # What a generator may not raise, Python turns into a `RuntimeError`.
    is_turned = "generator" in way and kind in ("StopIteration", "StopAsyncIteration")
    check(server, way, {"kind": kind}, True, "RuntimeError" if is_turned and "async" in way else RAISED[kind])


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
