"""The official client and fastmcp's, over both transports, in both eras, on modules nobody wrote for this."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import fastmcp
import mcp
import pytest
from fastmcp.client.transports import StdioTransport
from fastmcp.exceptions import ToolError
from mcp import StdioServerParameters

MODULES = ("statistics", "textwrap", "shutil", "json", "difflib", "urllib.parse", "math", "yaml")
FIXTURE = Path(__file__).parent / "hostile.py"


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    command = [sys.executable, "-m", "autotool", "serve", *MODULES, str(FIXTURE), "--http", "--port", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True) as process:
        assert process.stderr is not None
        lines = iter(process.stderr)
        url = next(found.group() for line in lines if (found := re.search(r"http://\S+/mcp", line)))
        reader = subprocess.Popen(["cat"], stdin=process.stderr, stdout=subprocess.DEVNULL)  # nobody waits for the log
        yield url
        process.terminate()
        assert process.wait(15) == 0
        reader.wait(5)


Call = Callable[[str, dict[str, Any]], Awaitable[tuple[bool, str, Any]]]


class Session:
    """What both clients can do, in one shape."""

    def __init__(self, names: list[str], call: Call, version: str) -> None:
        self.names = names
        self.call = call
        self.version = version


@contextlib.asynccontextmanager
async def official(server: Any, mode: str) -> AsyncIterator[Session]:
    target = StdioServerParameters(command=server[0], args=server[1:]) if isinstance(server, list) else server
    async with mcp.Client(target, mode=mode) as client:

        async def call(name: str, arguments: dict[str, Any]) -> tuple[bool, str, Any]:
            result = await client.call_tool(name, arguments)
            return bool(result.is_error), result.content[0].text, result.structured_content

        yield Session([tool.name for tool in (await client.list_tools()).tools], call, client.protocol_version)


@contextlib.asynccontextmanager
async def fast(server: Any, mode: str) -> AsyncIterator[Session]:
    target = (
        StdioTransport(command=server[0], args=server[1:], env=dict(os.environ)) if isinstance(server, list) else server
    )
    async with fastmcp.Client(target, mode=mode) as client:

        async def call(name: str, arguments: dict[str, Any]) -> tuple[bool, str, Any]:
            try:
                result = await client.call_tool(name, arguments)
            except ToolError as error:
                return True, str(error), None
            return False, result.content[0].text, result.structured_content

        yield Session([tool.name for tool in await client.list_tools()], call, "")


CLIENTS = {"mcp": official, "fastmcp": fast}
WAYS = [
    pytest.param(client, transport, mode, id=f"{client}-{transport}-{mode}")
    for client in CLIENTS
    for transport in ("stdio", "http")
    for mode in ("auto", "legacy")
]


def run(client: str, transport: str, mode: str, address: str, work: Callable[[Session], Awaitable[None]]) -> None:
    async def main() -> None:
        stdio = [sys.executable, "-m", "autotool", "serve", *MODULES, str(FIXTURE)]
        async with asyncio.timeout(60), CLIENTS[client](stdio if transport == "stdio" else address, mode) as session:
            await work(session)

    asyncio.run(main())


def plain(structured: Any) -> Any:
    return structured["result"] if isinstance(structured, dict) and list(structured) == ["result"] else structured


@pytest.mark.parametrize(("client", "transport", "mode"), WAYS)
def test_real_modules_are_listed_and_called(client: str, transport: str, mode: str, address: str) -> None:
    async def work(session: Session) -> None:
        if session.version:
            assert session.version == ("2026-07-28" if mode == "auto" else "2025-11-25")
        assert {"mean", "wrap", "which", "dumps", "get_close_matches", "urlparse", "comb", "safe_load"} <= set(
            session.names
        )
        assert [name for name in session.names if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_-]{0,63}", name)] == []
        for name, arguments, wanted in (
            ("mean", {"data": [1, 2, 3, 4]}, 2.5),
            ("wrap", {"text": "aa bb cc", "width": 5}, ["aa bb", "cc"]),
            (
                "which",
                {"cmd": "sh"},
                subprocess.run(["which", "sh"], capture_output=True, text=True, check=True).stdout.strip(),
            ),
            ("get_close_matches", {"word": "appel", "possibilities": ["ape", "apple"]}, ["apple", "ape"]),
            (
                "urlparse",
                {"url": "http://a/b"},
                {"scheme": "http", "netloc": "a", "path": "/b", "params": "", "query": "", "fragment": ""},
            ),
            ("comb", {"n": 5, "k": 2}, 10),
            ("safe_load", {"stream": "a: [1, ü]"}, {"a": [1, "ü"]}),
        ):
            is_error, text, structured = await session.call(name, arguments)
            assert not is_error, text
            assert plain(structured) == wanted, name

    run(client, transport, mode, address, work)


@pytest.mark.parametrize(("client", "transport", "mode"), WAYS)
def test_wrong_arguments_and_failures_are_tool_errors(client: str, transport: str, mode: str, address: str) -> None:
    async def work(session: Session) -> None:
        for name, arguments, words in (
            ("mean", {"daat": [1]}, ["`daat`", "`data`"]),
            ("comb", {"n": "x", "k": 1.5}, ["`n`", "`k`", "an integer"]),
            ("mean", {"data": []}, ["StatisticsError", "at least one data point"]),
        ):
            is_error, text, _ = await session.call(name, arguments)
            assert is_error
            assert [word for word in words if word not in text] == [], text
            assert "Traceback" not in text

    run(client, transport, mode, address, work)


@pytest.mark.parametrize(("client", "transport", "mode"), WAYS)
def test_hostile_code_costs_its_own_call_only(client: str, transport: str, mode: str, address: str) -> None:
    async def work(session: Session) -> None:
        for name, words in (
            ("close_output", ""),
            ("patch_json", ""),
            ("print_everywhere", ""),
            ("leave", "SystemExit"),
            ("leave_at_once", "exited with code 7"),
            ("crash", "SIGSEGV"),
        ):
            is_error, text, _ = await session.call(name, {})
            assert is_error is bool(words), text
            assert words in text
            is_error, text, structured = await session.call("comb", {"n": 4, "k": 2})
            assert (is_error, plain(structured)) == (False, 6), f"after {name}: {text}"

    run(client, transport, mode, address, work)
