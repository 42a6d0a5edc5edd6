"""How often, and how many at once: through the real program, on stdio and over HTTP."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from rawclient import META, RawClient, text_of
from webserver import WebServer

CODE = '''
import asyncio
import time
from pathlib import Path

def ok(n: int = 0) -> int:
    """Say the number."""
    with Path("ran.txt").open("a") as file:
        file.write("x")
    return n

async def hold(name: str) -> str:
    """Run until a file with that name is there."""
    Path(f"{name}.began").touch()
    while not Path(name).exists():
        await asyncio.sleep(0.01)
    return name

def sleepy(name: str) -> str:
    """Run until a file with that name is there, holding a thread."""
    Path(f"{name}.began").touch()
    while not Path(name).exists():
        time.sleep(0.01)
    return name
'''


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "shop.py").write_text(CODE)
    return tmp_path


def configured(folder: Path, toml: str) -> Path:
    (folder / "autotool.toml").write_text(f'targets = ["./shop.py"]\n{toml}')
    return folder


def runs(folder: Path) -> int:
    path = folder / "ran.txt"
    return len(path.read_text()) if path.exists() else 0


def wait_for(check: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 20
    while not check():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def began(folder: Path, names: list[str]) -> list[str]:
    return [name for name in names if (folder / f"{name}.began").exists()]


def token(folder: Path, name: str) -> str:
    command = [sys.executable, "-m", "autotool", "token", "new", name]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout.strip()


def at_once(calls: int, call: Callable[[int], Any]) -> list[Any]:
    with ThreadPoolExecutor(calls) as pool:
        return list(pool.map(call, range(calls)))


@pytest.mark.parametrize("legacy", [False, True])
def test_25_calls_at_once_over_stdio_run_10_and_one_more_after_the_wait(folder: Path, legacy: bool) -> None:
    configured(folder, '[defaults]\nrate_limit = "10/3 second"\n')
    with RawClient(cwd=folder, legacy=legacy) as client:
        ids = [client.start("tools/call", name="ok", arguments={"n": n}) for n in range(25)]
        results = [answer["result"] for answer in (client.answer(one, 15) for one in ids) if answer]
        refused = [result for result in results if result["isError"]]
        assert (len(results), len(refused), runs(folder)) == (25, 15, 10)
        waits = [result["_meta"]["retryAfterMs"] for result in refused]
        assert all(0 < wait <= 3000 for wait in waits)
        assert "Retry after" in text_of(refused[0])
        client.answer(object(), max(waits) / 1000)
        assert not client.call("ok")["result"]["isError"]
    assert runs(folder) == 11


def test_25_calls_at_once_over_http_run_10_and_one_more_after_the_wait(folder: Path) -> None:
    configured(folder, '[defaults]\nrate_limit = "10/3 second"\n')
    with WebServer(folder) as server:
        answers = at_once(25, lambda n: server.call("ok", n=n))
        assert {status for status, _, _ in answers} == {200}
        refused = [body["result"] for _, body, _ in answers if body["result"]["isError"]]
        assert (len(refused), runs(folder)) == (15, 10)
        time.sleep(max(result["_meta"]["retryAfterMs"] for result in refused) / 1000)
        assert not server.call("ok")[1]["result"]["isError"]
    assert runs(folder) == 11


def test_a_throttled_caller_gets_429_with_the_id_and_the_time_and_the_others_go_on(folder: Path) -> None:
    configured(folder, '[defaults]\ncaller_rate_limit = "5/minute"\n[auth]\ntokens = "tokens.toml"\n')
    mine, other = token(folder, "a"), token(folder, "b")
    with WebServer(folder) as server:
        answers = at_once(12, lambda n: server.call("ok", token=mine, request_id=f"call-{n}"))
        assert sorted(status for status, _, _ in answers) == [200] * 5 + [429] * 7
        for number, (status, body, headers) in enumerate(answers):
            if status == 200:
                continue
            assert body["id"] == f"call-{number}"
            assert not -32768 <= body["error"]["code"] <= -32000
            wait_ms = body["error"]["data"]["retryAfterMs"]
            assert 0 < wait_ms <= 60_000
            assert int(headers["retry-after"]) == -(-wait_ms // 1000)
        status, body, headers = server.post("tools/list", {}, token=mine, request_id=7)
        assert (status, body["id"], "retry-after" in headers) == (429, 7, True)
        assert [server.call("ok", token=other)[0] for _ in range(5)] == [200] * 5
        assert server.call("ok", token=other)[0] == 429
    assert runs(folder) == 10


def test_over_stdio_a_throttled_caller_gets_a_tool_error_and_an_error_for_lists(folder: Path) -> None:
    configured(folder, '[defaults]\ncaller_rate_limit = "3/minute"\n')
    with RawClient(cwd=folder) as client:
        assert [client.call("ok")["result"]["isError"] for _ in range(4)] == [False] * 3 + [True]
        result = client.call("ok")["result"]
        assert result["_meta"]["retryAfterMs"] > 0
        assert "Too many requests" in text_of(result)
        error = client.request("tools/list")["error"]
        assert error["data"]["retryAfterMs"] > 0
        assert client.request("server/discover")["result"]["supportedVersions"] == ["2026-07-28"]


@pytest.mark.parametrize("spent", ["list", "unknown", "arguments"])
def test_lists_and_refused_calls_count_against_the_caller(folder: Path, spent: str) -> None:
    configured(folder, '[defaults]\ncaller_rate_limit = "3/minute"\n')
    with RawClient(cwd=folder) as client:
        for _ in range(3):
            if spent == "list":
                client.tools()
            elif spent == "unknown":
                assert client.call("nothing")["error"]["code"] == -32602
            else:
                assert client.call("ok", {"n": "no number"})["result"]["isError"]
        assert "Too many requests" in text_of(client.call("ok")["result"])
    assert runs(folder) == 0


def test_all_callers_together_have_a_limit_too(folder: Path) -> None:
    configured(folder, '[defaults]\nglobal_rate_limit = "4/minute"\n[auth]\ntokens = "tokens.toml"\n')
    callers = [token(folder, "a"), token(folder, "b")]
    with WebServer(folder) as server:
        answers = [server.call("ok", token=callers[n % 2]) for n in range(7)]
    assert [body["result"]["isError"] for _, body, _ in answers] == [False] * 4 + [True] * 3
    assert answers[-1][1]["result"]["_meta"]["retryAfterMs"] > 0
    assert runs(folder) == 4


def test_a_throttled_call_is_in_the_audit_trail(folder: Path) -> None:
    configured(folder, '[defaults]\ncaller_rate_limit = "1/minute"\n[audit]\npath = "audit.jsonl"\n')
    with RawClient(cwd=folder) as client:
        for _ in range(2):
            client.call("ok")
    lines = [json.loads(line) for line in (folder / "audit.jsonl").read_text().splitlines()]
    ends = [(line["outcome"], line["decisions"]["rate"]) for line in lines if line["event"] != "start"]
    assert ends == [("ok", "within"), ("refused", "over")]


def test_a_flood_of_bad_tokens_gets_429_with_the_id(folder: Path) -> None:
    """S39: a flood without authentication."""
    configured(folder, '[auth]\ntokens = "tokens.toml"\n')
    token(folder, "a")
    with WebServer(folder) as server:
        answers = [server.call("ok", token="wrong", request_id=n) for n in range(12)]
    assert [status for status, _, _ in answers] == [401] * 10 + [429] * 2
    _, body, headers = answers[-1]
    assert body["id"] == 11
    assert int(headers["retry-after"]) == -(-body["error"]["data"]["retryAfterMs"] // 1000)


@pytest.mark.parametrize("tool", ["hold", "sleepy"])
def test_one_tool_leaves_room_for_the_others(folder: Path, tool: str) -> None:
    configured(folder, "")
    with RawClient(cwd=folder) as client:
        names = [f"h{n}" for n in range(12)]
        ids = [client.start("tools/call", name=tool, arguments={"name": name}) for name in names]
        wait_for(lambda: len(began(folder, names)) == 8)
        assert client.call("ok", {"n": 5})["result"]["structuredContent"] == 5
        assert began(folder, names) == names[:8]
        for name in names:
            (folder / name).touch()
        assert [text_of(answer["result"]) for answer in (client.answer(one, 15) for one in ids) if answer] == names


def test_a_tool_has_a_concurrency_of_its_own_and_runs_its_calls_in_order(folder: Path) -> None:
    configured(folder, "[tool.hold]\nconcurrency = 1\n")
    with RawClient(cwd=folder) as client:
        names = ["h0", "h1", "h2"]
        ids = [client.start("tools/call", name="hold", arguments={"name": name}) for name in names]
        for number, name in enumerate(names):
            wait_for(lambda last=name: (folder / f"{last}.began").exists())
            assert began(folder, names) == names[: number + 1]
            (folder / name).touch()
            assert client.answer(ids[number], 15) is not None


def test_one_caller_cannot_starve_another(folder: Path) -> None:
    configured(
        folder,
        "[defaults]\nin_flight = 2\nconcurrency = 2\ncaller_concurrency = 1\nqueue = 6\n[auth]\ntokens = 'tokens.toml'\n",
    )
    mine, other = token(folder, "a"), token(folder, "b")
    names = [f"a{n}" for n in range(7)]
    with WebServer(folder) as server, ThreadPoolExecutor(7) as pool:
        held = [pool.submit(server.call, "hold", token=mine, name=name) for name in names]
        wait_for(lambda: len(began(folder, names)) == 1)
        assert server.call("ok", token=other, n=3)[1]["result"]["structuredContent"] == 3
        assert len(began(folder, names)) == 1
        for name in names:
            (folder / name).touch()
        assert {one.result()[0] for one in held} == {200}


def test_callers_take_turns_in_the_queue_and_a_full_one_makes_room_for_who_has_least(folder: Path) -> None:
    configured(folder, "[defaults]\nin_flight = 1\nqueue = 3\nconcurrency = 1\n[auth]\ntokens = 'tokens.toml'\n")
    mine, other = token(folder, "a"), token(folder, "b")
    with WebServer(folder) as server, ThreadPoolExecutor(6) as pool:
        held = [pool.submit(server.call, "hold", token=mine, name="first")]
        wait_for(lambda: bool(began(folder, ["first"])))
        held += [pool.submit(server.call, "hold", token=mine, name=f"a{n}") for n in range(4)]
        refused = next(one for one in iter(lambda: next((o for o in held if o.done()), None), 0) if one is not None)
        result = refused.result()[1]["result"]
        assert "queue is full" in text_of(result)
        assert result["_meta"]["retryAfterMs"] >= 1000
        late = pool.submit(server.call, "hold", token=other, name="b0")
        wait_for(lambda: sum(one.done() for one in held) == 2)
        (folder / "b0").touch()
        (folder / "first").touch()
        wait_for(lambda: late.done() or len(began(folder, ["a0", "a1", "a2", "a3"])) == 1)
        for n in range(4):
            (folder / f"a{n}").touch()
        assert late.result()[1]["result"]["isError"] is False


def test_the_longest_wait_ends_with_the_time_of_the_next_try(folder: Path) -> None:
    configured(folder, '[defaults]\nconcurrency = 1\nqueue_wait = "300ms"\n')
    with RawClient(cwd=folder) as client:
        first = client.start("tools/call", name="hold", arguments={"name": "one"})
        result = client.call("hold", {"name": "two"})["result"]
        assert "could not be started within 0.3 s" in text_of(result)
        assert result["_meta"]["retryAfterMs"] >= 1000
        (folder / "one").touch()
        assert client.answer(first, 15) is not None
    assert began(folder, ["two"]) == []


def test_a_cancelled_call_gives_up_its_turn_and_its_place_in_the_queue(folder: Path) -> None:
    configured(folder, "[defaults]\nconcurrency = 1\nqueue = 1\n")
    with RawClient(cwd=folder) as client:
        running = client.start("tools/call", name="hold", arguments={"name": "one"})
        wait_for(lambda: bool(began(folder, ["one"])))
        waiting = client.start("tools/call", name="hold", arguments={"name": "two"})
        assert "queue is full" in text_of(client.call("hold", {"name": "three"})["result"])
        for request_id in (waiting, running):
            client.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": request_id}})
        (folder / "four").touch()
        assert text_of(client.call("hold", {"name": "four"})["result"]) == "four"
    assert began(folder, ["two", "three"]) == []


def test_an_http_client_that_goes_away_gives_up_its_turn(folder: Path) -> None:
    configured(folder, "[defaults]\nconcurrency = 1\n")
    with WebServer(folder) as server:
        import http.client

        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=15)
        body = {"name": "hold", "arguments": {"name": "gone"}, "_meta": META}
        headers = {
            "Content-Type": "application/json",
            "Accept": "*/*",
            "MCP-Protocol-Version": "2026-07-28",
            "Mcp-Method": "tools/call",
            "Mcp-Name": "hold",
        }
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": body}
        connection.request("POST", "/mcp", json.dumps(message), headers)
        wait_for(lambda: bool(began(folder, ["gone"])))
        connection.close()
        (folder / "next").touch()
        assert text_of(server.call("hold", name="next")[1]["result"]) == "next"


def test_5000_calls_at_once_on_one_pipe_leave_the_server_answering(folder: Path) -> None:
    """S40."""
    configured(folder, '[defaults]\nrate_limit = ""\ncaller_rate_limit = ""\n')
    with RawClient(cwd=folder) as client:
        ids = [client.start("tools/call", name="hold", arguments={"name": "all"}) for _ in range(5000)]
        refused = [answer for answer in (client.answer(one, 30) for one in ids[128:]) if answer]
        assert {answer["error"]["code"] for answer in refused} == {-31999}
        assert client.tools()
        (folder / "all").touch()
        assert all(client.answer(one, 30) is not None for one in ids[:128])
        assert client.call("ok", {"n": 2})["result"]["structuredContent"] == 2
