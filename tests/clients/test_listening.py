"""Changes of the list over HTTP and stdio, as sockets and the official clients see them."""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import fastmcp
import mcp
import pytest
from fastmcp.client.messages import MessageHandler
from mcp import StdioServerParameters
from rawclient import META, check_message

CODE = 'def one(x: int) -> int:\n    """One."""\n    return x\n'
MORE = CODE + CODE.replace("one", "two").replace("One", "Two")
MODERN = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "subscriptions/listen"}
LEGACY = {"MCP-Protocol-Version": "2025-11-25"}


class Served:
    """`autotool serve --reload --http` on a free port."""

    def __init__(self, folder: Path, *options: str) -> None:
        self.file = folder / "shop.py"
        self.file.write_text(CODE)
        command = [sys.executable, "-m", "autotool", "serve", "./shop.py", "--http", "--port", "0", *options]
        self.process = subprocess.Popen(
            command, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True, cwd=folder
        )
        assert self.process.stderr is not None
        self.url = next(found.group() for line in self.process.stderr if (found := re.search(r"http://\S+/mcp", line)))
        self.port = int(self.url.split(":")[2].partition("/")[0])

    def stream(self, method: str, headers: dict[str, str], body: bytes = b"") -> Stream:
        connection = socket.create_connection(("127.0.0.1", self.port), 15)
        named = {"Host": f"127.0.0.1:{self.port}", "Accept": "application/json, text/event-stream", **headers}
        if body:
            named |= {"Content-Type": "application/json", "Content-Length": str(len(body))}
        lines = [f"{method} /mcp HTTP/1.1", *(f"{name}: {value}" for name, value in named.items())]
        connection.sendall("\r\n".join(lines).encode() + b"\r\n\r\n" + body)
        return Stream(connection)

    def listen(self, request_id: Any, token: str = "", **filters: Any) -> Stream:
        params = {"notifications": filters, "_meta": META}
        message = {"jsonrpc": "2.0", "id": request_id, "method": "subscriptions/listen", "params": params}
        headers = {**MODERN, "Authorization": f"Bearer {token}"} if token else MODERN
        return self.stream("POST", headers, json.dumps(message).encode())

    def close(self) -> int:
        self.process.terminate()
        assert self.process.stderr is not None
        self.process.stderr.read()
        self.process.stderr.close()
        return self.process.wait(15)


class Stream:
    """One answer, read event by event."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._rest = b""
        self.head = self._until(b"\r\n\r\n").decode("latin-1").lower()
        self.status = int(self.head.split()[1])

    def _until(self, end: bytes) -> bytes:
        while end not in self._rest:
            data = self._connection.recv(65536)
            if not data:
                raise EOFError(self._rest)
            self._rest += data
        found, _, self._rest = self._rest.partition(end)
        return found

    def event(self) -> dict[str, Any] | None:
        """The next message; None at the end of the stream."""
        while True:
            size = int(self._until(b"\r\n"), 16)
            if not size:
                return None
            chunk = self._until(b"\r\n\r\n") + b"\r\n"
            self._until(b"\r\n")
            if chunk.startswith(b":"):
                continue
            assert len(chunk) + 2 == size
            return json.loads(chunk.partition(b"data: ")[2])

    def close(self) -> None:
        self._connection.close()


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    server = Served(tmp_path, "--reload")
    yield server
    if server.process.poll() is None:
        assert server.close() == 0


def test_subscriptions_over_http_are_acknowledged_told_and_ended(served: Served) -> None:
    streams = {request_id: served.listen(request_id, toolsListChanged=True) for request_id in (1, "b")}
    others = served.listen(3, promptsListChanged=True)
    for request_id, stream in streams.items():
        assert stream.status == 200
        assert "content-type: text/event-stream" in stream.head
        assert "x-accel-buffering: no" in stream.head
        first = stream.event()
        assert first == {
            "jsonrpc": "2.0",
            "method": "notifications/subscriptions/acknowledged",
            "params": {
                "_meta": {"io.modelcontextprotocol/subscriptionId": request_id},
                "notifications": {"toolsListChanged": True},
            },
        }
    assert (others.event() or {})["params"]["notifications"] == {}
    served.file.write_text(MORE)
    for request_id, stream in streams.items():
        told = stream.event()
        assert told is not None
        check_message(told, None, "2026-07-28")
        assert told["method"] == "notifications/tools/list_changed"
        assert told["params"]["_meta"] == {"io.modelcontextprotocol/subscriptionId": request_id}
    assert served.close() == 0
    for request_id, stream in {**streams, 3: others}.items():
        last = stream.event()
        assert last is not None
        check_message(last, "subscriptions/listen", "2026-07-28")
        assert last["id"] == request_id
        assert stream.event() is None
        stream.close()


def test_a_client_that_leaves_is_forgotten_and_the_server_ends_at_once(served: Served) -> None:
    stream = served.listen(1, toolsListChanged=True)
    assert stream.event() is not None
    stream.close()
    kept = served.listen(2, toolsListChanged=True)
    assert kept.event() is not None
    served.file.write_text(MORE)
    assert kept.event() is not None
    kept.close()


def test_a_legacy_client_is_told_on_the_stream_of_a_get(served: Served) -> None:
    stream = served.stream("GET", LEGACY)
    assert (stream.status, "text/event-stream" in stream.head) == (200, True)
    served.file.write_text(MORE)
    told = stream.event()
    assert told == {"jsonrpc": "2.0", "method": "notifications/tools/list_changed", "params": {}}
    assert served.close() == 0
    assert stream.event() is None
    stream.close()


def test_of_several_streams_of_one_session_one_is_told(served: Served) -> None:
    session = {**LEGACY, "Mcp-Session-Id": "same"}
    older, newer = served.stream("GET", session), served.stream("GET", session)
    served.file.write_text(MORE)
    assert newer.event() is not None
    served.close()
    assert older.event() is None
    older.close()
    newer.close()


def test_with_scopes_those_are_told_whose_own_list_has_changed(tmp_path: Path) -> None:
    words = ["-m", "autotool", "token", "new"]
    tokens = [
        subprocess.run(
            [sys.executable, *words, scope, "--scope", scope], cwd=tmp_path, check=True, capture_output=True, text=True
        ).stdout.split()[-1]
        for scope in ("some", "all")
    ]
    (tmp_path / "autotool.toml").write_text(
        '[auth]\ntokens = "tokens.toml"\n[scopes.some]\nallow = ["one"]\n[scopes.all]\nallow = ["*"]\n'
    )
    server = Served(tmp_path, "--reload")
    some, everything = (server.listen(1, token, toolsListChanged=True) for token in tokens)
    assert [stream.event() is not None for stream in (some, everything)] == [True, True]
    server.file.write_text(MORE)
    assert (everything.event() or {})["method"] == "notifications/tools/list_changed"
    assert server.close() == 0
    assert (some.event() or {})["result"]["resultType"] == "complete"
    assert (everything.event() or {})["result"]["resultType"] == "complete"
    some.close()
    everything.close()


def test_a_get_of_a_modern_client_or_without_the_media_type_is_refused(served: Served) -> None:
    for headers, status in (
        ({"MCP-Protocol-Version": "2026-07-28"}, 405),
        ({**LEGACY, "Accept": "application/json"}, 406),
        ({**LEGACY, "Origin": "https://evil.example"}, 403),
    ):
        stream = served.stream("GET", headers)
        assert stream.status == status
        stream.close()


def test_without_reload_a_get_is_refused(tmp_path: Path) -> None:
    server = Served(tmp_path)
    stream = server.stream("GET", LEGACY)
    assert stream.status == 405
    stream.close()
    assert server.close() == 0


def save(file: Path, text: str) -> None:
    file.write_text(text)


@contextlib.contextmanager
def target_of(transport: str, folder: Path) -> Iterator[tuple[Path, Any]]:
    if transport == "http":
        server = Served(folder, "--reload")
        try:
            yield server.file, server.url
        finally:
            server.close()
    else:
        file = folder / "shop.py"
        file.write_text(CODE)
        words = ["-m", "autotool", "serve", str(file), "--reload"]
        yield file, StdioServerParameters(command=sys.executable, args=words, cwd=str(folder))


@pytest.mark.parametrize("transport", ["stdio", "http"])
def test_the_official_client_listens_and_lists_again(transport: str, tmp_path: Path) -> None:
    async def run(file: Path, target: Any) -> list[str]:
        async with asyncio.timeout(30), mcp.Client(target) as client:
            assert len((await client.list_tools()).tools) == 1
            async with client.listen(tools_list_changed=True) as subscription:
                assert subscription.honored.tools_list_changed
                save(file, MORE)
                await anext(subscription)
                return [tool.name for tool in (await client.list_tools()).tools]

    with target_of(transport, tmp_path) as (file, target):
        assert asyncio.run(run(file, target)) == ["one", "two"]


@pytest.mark.parametrize("transport", ["stdio", "http"])
def test_the_official_client_of_earlier_revisions_is_told(transport: str, tmp_path: Path) -> None:
    async def run(file: Path, target: Any) -> None:
        told = asyncio.Event()

        async def on_message(message: Any) -> None:
            if "ToolListChanged" in type(getattr(message, "root", message)).__name__:
                told.set()

        async with asyncio.timeout(30), mcp.Client(target, mode="legacy", message_handler=on_message) as client:
            assert client.server_capabilities.tools.list_changed
            assert len((await client.list_tools()).tools) == 1
            text = CODE
            while not told.is_set():  # over HTTP the client opens its stream some time after the handshake
                text = MORE if text == CODE else CODE
                save(file, text)
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(2):
                        await told.wait()

    with target_of(transport, tmp_path) as (file, target):
        asyncio.run(run(file, target))


def test_the_fastmcp_client_is_told_on_stdio(tmp_path: Path) -> None:
    class Handler(MessageHandler):
        def __init__(self) -> None:
            self.told = asyncio.Event()

        async def on_tool_list_changed(self, message: Any) -> None:
            self.told.set()

    async def run(file: Path) -> list[str]:
        from fastmcp.client.transports import StdioTransport

        handler = Handler()
        transport = StdioTransport(sys.executable, ["-m", "autotool", "serve", str(file), "--reload"])
        async with asyncio.timeout(30), fastmcp.Client(transport, message_handler=handler, mode="legacy") as client:
            assert len(await client.list_tools()) == 1
            save(file, MORE)
            await handler.told.wait()
            return [tool.name for tool in await client.list_tools()]

    file = tmp_path / "shop.py"
    file.write_text(CODE)
    assert asyncio.run(run(file)) == ["one", "two"]
