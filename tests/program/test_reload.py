"""`--reload`: the tools follow the files, calls end where they began, and clients that listen are told."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from rawclient import META, RawClient, text_of

CODE = '''
import os, time
from pathlib import Path

def version() -> str:
    """Tell the version."""
    return "one"

def hold(name: str) -> str:
    """Wait until the file is there."""
    while not os.path.exists(name):
        time.sleep(0.01)
    return "one"

def delete_all() -> str:
    """Delete all."""
    return "deleted one"
'''
MORE = '\ndef more(x: int) -> int:\n    """More."""\n    return x\n'
ELICITS = {**META, "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}}}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "shop.py").write_text(CODE)
    return tmp_path


def listen(client: RawClient, **filters: Any) -> int:
    """Open a subscription; its id, once it is acknowledged."""
    request_id = client.start("subscriptions/listen", notifications=filters)
    message = client.next_message(10)
    assert message is not None
    assert message["method"] == "notifications/subscriptions/acknowledged"
    assert message["params"]["_meta"] == {"io.modelcontextprotocol/subscriptionId": request_id}
    assert message["params"]["notifications"] == {key: True for key in filters if key == "toolsListChanged"}
    return request_id


def is_told(client: RawClient, *subscriptions: int) -> None:
    got = [client.next_message(15) for _ in subscriptions]
    assert {message["method"] for message in got if message} == {"notifications/tools/list_changed"}
    ids = [message["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"] for message in got if message]
    assert sorted(ids) == sorted(subscriptions)


def names(client: RawClient) -> list[str]:
    return [tool["name"] for tool in client.tools()]


def test_a_changed_file_changes_the_tools_while_calls_end_on_the_old_code(folder: Path) -> None:
    with RawClient("./shop.py", "--reload", cwd=folder) as client:
        assert client.request("server/discover")["result"]["capabilities"]["tools"] == {"listChanged": True}
        first, second = listen(client, toolsListChanged=True), listen(client, toolsListChanged=True)
        listen(client, promptsListChanged=True)
        held = client.start("tools/call", name="hold", arguments={"name": "go"})
        (folder / "shop.py").write_text(CODE.replace('"one"', '"two"') + MORE)
        is_told(client, first, second)
        assert names(client) == ["version", "hold", "delete_all", "more"]
        assert text_of(client.call("version")["result"]) == "two"
        (folder / "go").touch()
        answer = client.answer(held, 10)
        assert answer is not None
        assert text_of(answer["result"]) == "one"


def test_a_broken_file_keeps_the_tools_and_the_log_says_why(folder: Path) -> None:
    with RawClient("./shop.py", "--reload", cwd=folder) as client:
        subscription = listen(client, toolsListChanged=True)
        (folder / "shop.py").write_text("import newhelper\n" + CODE)
        (folder / "newhelper.py").write_text("def broken(:\n")
        assert client.says("not reloaded: `./shop.py` does not import: SyntaxError")
        assert "newhelper.py" in client.stderr
        assert names(client) == ["version", "hold", "delete_all"]
        (folder / "newhelper.py").write_text("")
        (folder / "shop.py").write_text("import newhelper\n" + CODE + MORE)
        is_told(client, subscription)
        assert names(client)[-1] == "more"


def test_a_body_that_changes_takes_effect_and_tells_nobody(folder: Path) -> None:
    with RawClient("./shop.py", "--reload", cwd=folder) as client:
        subscription = listen(client, toolsListChanged=True)
        (folder / "shop.py").write_text(CODE.replace('"one"', '"two"'))
        assert client.says("reloaded in")
        assert text_of(client.call("version")["result"]) == "two"
        assert client.next_message(0) is None
        (folder / "shop.py").write_text(CODE + MORE)
        is_told(client, subscription)
        (folder / "shop.py").write_text(CODE)
        is_told(client, subscription)
        assert client.next_message(0) is None


def test_only_files_that_were_read_are_watched(folder: Path) -> None:
    (folder / "other.py").write_text("")
    (folder / "helper.py").write_text("WORD = 'a'\n")
    (folder / "shop.py").write_text("import helper\n" + CODE)
    with RawClient("./shop.py", "--reload", cwd=folder) as client:
        subscription = listen(client, toolsListChanged=True)
        (folder / "other.py").write_text("x = 1\n")
        (folder / "helper.py").write_text("WORD = 'b'\n")
        assert client.says("helper.py changed")
        assert client.says("reloaded in")
        (folder / "shop.pyi").write_text("def version() -> str: ...\n")
        (folder / "shop.py").write_text("import helper\n" + CODE + MORE)
        is_told(client, subscription)
        assert "other.py" not in client.stderr


def test_the_config_is_followed_too_but_for_what_takes_a_restart(folder: Path) -> None:
    config = folder / "autotool.toml"
    config.write_text('targets = ["./shop.py"]\n[tools]\ndeny = ["hold"]\n')
    with RawClient("--stdio", "--reload", cwd=folder) as client:
        assert names(client) == ["version", "delete_all"]
        subscription = listen(client, toolsListChanged=True)
        config.write_text('targets = ["./shop.py"]\n[server]\nport = 9\n[tool.version]\nname = "release"\n')
        is_told(client, subscription)
        assert names(client) == ["release", "hold", "delete_all"]
        assert client.says("`server.port` has changed in the config, which takes a restart")
        config.write_text("targets = 5\n")
        assert client.says("not reloaded: ")
        assert names(client) == ["release", "hold", "delete_all"]


def test_consent_to_a_tool_that_changed_is_asked_for_again(folder: Path) -> None:
    (folder / "autotool.toml").write_text('[approval]\nremember = "10m"\n[tool.delete_all]\napproval = "required"\n')
    with RawClient("./shop.py", "--reload", cwd=folder) as client:
        subscription = listen(client, toolsListChanged=True)

        def call(name: str, **more: Any) -> dict[str, Any]:
            return client.request("tools/call", name=name, arguments={}, _meta=ELICITS, **more)["result"]

        yes = {"approval": {"action": "accept", "content": {"approve": True, "remember": True}}}
        asked = call("delete_all")
        assert asked["resultType"] == "input_required"
        assert call("delete_all", requestState=asked["requestState"], inputResponses=yes)["resultType"] == "complete"
        assert call("delete_all")["resultType"] == "complete"
        (folder / "shop.py").write_text(CODE.replace("Delete all.", "Delete all of it."))
        is_told(client, subscription)
        pending = call("delete_all")
        assert pending["resultType"] == "input_required"
        (folder / "shop.py").write_text(CODE.replace("Delete all.", "Delete all of everything."))
        is_told(client, subscription)
        again = call("delete_all", requestState=pending["requestState"], inputResponses=yes)
        assert again["resultType"] == "input_required"
        assert call("delete_all", requestState=again["requestState"], inputResponses=yes)["resultType"] == "complete"


def test_a_subscription_is_cancelled_or_ends_with_a_result(folder: Path) -> None:
    with RawClient("./shop.py", "--reload", cwd=folder) as client:
        cancelled, kept = listen(client, toolsListChanged=True), listen(client, toolsListChanged=True)
        client.send(
            {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": cancelled, "reason": "x"}}
        )
        (folder / "shop.py").write_text(CODE + MORE)
        is_told(client, kept)
        client.close_input()
        ended = client.answer(kept, 10)
        assert ended is not None
        assert ended["result"]["resultType"] == "complete"
        assert ended["result"]["_meta"]["io.modelcontextprotocol/subscriptionId"] == kept
        assert client.answer(cancelled, 0) is None


def test_a_legacy_client_on_stdio_is_told_without_asking(folder: Path) -> None:
    with RawClient("./shop.py", "--reload", cwd=folder, legacy=True) as client:
        assert len(names(client)) == 3
        (folder / "shop.py").write_text(CODE + MORE)
        message = client.next_message(15)
        assert message is not None
        assert message["method"] == "notifications/tools/list_changed"
        assert "_meta" not in message["params"]
        assert len(names(client)) == 4


def test_without_reload_nothing_is_promised(folder: Path) -> None:
    with RawClient("./shop.py", cwd=folder) as client:
        assert client.request("server/discover")["result"]["capabilities"]["tools"] == {}
        client.start("subscriptions/listen", notifications={"toolsListChanged": True})
        message = client.next_message(10)
        assert message is not None
        assert message["params"]["notifications"] == {}


@pytest.mark.parametrize("filters", [None, [], {"toolsListChanged": 1}])
def test_a_filter_that_is_none_is_refused(folder: Path, filters: Any) -> None:
    with RawClient("./shop.py", "--reload", cwd=folder) as client:
        assert client.request("subscriptions/listen", notifications=filters)["error"]["code"] == -32602


@pytest.mark.slow
def test_fifty_reloads_under_two_hundred_calls_lose_none(folder: Path) -> None:
    """threats.md, R20."""
    with RawClient("./shop.py", "--reload", cwd=folder) as client:
        subscription = listen(client, toolsListChanged=True)
        waiting: set[int] = set()
        answers: dict[int, str] = {}

        def next_notification() -> dict[str, Any]:
            while (message := client.next_message(15)) is not None and "method" not in message:
                answers[message["id"]] = text_of(message["result"])
            assert message is not None
            return message

        for number in range(50):
            waiting |= {client.start("tools/call", name="version", arguments={}) for _ in range(4)}
            more = [f"more{index}" for index in range(number % 3 + 1)]
            (folder / "shop.py").write_text(CODE + "".join(MORE.replace("more", name) for name in more))
            told = next_notification()
            assert told["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"] == subscription
            assert names(client) == ["version", "hold", "delete_all", *more]
        for request_id in waiting - set(answers):
            answer = client.answer(request_id, 15)
            assert answer is not None
            answers[request_id] = text_of(answer["result"])
        assert set(answers.values()) == {"one"}
        assert len(answers) == 200
        assert client.next_message(0) is None
