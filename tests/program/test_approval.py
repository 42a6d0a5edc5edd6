"""Consent before calls: asked of the person behind the client in both eras, or of an operator at the server."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import mcp
import mcp_types
import pytest
from mcp import StdioServerParameters
from rawclient import META, RawClient, text_of

CODE = '''
import os
from pathlib import Path
import autotool

def delete_file(name: str) -> str:
    """Delete a file."""
    os.remove(name) if os.path.exists(name) else None
    Path("ran.txt").open("a").write(name + "\\n")
    return f"deleted {name}"

@autotool.tool(approval="required")
def pay(amount: int, api_token: str = "") -> str:
    """Pay an amount."""
    Path("ran.txt").open("a").write(f"{amount}\\n")
    return f"paid {amount}"

@autotool.tool(approval="operator")
def launch(target: str) -> str:
    """Launch at a target."""
    Path("ran.txt").open("a").write(f"{target}\\n")
    return f"launched {target}"

def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b

def ask_twice(ctx: autotool.Context, start: str = "x") -> str:
    """Ask twice."""
    first = ctx.ask("Your name?", {"name": str}, key="who")["name"]
    second = ctx.ask(f"Hello {first}, how old?", {"age": int}, key="age")["age"]
    return f"{start} {first} {second}"
'''
ELICITS = {**META, "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}}}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "shop.py").write_text(CODE)
    return tmp_path


def runs(folder: Path) -> list[str]:
    path = folder / "ran.txt"
    return path.read_text().split() if path.exists() else []


def call(client: RawClient, name: str, arguments: dict[str, Any], **more: Any) -> dict[str, Any]:
    return client.request("tools/call", name=name, arguments=arguments, _meta=ELICITS, **more)


def accepted(**content: Any) -> dict[str, Any]:
    return {"action": "accept", "content": content}


def asked(client: RawClient, name: str, arguments: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    result = call(client, name, arguments)["result"]
    assert result["resultType"] == "input_required"
    return result["requestState"], result["inputRequests"]


def test_a_modern_client_is_asked_and_the_call_runs_once(folder: Path) -> None:
    with RawClient("./shop.py", cwd=folder) as client:
        state, questions = asked(client, "pay", {"amount": 5, "api_token": "sk-ant-api03-" + "a" * 40})
        form = questions["approval"]
        assert form["method"] == "elicitation/create"
        assert "Run `pay` (Pay)?" in form["params"]["message"]
        assert "amount: 5" in form["params"]["message"]
        assert "aaaaaaaa" not in form["params"]["message"]
        arguments = {"amount": 5, "api_token": "sk-ant-api03-" + "a" * 40}
        answers = {"approval": accepted(approve=True)}
        done = call(client, "pay", arguments, requestState=state, inputResponses=answers)["result"]
        assert text_of(done) == "paid 5"
        again = call(client, "pay", arguments, requestState=state, inputResponses=answers)
        assert again["error"]["code"] == -32602
        assert "used before" in again["error"]["message"]
    assert runs(folder) == ["5"]


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ({"action": "decline"}, "the person declined it"),
        ({"action": "cancel"}, "sent the question away"),
        (accepted(approve=False), "did not approve"),
    ],
)
def test_without_consent_nothing_runs(folder: Path, answer: dict[str, Any], said: str) -> None:
    with RawClient("./shop.py", cwd=folder) as client:
        state, _ = asked(client, "pay", {"amount": 5})
        result = call(client, "pay", {"amount": 5}, requestState=state, inputResponses={"approval": answer})["result"]
        assert result["isError"]
        assert said in text_of(result)
    assert runs(folder) == []


@pytest.mark.parametrize(
    "answer",
    [
        {},
        {"approval": 7},
        {"other": accepted(approve=True)},
        {"approval": accepted()},
        {"approval": accepted(approve="yes")},
    ],
)
def test_what_is_no_answer_is_asked_again(folder: Path, answer: dict[str, Any]) -> None:
    with RawClient("./shop.py", cwd=folder) as client:
        state, _ = asked(client, "pay", {"amount": 5})
        again = call(client, "pay", {"amount": 5}, requestState=state, inputResponses=answer)["result"]
        assert again["resultType"] == "input_required"
        assert again["requestState"] != state
        final = call(
            client,
            "pay",
            {"amount": 5},
            requestState=again["requestState"],
            inputResponses={"approval": accepted(approve=True)},
        )
        assert text_of(final["result"]) == "paid 5"


def test_an_answer_without_a_state_counts_nothing(folder: Path) -> None:
    with RawClient("./shop.py", cwd=folder) as client:
        result = call(client, "pay", {"amount": 5}, inputResponses={"approval": accepted(approve=True)})["result"]
        assert result["resultType"] == "input_required"
    assert runs(folder) == []


def test_a_state_holds_for_its_call_only(folder: Path) -> None:
    answers = {"approval": accepted(approve=True)}
    with RawClient("./shop.py", cwd=folder) as client:
        for name, arguments, change, said in [
            ("pay", {"amount": 50}, "", "other arguments"),
            ("delete_file", {"name": "5"}, "", "another tool"),
            ("pay", {"amount": 5}, "x", "not what the server gave"),
        ]:
            state, _ = asked(client, "pay", {"amount": 5})
            answer = call(client, name, arguments, requestState=state + change, inputResponses=answers)
            assert answer["error"]["code"] == -32602
            assert said in answer["error"]["message"]
    with RawClient("./shop.py", cwd=folder) as other:
        assert "error" in call(other, "pay", {"amount": 5}, requestState=state, inputResponses=answers)
    assert runs(folder) == []


def test_an_expired_state_is_asked_again(folder: Path) -> None:
    (folder / "autotool.toml").write_text('targets = ["./shop.py"]\n[approval]\nttl = "100ms"\n')
    with RawClient(cwd=folder) as client:
        state, _ = asked(client, "pay", {"amount": 5})
        time.sleep(0.3)
        late = call(
            client, "pay", {"amount": 5}, requestState=state, inputResponses={"approval": accepted(approve=True)}
        )
        assert late["result"]["resultType"] == "input_required"
    assert runs(folder) == []


def test_a_client_that_cannot_be_asked(folder: Path) -> None:
    with RawClient("./shop.py", cwd=folder) as client:
        refused = client.call("pay", {"amount": 5})
        assert refused["error"]["code"] == -32021
        assert refused["error"]["data"] == {"requiredCapabilities": {"elicitation": {"form": {}}}}
        assert text_of(client.call("delete_file", {"name": "a"})["result"]) == "deleted a"
        assert text_of(client.call("add", {"a": 1, "b": 2})["result"]) == "3"
    with RawClient("./shop.py", cwd=folder, legacy=True) as client:
        result = client.call("pay", {"amount": 5})["result"]
        assert result["isError"]
        assert "only with a person's consent" in text_of(result)
    assert runs(folder) == ["a"]


def test_auto_asks_for_what_destroys_and_for_nothing_else(folder: Path) -> None:
    with RawClient("./shop.py", cwd=folder) as client:
        assert call(client, "delete_file", {"name": "a"})["result"]["resultType"] == "input_required"
        assert text_of(call(client, "add", {"a": 1, "b": 2})["result"]) == "3"


def test_the_config_says_who_is_asked(folder: Path) -> None:
    (folder / "autotool.toml").write_text(
        'targets = ["./shop.py"]\n[defaults]\napproval = "none"\n[tool.add]\napproval = "required"\n[tool.pay]\napproval = "none"\n'
    )
    with RawClient(cwd=folder) as client:
        assert text_of(call(client, "delete_file", {"name": "a"})["result"]) == "deleted a"
        assert text_of(call(client, "pay", {"amount": 1})["result"]) == "paid 1"
        assert call(client, "add", {"a": 1, "b": 2})["result"]["resultType"] == "input_required"


def test_an_approval_may_hold_for_a_while(folder: Path) -> None:
    (folder / "autotool.toml").write_text('targets = ["./shop.py"]\n[approval]\nremember = "10m"\n')
    with RawClient(cwd=folder) as client:
        state, questions = asked(client, "pay", {"amount": 1})
        assert "10 minutes" in questions["approval"]["params"]["requestedSchema"]["properties"]["remember"]["title"]
        answers = {"approval": accepted(approve=True, remember=True)}
        assert (
            text_of(call(client, "pay", {"amount": 1}, requestState=state, inputResponses=answers)["result"])
            == "paid 1"
        )
        assert text_of(call(client, "pay", {"amount": 2})["result"]) == "paid 2"
        assert call(client, "delete_file", {"name": "a"})["result"]["resultType"] == "input_required"


def test_a_function_asks_in_several_rounds(folder: Path) -> None:
    with RawClient("./shop.py", cwd=folder) as client:
        state, questions = asked(client, "ask_twice", {"start": "y"})
        assert list(questions) == ["who"]
        second = call(
            client, "ask_twice", {"start": "y"}, requestState=state, inputResponses={"who": accepted(name="Ann")}
        )
        questions = second["result"]["inputRequests"]
        assert questions["age"]["params"]["message"] == "Hello Ann, how old?"
        state = second["result"]["requestState"]
        wrong = call(
            client, "ask_twice", {"start": "y"}, requestState=state, inputResponses={"age": accepted(age="old")}
        )
        assert list(wrong["result"]["inputRequests"]) == ["age"]
        state = wrong["result"]["requestState"]
        done = call(client, "ask_twice", {"start": "y"}, requestState=state, inputResponses={"age": accepted(age=7)})
        assert text_of(done["result"]) == "y Ann 7"
        assert "ctx" not in str(client.tools())
        state, _ = asked(client, "ask_twice", {})
        declined = call(client, "ask_twice", {}, requestState=state, inputResponses={"who": {"action": "decline"}})[
            "result"
        ]
        assert declined["isError"]
        assert "did not answer `who`" in text_of(declined)


@pytest.mark.parametrize("mode", ["auto", "legacy"])
@pytest.mark.parametrize("over", ["stdio", "http"])
def test_the_official_client_asks_in_both_eras(folder: Path, mode: str, over: str) -> None:
    seen: list[str] = []

    async def answer(_: Any, params: Any) -> Any:
        seen.append(params.message)
        fields = params.requested_schema["properties"]
        content: dict[str, Any] = (
            {"approve": True} if "approve" in fields else {"name": "Ann"} if "name" in fields else {"age": 7}
        )
        return mcp_types.ElicitResult(action="accept", content=content)

    async def work(target: Any) -> None:
        async with mcp.Client(target, mode=mode, elicitation_callback=answer) as client:
            paid = await client.call_tool("pay", {"amount": 3})
            assert paid.content[0].text == "paid 3"
            told = await client.call_tool("ask_twice", {"start": "z"})
            assert told.content[0].text == "z Ann 7"

    if over == "stdio":
        command = ["-m", "autotool", "serve", "./shop.py"]
        asyncio.run(work(StdioServerParameters(command=sys.executable, args=command, cwd=folder)))
    else:
        with served(folder) as url:
            asyncio.run(work(url))
    assert len(seen) == 3
    assert runs(folder) == ["3"]


@contextlib.contextmanager
def served(folder: Path) -> Iterator[str]:
    command = [sys.executable, "-m", "autotool", "serve", "./shop.py", "--http", "--port", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True, cwd=folder) as process:
        assert process.stderr is not None
        lines = iter(process.stderr)
        url = next(found.group() for line in lines if (found := re.search(r"http://\S+/mcp", line)))
        reader = threading.Thread(target=lambda: list(lines))
        reader.start()
        yield url
        process.terminate()
        process.wait(15)
        reader.join(5)


def approvals(*words: str, env: dict[str, str]) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "autotool", "approvals", *words]
    return subprocess.run(command, capture_output=True, text=True, check=False, env=env, timeout=60)


def waiting(env: dict[str, str]) -> dict[str, Any]:
    for _ in range(50):
        found = json.loads(approvals("list", "--json", env=env).stdout or "[]")
        if found:
            return found[0]
        time.sleep(0.1)
    raise AssertionError("nothing waits")


@pytest.mark.parametrize(("decision", "text"), [("approve", "launched moon"), ("deny", "an operator denied it")])
def test_an_operator_decides_whatever_the_client_says(folder: Path, decision: str, text: str) -> None:
    env = {**os.environ, "XDG_RUNTIME_DIR": str(folder)}
    with RawClient("./shop.py", cwd=folder, env={"XDG_RUNTIME_DIR": str(folder)}) as client:
        answers = {"approval": accepted(approve=True)}
        call_id = client.start(
            "tools/call", name="launch", arguments={"target": "moon"}, _meta=ELICITS, inputResponses=answers
        )
        one = waiting(env)
        assert (one["tool"], one["caller"]) == ("launch", "local")
        (socket,) = (folder / "autotool").glob("*.sock")
        assert stat.S_IMODE(socket.stat().st_mode) == 0o600
        assert stat.S_IMODE(socket.parent.stat().st_mode) == 0o700
        assert "target: moon" in approvals("show", one["id"][:4], env=env).stdout
        assert runs(folder) == []
        assert approvals(decision, one["id"], env=env).returncode == 0
        answer = client.answer(call_id, 10)
        assert answer is not None
        assert text in text_of(answer["result"])
        late = approvals("approve", one["id"], env=env)
        assert late.returncode == 2
        assert "waits" in late.stderr
    assert runs(folder) == (["moon"] if decision == "approve" else [])
    assert list((folder / "autotool").glob("*.sock")) == []


def test_nobody_decides(folder: Path) -> None:
    (folder / "autotool.toml").write_text(
        f'targets = ["./shop.py"]\n[approval]\ntimeout = "300ms"\nfallback = "operator"\nsocket = "{folder}/own.sock"\n'
    )
    with RawClient(cwd=folder) as client:
        result = client.call("launch", {"target": "moon"})["result"]
        assert result["isError"]
        assert "no operator decided within 0.3 s" in text_of(result)
        assert "no operator decided" in text_of(client.call("pay", {"amount": 1})["result"])
    assert runs(folder) == []
