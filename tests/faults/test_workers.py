"""Workers: how many, what they see of the environment, what they may take, and how one is replaced."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest
from rawclient import RawClient, text_of
from webserver import WebServer

CODE = """
import os, signal, time

def ok() -> int:
    "Who runs this."
    return os.getpid()

def nap(s: float) -> int:
    "Who runs this, after a while."
    time.sleep(s)
    return os.getpid()

def environment() -> dict:
    "Its own environment, and what the kernel shows of it."
    shown = open("/proc/self/environ", "rb").read()
    return {"own": sorted(os.environ), "shown": sorted(line.partition(b"=")[0].decode() for line in shown.split(b"\\0") if line)}

def secret() -> str:
    "The key."
    return os.environ["GIVEN"]

def take(megabytes: int) -> int:
    "Take memory."
    return len(bytearray(megabytes * 1_000_000))

def burn(s: float) -> str:
    "Burn CPU time."
    end = time.process_time() + s
    while time.process_time() < end:
        pass
    return "burnt"

def open_files(count: int) -> int:
    "Open many files."
    files = [open(os.devnull) for _ in range(count)]
    return len(files)

def children(count: int) -> int:
    "Start processes that wait, and end them."
    pids = []
    try:
        for _ in range(count):
            pid = os.fork()
            if pid == 0:
                time.sleep(60)
                os._exit(0)
            pids.append(pid)
    finally:
        for pid in pids:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
    return len(pids)
"""
THREAD = "import threading; threading.Thread(target=time.sleep, args=(600,), daemon=True).start()\n"
"""Makes the module's process one that cannot be forked."""


@pytest.fixture(params=["forked", "started anew"])
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    (tmp_path / "code.py").write_text(CODE + (THREAD if request.param == "started anew" else ""))
    return tmp_path


def configure(folder: Path, text: str, targets: str = '["./code.py"]') -> Path:
    (folder / "autotool.toml").write_text(f"targets = {targets}\n{text}")
    return folder


def value(client: RawClient, tool: str, **arguments: Any) -> Any:
    result = client.call(tool, arguments)["result"]
    assert not result["isError"], text_of(result)
    return result["structuredContent"]


def test_calls_are_spread_over_as_many_workers_as_are_wanted(folder: Path) -> None:
    with RawClient(cwd=configure(folder, "[worker]\nworkers = 3\n")) as client:
        # Those that cannot be forked come one after another, while the first answers.
        eventually(lambda: len({value(client, "ok") for _ in range(3)}) == 3)
        ids = [client.start("tools/call", name="nap", arguments={"s": 0.5}) for _ in range(6)]
        pids = [answer["result"]["structuredContent"] for one in ids if (answer := client.answer(one, 20))]
    assert sorted(pids.count(pid) for pid in set(pids)) == [2, 2, 2]


def test_one_worker_runs_all_calls_by_default(folder: Path) -> None:
    with RawClient(cwd=configure(folder, "")) as client:
        assert len({value(client, "ok") for _ in range(5)}) == 1


def test_a_spare_takes_the_place_of_a_worker_that_cannot_be_forked(tmp_path: Path) -> None:
    slow = "import time\ntime.sleep(1.5)\n"
    (tmp_path / "code.py").write_text(slow + CODE + THREAD)
    with RawClient("./code.py", cwd=tmp_path) as client:
        first = value(client, "ok")
        server = psutil.Process(client.process.pid)
        # Whatever has imported the code has its thread.
        spare = eventually(lambda: [one.pid for one in server.children() if one.pid != first and one.num_threads() > 1])
        psutil.Process(first).kill()
        # A call that was on its way when the worker died is an error.
        found = eventually(lambda: client.call("ok", {})["result"].get("structuredContent"))
    assert [found] == spare


def eventually(look: Callable[[], Any]) -> Any:
    deadline = time.monotonic() + 15
    while not (found := look()):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    return found


SECRETS = {
    "AUTOTOOL_BEARER": "hunter2-hunter2",
    "CURSOR_KEY": "k" * 40,
    "STATE_KEY": "s" * 40,
    "MINE": "1",
    "OTHER": "2",
}
OWN_KEYS = '[server]\nkey = { variable = "CURSOR_KEY" }\n[approval]\nkey = { variable = "STATE_KEY" }\n'


def test_code_gets_the_environment_without_the_servers_own_secrets(folder: Path) -> None:
    with RawClient(cwd=configure(folder, OWN_KEYS), env=SECRETS) as client:
        seen = value(client, "environment")
    assert {"MINE", "OTHER", "PATH"} <= set(seen["own"])
    for names in seen.values():
        assert {"AUTOTOOL_BEARER", "CURSOR_KEY", "STATE_KEY"}.isdisjoint(names)


def test_an_allowlist_of_variables_leaves_nothing_else(folder: Path) -> None:
    text = '[worker]\npass_env = ["MI*"]\nenv.GIVEN = { variable = "OTHER" }\nenv.PLAIN = "yes"\n'
    with RawClient(cwd=configure(folder, text), env={**SECRETS, "OTHER": "abcdefgh-12345"}) as client:
        seen = value(client, "environment")
        assert "[redacted" in text_of(client.call("secret")["result"])
    assert {"MINE", "GIVEN", "PLAIN", "PATH"} <= set(seen["own"])
    for names in seen.values():
        assert {"AUTOTOOL_BEARER", "CURSOR_KEY", "OTHER"}.isdisjoint(names)


LIMITED = [
    ("memory = '1GB'", "take", {"megabytes": 100}, {"megabytes": 3000}, "MemoryError"),
    ("cpu = '1s'", "burn", {"s": 0.1}, {"s": 30.0}, "more CPU time than it may"),
    ("open_files = 100", "open_files", {"count": 20}, {"count": 200}, "Too many open files"),
]


@pytest.fixture(params=["stdio", "http"])
def transport(request: pytest.FixtureRequest) -> str:
    return request.param


class Web:
    """Calls over HTTP, answered as `RawClient` answers them."""

    def __init__(self, folder: Path) -> None:
        self._server = WebServer(folder)

    def call(self, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
        return self._server.call(tool, **arguments)[1]

    def __enter__(self) -> Web:
        return self

    def __exit__(self, *_: object) -> None:
        self._server.__exit__()


@pytest.mark.parametrize(("limit", "tool", "little", "much", "said"), LIMITED, ids=[one[1] for one in LIMITED])
def test_what_a_worker_may_take_is_bounded(
    limit: str, tool: str, little: dict[str, Any], much: dict[str, Any], said: str, folder: Path, transport: str
) -> None:
    configure(folder, f"[worker]\n{limit}\n")
    with RawClient(cwd=folder) if transport == "stdio" else Web(folder) as client:
        assert not client.call(tool, little)["result"]["isError"]
        result = client.call(tool, much)["result"]
        assert result["isError"]
        assert said in text_of(result)
        for _ in range(3):
            assert not client.call(tool, little)["result"]["isError"]


def test_cpu_time_of_earlier_calls_is_not_held_against_later_ones(folder: Path) -> None:
    with RawClient(cwd=configure(folder, "[worker]\ncpu = '1s'\n")) as client:
        pids = {value(client, "ok")}
        for _ in range(3):
            value(client, "burn", s=0.7)
            pids.add(value(client, "ok"))
    assert len(pids) == 1


@pytest.mark.skipif(os.getuid() == 0, reason="the kernel does not hold root to a number of processes")
def test_the_number_of_processes_is_bounded(folder: Path) -> None:
    with RawClient(cwd=configure(folder, "[worker]\nprocesses = 40\n")) as client:
        assert value(client, "children", count=5) == 5
        result = client.call("children", {"count": 60})["result"]
        assert result["isError"]
        assert "BlockingIOError" in text_of(result)
        assert value(client, "children", count=5) == 5


def test_sets_of_targets_have_workers_of_their_own(folder: Path) -> None:
    (folder / "plugin.py").write_text("import os\ndef where() -> int:\n    'Who runs this.'\n    return os.getpid()\n")
    text = '[worker]\nworkers = 1\n[workers.plugins]\ntargets = ["./plugin.py"]\npass_env = []\n'
    with RawClient(cwd=configure(folder, text)) as client:
        assert value(client, "ok") != value(client, "where")


def test_a_set_without_targets_is_an_error(tmp_path: Path) -> None:
    configure(tmp_path, "[workers.plugins]\nmemory = '1GB'\n", "[]")
    with RawClient(cwd=tmp_path) as client:
        assert client.wait(10) == 2
        assert "`[workers.plugins]` has no targets" in client.stderr
