"""HTTP as a client on a socket sees it, against the transport and the protocol around tools in memory."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from rawclient import META, check_message

PROGRAM = Path(__file__).parent.parent / "toyserver.py"
CALL = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call"}


class Web:
    """A server and one exchange at a time with it, byte by byte."""

    def __init__(self, *options: str) -> None:
        command = [sys.executable, str(PROGRAM), "http", *options]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL)
        assert self.process.stdout is not None
        self.port = int(self.process.stdout.readline())

    def open(self, head: str, body: bytes = b"") -> socket.socket:
        connection = socket.create_connection(("127.0.0.1", self.port), 10)
        connection.sendall(head.replace("\n", "\r\n").encode("latin-1") + b"\r\n" + body)
        return connection

    def exchange(self, body: bytes, headers: dict[str, str], *, method: str = "POST") -> tuple[int, str, bytes]:
        """Status, head in lower case, and body of the answer to a request that closes its connection."""
        with self.open(self.head(len(body), headers, method), body) as connection:
            return parted(read_all(connection))

    def head(self, length: int | None, headers: dict[str, str], method: str = "POST") -> str:
        named = {"Host": f"127.0.0.1:{self.port}", "Content-Type": "application/json", "Accept": "*/*", "Connection": "close"}  # fmt: skip
        if length is not None:
            named["Content-Length"] = str(length)
        lines = [f"{name}: {value}" for name, value in {**named, **headers}.items() if value]
        return "\n".join([f"{method} /mcp HTTP/1.1", *lines]) + "\n"

    def call(
        self,
        name: str,
        arguments: dict[str, Any] | None = None,
        headers: dict[str, str] | None = None,
        *,
        token: str = "",
    ) -> tuple[int, str, bytes]:
        meta = {**META, "progressToken": token} if token else META
        body = message("tools/call", name=name, arguments=arguments or {}, _meta=meta)
        return self.exchange(body, {**CALL, "Mcp-Name": name, **(headers or {})})

    def close(self) -> None:
        assert self.process.stdout is not None
        self.process.terminate()
        code = self.process.wait(15)
        self.process.stdout.close()
        assert code == 0


def message(method: str, **params: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()


def read_all(connection: socket.socket) -> bytes:
    found = b""
    while data := connection.recv(65536):
        found += data
    return found


def parted(answer: bytes) -> tuple[int, str, bytes]:
    head, _, body = answer.partition(b"\r\n\r\n")
    return int(head.split()[1]), head.decode("latin-1").lower(), body


@pytest.fixture(scope="module")
def web() -> Iterator[Web]:
    server = Web()
    yield server
    server.close()


@pytest.fixture(scope="module")
def modern_only() -> Iterator[Web]:
    server = Web("modern")
    yield server
    server.close()


def test_progress_turns_the_answer_into_events(web: Web) -> None:
    status, head, body = web.call("steps", token="t")
    assert status == 200
    assert "content-type: text/event-stream" in head
    assert "x-accel-buffering: no" in head
    events = [line[6:] for line in chunks(body).decode().split("\r\n") if line.startswith("data: ")]
    messages = [json.loads(event) for event in events]
    for one in messages:
        check_message(one, "tools/call", "2026-07-28")
    assert [one.get("params", {}).get("progress") for one in messages] == [1, 2, None]
    assert messages[-1]["id"] == 1


def chunks(body: bytes) -> bytes:
    """A chunked body put together."""
    found = b""
    while body:
        size, _, rest = body.partition(b"\r\n")
        found += rest[: int(size, 16)]
        body = rest[int(size, 16) + 2 :]
    return found


def test_without_a_token_the_answer_is_one_object(web: Web) -> None:
    status, head, body = web.call("steps")
    assert status == 200
    assert "content-type: application/json" in head
    check_message(json.loads(body), "tools/call", "2026-07-28")


@pytest.mark.parametrize("token", ["", "t"], ids=["json", "events"])
def test_a_client_that_goes_away_cancels_its_call(token: str, web: Web) -> None:
    params = {"name": "wait", "arguments": {}, "_meta": {**META, "progressToken": token} if token else META}
    body = message("tools/call", **params)
    with web.open(web.head(len(body), {**CALL, "Mcp-Name": "wait"}), body) as connection:
        seen = b""
        while token and b"notifications/progress" not in seen:
            seen += connection.recv(65536)
    status, _, answer = web.call("cancelled")
    assert status == 200
    assert b"yes" in answer


def test_what_fails_inside_is_500_and_says_nothing_of_the_inside(web: Web) -> None:
    status, _, body = web.call("boom")
    assert (status, json.loads(body)["error"]["code"]) == (500, -32603)
    assert b"RuntimeError" not in body


@pytest.mark.parametrize(
    ("arguments", "headers", "status"),
    [
        ({"region": "eu"}, {"Mcp-Param-Region": "us"}, 400),
        ({}, {"Mcp-Param-Region": "us"}, 400),
        ({"region": "eu"}, {"Mcp-Param-Region": "eu"}, 200),
        ({"region": "eu"}, {}, 200),
    ],
)
def test_a_mirrored_header_is_compared_whatever_the_revision(
    arguments: dict[str, Any], headers: dict[str, str], status: int, web: Web
) -> None:
    """A request that names an earlier revision must not slip past what a gateway has read from its headers."""
    body = message("tools/call", name="routed", arguments=arguments)
    got, _, answer = web.exchange(body, {"MCP-Protocol-Version": "2025-06-18", **headers})
    assert got == status
    assert (b"-32020" in answer) is (status == 400)


@pytest.mark.parametrize(
    ("arguments", "headers", "fits"),
    [
        ({"count": 2**53 + 1}, {"Mcp-Param-Count": str(2**53 + 1)}, True),
        ({"count": 2**53 + 1}, {"Mcp-Param-Count": str(2**53)}, False),
        ({"count": 7}, {"Mcp-Param-Count": "7.00"}, True),
        ({"count": 7.0}, {"Mcp-Param-Count": "7"}, True),
        ({"count": 10}, {"Mcp-Param-Count": "1_0"}, False),
        ({"count": 7}, {"Mcp-Param-Count": "7.5"}, False),
        ({"count": 7}, {"Mcp-Param-Count": "+7"}, False),
        ({"region": "größe"}, {"Mcp-Param-Region": "größe"}, False),
        ({"region": "ok"}, {"Mcp-Param-Region": "\xa0ok"}, False),
        ({"region": " padded "}, {"Mcp-Param-Region": "=?base64?IHBhZGRlZCA=?="}, True),
        ({"region": "=?base64?literal?="}, {"Mcp-Param-Region": "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?="}, True),
        ({"region": "x"}, {"Mcp-Param-Region": "=?BASE64?eA==?="}, False),
        ({"region": "x"}, {"Mcp-Param-Region": "=?base64?eA?="}, False),
    ],
)
def test_header_values_are_compared_exactly(
    arguments: dict[str, Any], headers: dict[str, str], fits: bool, web: Web
) -> None:
    status, _, body = web.call("routed", arguments, headers)
    assert (status, b"-32020" in body) == ((200, False) if fits else (400, True))


def test_an_earlier_client_that_asks_for_an_unknown_method_keeps_its_session(web: Web) -> None:
    """2025-11-25, transports, "Session Management": a 404 means that the session has ended."""
    status, _, body = web.exchange(message("prompts/list"), {"MCP-Protocol-Version": "2025-11-25"})
    assert (status, json.loads(body)["error"]["code"]) == (200, -32601)


@pytest.mark.parametrize(
    ("version", "method", "code"),
    [
        ("2025-06-18", "tools/list", -32022),
        ("2099-01-01", "tools/list", -32022),
        ("", "tools/list", -32020),
        ("", "initialize", -32022),
        ("2025-11-25", "initialize", -32022),
        ("2026-07-28", "tools/list", -32602),
    ],
)
def test_without_legacy_an_earlier_revision_is_told_what_is_spoken(
    version: str, method: str, code: int, modern_only: Web
) -> None:
    body = message(method, protocolVersion="2025-11-25")
    status, _, answer = modern_only.exchange(body, {"MCP-Protocol-Version": version})
    error = json.loads(answer)["error"]
    assert (status, error["code"]) == (400, code)
    if code == -32022:
        assert error["data"]["supported"] == ["2026-07-28"]
    check_message(json.loads(answer), None, "2026-07-28")


@pytest.mark.parametrize(
    ("header", "value", "status"),
    [
        ("Host", "127.0.0.1:{port}", 200),
        ("Host", "LOCALHOST:{port}", 200),
        ("Host", "[::1]:{port}", 200),
        ("Host", "localhost:1", 421),
        ("Host", "a@localhost", 421),
        ("Host", "localhost/x", 421),
        ("Host", "localhost.evil.example", 421),
        ("Origin", "http://localhost:{port}", 200),
        ("Origin", "http://[::1]:{port}", 200),
        ("Origin", "http://localhost:1", 403),
        ("Origin", "http://localhost:{port}/x", 403),
        ("Origin", "http://localhost.evil.example:{port}", 403),
        ("Origin", "http://localhost:99999", 403),
        ("Origin", "file://", 403),
        ("Origin", "http://[::1", 403),
    ],
)
def test_only_its_own_names_and_its_own_port_are_let_in(header: str, value: str, status: int, web: Web) -> None:
    assert web.call("ok", headers={header: value.format(port=web.port)})[0] == status


def test_a_body_that_does_not_come_is_given_up(web: Web) -> None:
    with web.open(web.head(1000, CALL), b'{"jsonrpc"') as connection:
        status, _, body = parted(read_all(connection))
    assert (status, json.loads(body)["error"]["code"]) == (408, -32600)


def test_a_body_that_grows_over_the_limit_is_413(web: Web) -> None:
    head = web.head(None, {**CALL, "Transfer-Encoding": "chunked"})
    with web.open(head) as connection:
        piece = b"x" * (1 << 20)
        for _ in range(4):
            connection.sendall(b"%x\r\n%s\r\n" % (len(piece), piece))
        connection.sendall(b"1\r\nx\r\n0\r\n\r\n")
        status, _, body = parted(read_all(connection))
    assert (status, json.loads(body)["error"]["code"]) == (413, -32600)
    assert web.call("ok")[0] == 200


@pytest.mark.parametrize("path", ["/", "/mcp/x", "/other", "/MCP"])
def test_there_is_nothing_anywhere_else(path: str, web: Web) -> None:
    head = web.head(2, {}).replace("/mcp", path, 1)
    with web.open(head, b"{}") as connection:
        assert parted(read_all(connection))[0] == 404


def test_a_port_in_use_is_said_in_one_line(web: Web) -> None:
    command = [sys.executable, "-m", "autotool", "serve", "math", "--http", "--port", str(web.port)]
    finished = subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=30, check=False
    )
    assert finished.returncode == 2
    assert f"port {web.port}" in finished.stderr
    assert "--port" in finished.stderr
    assert "Traceback" not in finished.stderr
