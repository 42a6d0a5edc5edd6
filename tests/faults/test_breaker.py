"""A tool that ends workers costs its own calls only, and is switched off when it does so again and again."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from rawclient import RawClient, text_of
from webserver import WebServer

CODE = """
import ctypes, os, signal, time

def leave(code: int = 7) -> None:
    "End the process."
    os._exit(code)

def crash() -> None:
    "Read what is not there."
    ctypes.string_at(0)

def killed() -> None:
    "Be killed."
    os.kill(os.getpid(), signal.SIGKILL)

def sometimes(die: bool) -> str:
    "End the process, or not."
    if die:
        os._exit(1)
    return "well"

def beside(marker: str) -> str:
    "Wait for the end."
    open(marker, "w").close()
    time.sleep(60)
    return "late"

def leave_when(marker: str) -> None:
    "End the process when somebody else runs in it."
    while not os.path.exists(marker):
        time.sleep(0.01)
    os.unlink(marker)
    os._exit(7)

def ok() -> int:
    "Who runs this."
    return os.getpid()
"""
DEATHS = {"leave": "exited with code 7", "crash": "signal 11 (SIGSEGV)", "killed": "signal 9 (SIGKILL)"}
OFF = "switched off for a while"


def configured(folder: Path, worker: str) -> Path:
    (folder / "code.py").write_text(CODE)
    (folder / "autotool.toml").write_text(
        f'targets = ["./code.py"]\n[defaults]\napproval = "none"\nrate_limit = ""\n[worker]\n{worker}\n'
    )
    return folder


class Client:
    """Calls over either transport."""

    def __init__(self, folder: Path, transport: str) -> None:
        self.real: RawClient | WebServer = RawClient(cwd=folder) if transport == "stdio" else WebServer(folder)

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        if isinstance(self.real, RawClient):
            return self.real.call(tool, arguments)["result"]
        return self.real.call(tool, **arguments)[1]["result"]

    def says(self, word: str) -> bool:
        return self.real.says(word)

    @property
    def log(self) -> str:
        return self.real.stderr if isinstance(self.real, RawClient) else self.real.said


@pytest.fixture(params=["stdio", "http"])
def transport(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def off(tmp_path: Path, transport: str) -> Iterator[Client]:
    """A server whose tools are switched off after three deaths."""
    client = Client(configured(tmp_path, "deaths = 3\npause = '1h'"), transport)
    with client.real:
        yield client


@pytest.mark.parametrize("how", DEATHS)
def test_every_death_of_a_worker_is_answered_by_its_cause_and_costs_no_other_call(
    how: str, transport: str, tmp_path: Path
) -> None:
    client = Client(configured(tmp_path, "deaths = 0"), transport)
    with client.real:
        pids: set[int] = set()
        for _ in range(25):
            result = client.call(how)
            assert result["isError"]
            assert DEATHS[how] in text_of(result)
            after = client.call("ok")
            assert not after["isError"], text_of(after)
            pids.add(after["structuredContent"])
        assert len(pids) == 25
        assert OFF not in client.log


def test_a_tool_that_ends_workers_is_switched_off_alone(off: Client) -> None:
    for _ in range(3):
        assert "exited with code 7" in text_of(off.call("leave"))
    pid = off.call("ok")["structuredContent"]
    for _ in range(3):
        refused = off.call("leave")
        assert refused["isError"]
        assert OFF in text_of(refused)
        assert refused["_meta"]["retryAfterMs"] > 3_000_000
    assert "SIGSEGV" in text_of(off.call("crash"))
    assert off.call("ok")["structuredContent"] != pid
    assert off.says("switched off for 3600 s: it has ended 3 workers within a minute")
    assert off.log.count("is switched off") == 1


def test_a_tool_that_is_tried_again_is_off_after_one_death_or_on_after_one_good_end(tmp_path: Path) -> None:
    with RawClient(cwd=configured(tmp_path, "deaths = 2\npause = '0.5s'")) as client:

        def tried(die: bool) -> str:
            while OFF in (said := text_of(client.call("sometimes", {"die": die})["result"])):
                time.sleep(0.05)
            return said

        for _ in range(3):
            assert "exited with code 1" in tried(True)
        assert client.says("switched off again")
        assert tried(False) == "well"
        times = client.stderr.count("is switched off")
        assert "exited with code 1" in tried(True)
        assert client.call("ok")["result"]["isError"] is False
        assert client.stderr.count("is switched off") == times


def test_a_death_is_held_against_the_tool_that_is_known_for_it(tmp_path: Path) -> None:
    marker = str(tmp_path / "marker")
    Path(marker).touch()
    with RawClient(cwd=configured(tmp_path, "deaths = 3\npause = '1h'")) as client:
        assert "exited with code 7" in text_of(client.call("leave_when", {"marker": marker})["result"])
        for _ in range(2):
            ids = [
                client.start("tools/call", name=name, arguments={"marker": marker}) for name in ("beside", "leave_when")
            ]
            for one in ids:
                answer = client.answer(one, 20)
                assert answer is not None
                assert "exited with code 7" in text_of(answer["result"])
        assert OFF in text_of(client.call("leave_when", {"marker": marker})["result"])
        assert client.stderr.count("is switched off") == 1
