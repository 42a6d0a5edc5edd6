"""Pages of `tools/list`: their cursors, and what a client may keep."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import mcp
import pytest
from mcp import StdioServerParameters
from rawclient import RawClient

FUNCTIONS = "".join(f'def f{number}(x: int) -> int:\n    """F."""\n    return x\n\n' for number in range(7))
KEYED = '[server]\npage_size = 3\nlist_ttl = "90s"\nkey = { variable = "CURSOR_KEY" }\n'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "many.py").write_text(FUNCTIONS)
    (tmp_path / "autotool.toml").write_text(KEYED)
    return tmp_path


def client_of(folder: Path, key: str = "k" * 32, *options: str) -> RawClient:
    return RawClient("./many.py", *options, cwd=folder, env={"CURSOR_KEY": key})


def test_pages_hold_every_tool_once_in_order_and_say_how_long_they_hold(folder: Path) -> None:
    with client_of(folder) as client:
        names: list[str] = []
        cursors: list[str] = []
        params = {}
        while True:
            result = client.request("tools/list", **params)["result"]
            assert (result["ttlMs"], result["cacheScope"]) == (90_000, "public")
            names += [tool["name"] for tool in result["tools"]]
            if "nextCursor" not in result:
                break
            params = {"cursor": result["nextCursor"]}
            cursors.append(result["nextCursor"])
        assert names == [f"f{number}" for number in range(7)]
        assert len(cursors) == 2
        assert client.request("tools/list", cursor=cursors[0])["result"]["nextCursor"] == cursors[1]


def test_a_cursor_holds_at_every_replica_with_the_same_key(folder: Path) -> None:
    with client_of(folder) as one, client_of(folder) as two, client_of(folder, "other" * 8) as stranger:
        cursor = one.request("tools/list")["result"]["nextCursor"]
        page = two.request("tools/list", cursor=cursor)["result"]
        assert [tool["name"] for tool in page["tools"]] == ["f3", "f4", "f5"]
        error = stranger.request("tools/list", cursor=cursor)["error"]
        assert (error["code"], "not one that this server gave" in error["message"]) == (-32602, True)


@pytest.mark.parametrize("cursor", ["", "x", 5, "W10.x", None])
def test_what_is_no_cursor_is_refused(folder: Path, cursor: object) -> None:
    with client_of(folder) as client:
        answer = client.request("tools/list", cursor=cursor)
        assert answer["error"]["code"] == -32602 if cursor is not None else "result" in answer


def test_a_cursor_of_an_earlier_list_says_to_start_again(folder: Path) -> None:
    with client_of(folder, "k" * 32, "--reload") as client:
        cursor = client.request("tools/list")["result"]["nextCursor"]
        client.start("subscriptions/listen", notifications={"toolsListChanged": True})
        assert client.next_message(10) is not None
        (folder / "many.py").write_text(FUNCTIONS + FUNCTIONS.replace("def f", "def g"))
        assert client.next_message(15) is not None
        error = client.request("tools/list", cursor=cursor)["error"]
        assert error["code"] == -32602
        assert error["message"] == (
            "The list is another one than when the cursor was given; ask for the first page again."
        )
        (folder / "many.py").write_text(FUNCTIONS)
        assert client.next_message(15) is not None
        assert "result" in client.request("tools/list", cursor=cursor)


def test_a_key_that_is_not_there_is_an_error_at_start(folder: Path) -> None:
    client = RawClient("./many.py", cwd=folder)
    assert client.wait(10) == 2
    assert "server.key: the variable CURSOR_KEY is not set" in client.stderr
    client.close()


def test_where_scopes_decide_pages_are_private(folder: Path) -> None:
    (folder / "autotool.toml").write_text(KEYED + '[scopes.some]\nallow = ["f1"]\n')
    with client_of(folder) as client:
        assert client.request("tools/list")["result"]["cacheScope"] == "private"


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_the_official_client_turns_pages(folder: Path, mode: str) -> None:
    async def run() -> list[str]:
        words = ["-m", "autotool", "serve", "./many.py"]
        target = StdioServerParameters(
            command=sys.executable, args=words, cwd=str(folder), env={"CURSOR_KEY": "k" * 32}
        )
        names: list[str] = []
        async with asyncio.timeout(30), mcp.Client(target, mode=mode) as client:
            page = await client.list_tools()
            names += [tool.name for tool in page.tools]
            while page.next_cursor is not None:
                page = await client.list_tools(cursor=page.next_cursor)
                names += [tool.name for tool in page.tools]
        return names

    assert asyncio.run(run()) == [f"f{number}" for number in range(7)]
