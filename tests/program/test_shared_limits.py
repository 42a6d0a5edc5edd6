"""Two replicas and one Redis: limits, used approvals and remembered consent count for both, also through a failure of the storage."""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from rawclient import RawClient, text_of
from redisserver import RedisServer, needs_redis
from webserver import WebServer

CODE = '''
from pathlib import Path
import autotool

def ok(n: int = 0) -> int:
    """Say the number."""
    with Path("ran.txt").open("a") as file:
        file.write("x")
    return n

@autotool.tool(approval="required")
def pay(amount: int) -> str:
    """Pay an amount."""
    with Path("paid.txt").open("a") as file:
        file.write("x")
    return f"paid {amount}"
'''
ELICITS = {"io.modelcontextprotocol/clientCapabilities": {"elicitation": {}}}

pytestmark = needs_redis


@pytest.fixture
def redis(tmp_path: Path) -> Iterator[RedisServer]:
    with RedisServer(tmp_path) as server:
        yield server


def configured(folder: Path, redis: RedisServer, toml: str, name: str = "acme") -> dict[str, str]:
    """Writes the settings; gives the environment that a replica needs."""
    (folder / "shop.py").write_text(CODE)
    top = f'targets = ["./shop.py"]\n[server]\nname = "{name}"\nstorage = {{ variable = "STORE" }}\n'
    (folder / "autotool.toml").write_text(f'{top}[approval]\nremember = "10m"\nkey = {{ variable = "KEY" }}\n{toml}')
    return {"STORE": redis.url, "KEY": "k" * 32}


def count(folder: Path, name: str) -> int:
    path = folder / name
    return len(path.read_text()) if path.exists() else 0


def is_error(answer: tuple[int, Any, dict[str, str]]) -> bool:
    return bool(answer[1]["result"]["isError"])


def asked(server: WebServer, amount: int) -> str:
    status, body, _ = server.post("tools/call", {"name": "pay", "arguments": {"amount": amount}}, **ELICITS)
    assert (status, body["result"]["resultType"]) == (200, "input_required")
    return str(body["result"]["requestState"])


def approve(server: WebServer, amount: int, state: str, **content: Any) -> Any:
    answers = {"approval": {"action": "accept", "content": {"approve": True, **content}}}
    params = {"name": "pay", "arguments": {"amount": amount}, "requestState": state, "inputResponses": answers}
    return server.post("tools/call", params, **ELICITS)[1]


def test_two_replicas_count_in_the_same_windows(tmp_path: Path, redis: RedisServer) -> None:
    env = configured(tmp_path, redis, '[defaults]\nrate_limit = "10/3 second"\n')
    with WebServer(tmp_path, env=env) as one, WebServer(tmp_path, env=env) as two, ThreadPoolExecutor(25) as pool:
        answers = list(pool.map(lambda n: (one, two)[n % 2].call("ok", n=n), range(25)))
        refused = [body["result"] for _, body, _ in answers if body["result"]["isError"]]
        assert (len(refused), count(tmp_path, "ran.txt")) == (15, 10)
        waits = [result["_meta"]["retryAfterMs"] for result in refused]
        assert all(0 < wait <= 3000 for wait in waits)
        time.sleep(max(waits) / 1000)
        assert not is_error(two.call("ok"))


def test_a_caller_of_two_replicas_is_throttled_at_both(tmp_path: Path, redis: RedisServer) -> None:
    env = configured(tmp_path, redis, '[defaults]\ncaller_rate_limit = "4/minute"\nglobal_rate_limit = "9/minute"\n')
    with WebServer(tmp_path, env=env) as one, WebServer(tmp_path, env=env) as two:
        assert [(one, two)[n % 2].call("ok")[0] for n in range(6)] == [200] * 4 + [429] * 2
        status, body, headers = one.post("tools/list", {}, request_id="l")
        assert (status, body["id"], int(headers["retry-after"]) <= 60) == (429, "l", True)


def test_servers_of_other_names_count_apart(tmp_path: Path, redis: RedisServer) -> None:
    env = configured(tmp_path, redis, '[defaults]\nrate_limit = "1/minute"\n')
    with RawClient(cwd=tmp_path, env=env) as client:
        assert [client.call("ok")["result"]["isError"] for _ in range(2)] == [False, True]
    configured(tmp_path, redis, '[defaults]\nrate_limit = "1/minute"\n', name="other")
    with RawClient(cwd=tmp_path, env=env) as client:
        assert [client.call("ok")["result"]["isError"] for _ in range(2)] == [False, True]
    assert all(b"local" not in key and b"ok" not in key for key in redis.all_keys())


def test_an_approval_that_came_back_to_one_replica_is_not_accepted_by_the_other(
    tmp_path: Path, redis: RedisServer
) -> None:
    env = configured(tmp_path, redis, "")
    with WebServer(tmp_path, env=env) as one, WebServer(tmp_path, env=env) as two, ThreadPoolExecutor(8) as pool:
        state = asked(one, 5)
        answers = list(pool.map(lambda n: approve((one, two)[n % 2], 5, state), range(8)))
        assert sum("result" in answer for answer in answers) == 1
        assert all("used before" in answer["error"]["message"] for answer in answers if "error" in answer)
    assert count(tmp_path, "paid.txt") == 1


def test_what_was_approved_for_a_while_holds_at_every_replica(tmp_path: Path, redis: RedisServer) -> None:
    env = configured(tmp_path, redis, "")
    with WebServer(tmp_path, env=env) as one, WebServer(tmp_path, env=env) as two:
        assert text_of(approve(one, 5, asked(one, 5), remember=True)["result"]) == "paid 5"
        for server in (one, two):
            body = server.post("tools/call", {"name": "pay", "arguments": {"amount": 6}}, **ELICITS)[1]
            assert text_of(body["result"]) == "paid 6"


@pytest.mark.parametrize("failure", ["deny", "allow"])
@pytest.mark.parametrize("how", ["killed", "hanging"])
def test_a_storage_that_goes_is_told_once_and_comes_back_by_itself(
    tmp_path: Path, redis: RedisServer, failure: str, how: str
) -> None:
    env = configured(
        tmp_path, redis, f'[limits]\non_storage_failure = "{failure}"\n[defaults]\nrate_limit = "50/minute"\n'
    )
    with WebServer(tmp_path, env=env) as one, WebServer(tmp_path, env=env) as two:
        assert not is_error(one.call("ok"))
        assert not is_error(two.call("ok"))
        state = asked(one, 5)
        redis.kill() if how == "killed" else redis.hang()
        for server in (one, two):
            began = time.monotonic()
            answers = [server.call("ok") for _ in range(20)]
            assert time.monotonic() - began < 10  # only the first ones wait for an answer, and for a second
            assert [is_error(answer) for answer in answers] == [failure == "deny"] * 20
            if failure == "deny":
                assert answers[-1][1]["result"]["_meta"]["retryAfterMs"] > 0
                status, body, headers = server.post("tools/list", {}, request_id=3)
                assert (status, body["id"], "retry-after" in headers) == (503, 3, True)
            answer = approve(server, 5, state)
            assert "result" not in answer or answer["result"]["isError"]
            assert server.said.count("cannot be used") == 1
        assert count(tmp_path, "paid.txt") == 0
        redis.kill()
        redis.start()
        for server in (one, two):
            assert server.says("can be used again")
            assert not is_error(server.call("ok"))
            assert server.said.count("can be used again") == 1
            assert "started anew" in approve(server, 5, state)["error"]["message"]
        assert text_of(approve(two, 5, asked(one, 5))["result"]) == "paid 5"
    assert count(tmp_path, "paid.txt") == 1


@pytest.mark.parametrize("how", ["empty", "from its file", "flushed"])
def test_a_storage_that_has_forgotten_lets_no_approval_be_used_twice(
    tmp_path: Path, redis: RedisServer, how: str
) -> None:
    env = configured(tmp_path, redis, "")
    with WebServer(tmp_path, env=env) as one, WebServer(tmp_path, env=env) as two:
        state, unused = asked(one, 5), asked(one, 6)
        redis.save()
        assert text_of(approve(one, 5, state)["result"]) == "paid 5"
        if how == "flushed":
            redis.flush()
        else:
            redis.kill()
            redis.start(*(["--dbfilename", "nothing.rdb"] if how == "empty" else []))
            for server in (one, two):
                server.call("ok")
                assert "cannot be used" not in server.said or server.says("can be used again")
        for server in (one, two):
            for amount, old in ((5, state), (6, unused)):
                assert "started anew" in approve(server, amount, old)["error"]["message"]
        assert text_of(approve(two, 6, asked(one, 6))["result"]) == "paid 6"
    assert count(tmp_path, "paid.txt") == 2


def test_a_storage_that_cannot_be_written_is_no_storage(tmp_path: Path, redis: RedisServer) -> None:
    env = configured(tmp_path, redis, "")
    redis.kill()
    redis.start("--min-replicas-to-write", "1")
    with RawClient(cwd=tmp_path, env=env) as client:
        assert client.call("ok")["result"]["isError"]
        assert client.says("cannot be used")
        redis.kill()
        redis.start()
        assert client.says("can be used again")
        assert not client.call("ok")["result"]["isError"]


def test_an_address_where_nothing_is_is_told_at_the_start_without_its_password(tmp_path: Path) -> None:
    redis = RedisServer(tmp_path)
    env = configured(tmp_path, redis, "")
    env["STORE"] = "redis://user:hunter2hunter2@127.0.0.1:1/0"
    with RawClient(cwd=tmp_path, env=env) as client:
        assert client.says("the storage redis://127.0.0.1:1/0 cannot be used")
        result = client.call("ok")["result"]
        assert "cannot count calls at the moment" in text_of(result)
        assert result["_meta"]["retryAfterMs"] == 2000
    assert "hunter2" not in client.stderr


@pytest.mark.parametrize(
    ("url", "said"),
    [("http://h:secret1234@x", "is no storage"), ("redis://:secret1234@host:port/0", "is no address of a Redis")],
)
def test_what_is_no_storage_is_refused_at_the_start(tmp_path: Path, url: str, said: str) -> None:
    env = configured(tmp_path, RedisServer(tmp_path), "")
    with RawClient(cwd=tmp_path, env={**env, "STORE": url}) as client:
        assert client.wait(15) == 2
    assert said in client.stderr
    assert "secret1234" not in client.stderr
