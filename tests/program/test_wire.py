"""What may arrive on either transport, and what answers it. Each row runs on stdio and over HTTP against one real server each."""

from __future__ import annotations

import http.client
import json
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from rawclient import META, RawClient, check_message, text_of

TOOLS = """
import os, time
import autotool

CALLS = 0

def ok() -> str:
    "Say ok."
    return "ok"

def count(x: int = 0) -> int:
    "Count the calls of it."
    global CALLS
    CALLS += 1
    return CALLS

def calls() -> int:
    "How often `count` was called."
    return CALLS

def nap(s: float) -> str:
    "Sleep."
    time.sleep(s)
    return "done"

def echo(x) -> object:
    "Give it back."
    return x

@autotool.tool(input_schema={"type": "object", "properties": {
    "region": {"type": "string", "x-mcp-header": "Region"}, "count": {"type": "integer", "x-mcp-header": "Count"},
    "inner": {"type": "object", "properties": {"deep": {"type": "boolean", "x-mcp-header": "Deep"}}}}})
def routed(**where: object) -> str:
    "Go where the headers say."
    return "routed"
"""


class Http:
    """A server over HTTP, and one request at a time to it."""

    def __init__(self, folder: Path, *options: str) -> None:
        command = [sys.executable, "-m", "autotool", "serve", "./tools.py", "--http", "--port", "0", *options]
        self.process = subprocess.Popen(
            command, cwd=folder, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True
        )
        assert self.process.stderr is not None
        line = next(line for line in self.process.stderr if " at " in line)
        found = re.search(r"http://127.0.0.1:(\d+)/mcp", line)
        self.port = int(found.group(1)) if found else 0

    def post(
        self, body: bytes, headers: dict[str, str] | None = None, method: str = "POST"
    ) -> tuple[int, dict[str, str], bytes]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        sent = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream", **(headers or {})}
        connection.request(method, "/mcp", body, {name: value for name, value in sent.items() if value})
        answer = connection.getresponse()
        found = answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read()
        connection.close()
        return found

    def call(self, name: str, arguments: dict[str, Any] | None = None, **headers: str) -> dict[str, Any]:
        status, _, body = self.post(*modern("tools/call", name=name, arguments=arguments or {}, headers=headers))
        assert status == 200, body
        message = json.loads(body)
        check_message(message, "tools/call", "2026-07-28")
        return message["result"]


def modern(
    method: str, *, request_id: Any = 1, headers: dict[str, str] | None = None, **params: Any
) -> tuple[bytes, dict[str, str]]:
    message = {"jsonrpc": "2.0", "id": request_id, "method": method, "params": {**params, "_meta": META}}
    named = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": method}
    if "name" in params:
        named["Mcp-Name"] = params["name"]
    return json.dumps(message).encode(), {**named, **(headers or {})}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("wire")
    (path / "tools.py").write_text(TOOLS)
    return path


@pytest.fixture(scope="module")
def web(folder: Path) -> Iterator[Http]:
    server = Http(folder)
    yield server
    server.process.terminate()
    assert server.process.wait(15) == 0
    assert server.process.stderr is not None
    server.process.stderr.close()


@pytest.fixture(scope="module")
def pipe(folder: Path) -> Iterator[RawClient]:
    with RawClient("./tools.py", cwd=folder, legacy=True) as client:
        yield client


def received(connection: socket.socket, wanted: bytes) -> bytes:
    """What arrives until `wanted` has, or the other side closes."""
    found = b""
    connection.settimeout(15)
    while wanted not in found and (data := connection.recv(65536)):
        found += data
    return found


def count_call(
    extra: str = "", arguments: str = '{"x": 1}', head: str = '"jsonrpc":"2.0","id":7,"method":"tools/call"'
) -> str:
    return f'{{{head},"params":{{"name":"count","arguments":{arguments}{extra}}}}}'


DEEP = "[" * 100_000 + "]" * 100_000
REFUSED = {
    "no JSON": ("hello", -32700),
    "cut off": (count_call()[:-3], -32700),
    "a batch": (f"[{count_call()}]", -32600),
    "an empty batch": ("[]", -32600),
    "a string": ('"x"', -32600),
    "jsonrpc 1.0": (count_call(head='"jsonrpc":"1.0","id":7,"method":"tools/call"'), -32600),
    "no jsonrpc": (count_call(head='"id":7,"method":"tools/call"'), -32600),
    "id null": (count_call(head='"jsonrpc":"2.0","id":null,"method":"tools/call"'), -32600),
    "id 1.5": (count_call(head='"jsonrpc":"2.0","id":1.5,"method":"tools/call"'), -32600),
    "id true": (count_call(head='"jsonrpc":"2.0","id":true,"method":"tools/call"'), -32600),
    "id too long": (count_call(head=f'"jsonrpc":"2.0","id":"{"x" * 129}","method":"tools/call"'), -32600),
    "id too large": (count_call(head='"jsonrpc":"2.0","id":9007199254740993,"method":"tools/call"'), -32600),
    "method no string": ('{"jsonrpc":"2.0","id":7,"method":5}', -32600),
    "params no object": ('{"jsonrpc":"2.0","id":7,"method":"tools/call","params":[1]}', -32600),
    "name twice": (count_call(extra=',"name":"ok"'), -32700),
    "an argument twice": (count_call(arguments='{"x": 1, "x": 2}'), -32700),
    "deep inside twice": (count_call(arguments='{"x": 1, "y": {"a": 1, "a": 2}}'), -32700),
    "method twice": (count_call(head='"jsonrpc":"2.0","id":7,"method":"ping","method":"tools/call"'), -32700),
    "Name beside name": (count_call(extra=',"Name":"ok"'), -32600),
    "Method beside method": (count_call(head='"jsonrpc":"2.0","id":7,"method":"tools/call","Method":"ping"'), -32600),
    "NaN": (count_call(arguments='{"x": NaN}'), -32700),
    "Infinity": (count_call(arguments='{"x": -Infinity}'), -32700),
    "1e400": (count_call(arguments='{"x": 1e400}'), -32700),
    "10,000 digits": (count_call(arguments=f'{{"x": {"9" * 10_000}}}'), -32700),
    "65 levels": (count_call(arguments=f'{{"x": {"[" * 62}{"]" * 62}}}'), -32700),
    "100,000 levels": (count_call(arguments=f'{{"x": {DEEP}}}'), -32700),
    "half a surrogate pair": (count_call(arguments='{"x": "\\ud800"}'), -32700),
    "invalid UTF-8": (count_call(arguments='{"x": "\xff"}').encode("latin-1"), -32700),
    "UTF-16": (count_call().encode("utf-16-le"), -32700),
    "a byte order mark": (b"\xef\xbb\xbf" + count_call().encode(), -32700),
}


@pytest.mark.parametrize(("message", "code"), REFUSED.values(), ids=REFUSED.keys())
def test_what_is_refused_on_stdio_is_answered_and_not_run(message: str | bytes, code: int, pipe: RawClient) -> None:
    before = text_of(pipe.call("calls")["result"])
    data = message.encode() if isinstance(message, str) else message
    pipe.write(data.replace(b"\n", b" ") + b"\n")
    answer = pipe.next_message(5)
    assert answer is not None
    assert answer["error"]["code"] == code, answer
    assert text_of(pipe.call("ok")["result"]) == "ok"
    assert text_of(pipe.call("calls")["result"]) == before


@pytest.mark.parametrize(("message", "code"), REFUSED.values(), ids=REFUSED.keys())
def test_what_is_refused_over_http_is_answered_and_not_run(message: str | bytes, code: int, web: Http) -> None:
    before = text_of(web.call("calls"))
    status, _, body = web.post(
        message.encode() if isinstance(message, str) else message, {"MCP-Protocol-Version": "2025-11-25"}
    )
    assert (status, json.loads(body)["error"]["code"]) == (400, code)
    assert text_of(web.call("calls")) == before


def test_an_id_that_can_be_told_is_in_the_error(pipe: RawClient) -> None:
    pipe.send(count_call(arguments='{"x": NaN}'))
    answer = pipe.next_message(5)
    assert answer is not None
    assert answer["id"] == 7


def test_64_levels_are_read(pipe: RawClient) -> None:
    value: Any = 1
    for _ in range(61):
        value = [value]
    assert pipe.call("echo", {"x": value})["result"]["isError"] in (True, False)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"x": True}, "`x`"),
        ({"x": "nan"}, "`x`"),
        ({"x": 1.5}, "`x`"),
        ({"x": 1, "evil": 2}, "`evil`"),
        ({"X": 1}, "`X`"),
    ],
)
def test_arguments_that_the_schema_forbids_are_tool_errors(
    arguments: dict[str, Any], said: str, pipe: RawClient, web: Http
) -> None:
    before = text_of(pipe.call("calls")["result"])
    for result in (pipe.call("count", arguments)["result"], web.call("count", arguments)):
        assert result["isError"]
        assert said in text_of(result)
    assert text_of(pipe.call("calls")["result"]) == before


def test_a_line_over_the_limit_is_discarded_in_bounded_memory(pipe: RawClient) -> None:
    import psutil

    front = psutil.Process(pipe.process.pid)
    before = front.memory_info().rss
    pipe.write(b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"')
    peak = before
    for _ in range(64):
        pipe.write(b"x" * (1 << 20))
        peak = max(peak, front.memory_info().rss)
    pipe.write(b'"}}\n')
    answer = pipe.next_message(10)
    assert answer is not None
    assert answer["error"]["code"] == -32600
    assert peak - before < 32 * (1 << 20)
    assert text_of(pipe.call("ok")["result"]) == "ok"


def test_a_body_over_the_limit_is_413(web: Http) -> None:
    assert web.post(b"x" * (4 * 1024 * 1024 + 1))[0] == 413
    assert text_of(web.call("ok")) == "ok"


def test_requests_under_way_have_ids_of_their_own(pipe: RawClient) -> None:
    slow = {"jsonrpc": "2.0", "id": "5", "method": "tools/call", "params": {"name": "nap", "arguments": {"s": 0.6}}}
    pipe.send(slow)
    pipe.send({**slow, "id": 5})
    pipe.send(slow)
    refused = pipe.next_message(5)
    assert refused is not None
    assert (refused["id"], refused["error"]["code"]) == ("5", -32600)
    pipe.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "5"}})
    answer = pipe.next_message(5)
    assert answer is not None
    assert answer["id"] == 5
    assert pipe.answer("5", 0.5) is None


def test_blank_lines_and_carriage_returns_are_tolerated(pipe: RawClient) -> None:
    pipe.write(b"\n\r\n" + json.dumps({"jsonrpc": "2.0", "id": "crlf", "method": "ping"}).encode() + b"\r\n")
    assert pipe.answer("crlf", 5) is not None


def test_a_client_may_pipeline_the_handshake(folder: Path) -> None:
    with RawClient("./tools.py", cwd=folder) as client:
        hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
        client.send({"jsonrpc": "2.0", "id": "a", "method": "initialize", "params": hello})
        client.send({"jsonrpc": "2.0", "id": "b", "method": "tools/list"})
        first, second = client.answer("a", 10), client.answer("b", 10)
    assert first is not None
    assert second is not None
    assert first["result"]["protocolVersion"] == "2025-06-18"
    assert "resultType" not in second["result"]


MODERN_ERRORS = {
    "no _meta": ({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}, {}, 400, -32602),
    "no capabilities": ({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}}}, {}, 400, -32602),
    "unknown method": (json.loads(modern("no/such")[0]), {"Mcp-Method": "no/such"}, 404, -32601),
    "ping is legacy": (json.loads(modern("ping")[0]), {"Mcp-Method": "ping"}, 404, -32601),
    "no method header": (json.loads(modern("tools/list")[0]), {"Mcp-Method": ""}, 400, -32020),
    "another method": (json.loads(modern("tools/list")[0]), {"Mcp-Method": "tools/call"}, 400, -32020),
    "no version header": (json.loads(modern("tools/list")[0]), {"MCP-Protocol-Version": ""}, 400, -32020),
    "another version": (json.loads(modern("tools/list")[0]), {"MCP-Protocol-Version": "2025-06-18"}, 400, -32020),
    "no name": (json.loads(modern("tools/call", name="ok")[0]), {"Mcp-Method": "tools/call"}, 400, -32020),
    "another name": (json.loads(modern("tools/call", name="ok")[0]), {"Mcp-Method": "tools/call", "Mcp-Name": "nap"}, 400, -32020),
    "bad base64": (json.loads(modern("tools/call", name="ok")[0]), {"Mcp-Method": "tools/call", "Mcp-Name": "=?base64?!?="}, 400, -32020),
    "bad cursor": (json.loads(modern("tools/list", cursor="x")[0]), {}, 200, -32602),
}  # fmt: skip


@pytest.mark.parametrize(("message", "headers", "status", "code"), MODERN_ERRORS.values(), ids=MODERN_ERRORS.keys())
def test_errors_of_the_modern_revision(
    message: dict[str, Any], headers: dict[str, str], status: int, code: int, web: Http
) -> None:
    sent = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/list", **headers}
    got, _, body = web.post(json.dumps(message).encode(), sent)
    answer = json.loads(body)
    assert (got, answer["error"]["code"], answer["id"]) == (status if code != -32602 or status == 400 else got, code, 1)


def test_an_unknown_version_is_told_which_are_known(web: Http) -> None:
    body, headers = modern("tools/list")
    status, _, answer = web.post(
        body.replace(b"2026-07-28", b"2099-01-01"), {**headers, "MCP-Protocol-Version": "2099-01-01"}
    )
    error = json.loads(answer)["error"]
    assert (status, error["code"], error["data"]) == (
        400,
        -32022,
        {"supported": ["2026-07-28"], "requested": "2099-01-01"},
    )


def test_a_name_may_come_in_base64(web: Http) -> None:
    assert text_of(web.call("ok", **{"Mcp-Name": "=?base64?b2s=?="})) == "ok"


@pytest.mark.parametrize(
    ("arguments", "headers", "fits"),
    [
        ({"region": "eu"}, {"Mcp-Param-Region": "eu"}, True),
        ({"region": "eu"}, {}, False),
        ({"region": "eu"}, {"Mcp-Param-Region": "us"}, False),
        ({}, {"Mcp-Param-Region": "eu"}, False),
        ({}, {}, True),
        ({"region": None}, {}, None),
        ({"region": "größe"}, {"Mcp-Param-Region": "=?base64?Z3LDtsOfZQ==?="}, True),
        ({"count": 7}, {"Mcp-Param-Count": "7"}, True),
        ({"count": 7}, {"mcp-param-count": "7.0"}, True),
        ({"count": 7}, {"Mcp-Param-Count": "8"}, False),
        ({"count": 7}, {"Mcp-Param-Count": "seven"}, False),
        ({"inner": {"deep": True}}, {"Mcp-Param-Deep": "true"}, True),
        ({"inner": {"deep": True}}, {"Mcp-Param-Deep": "True"}, False),
    ],
)
def test_headers_from_parameters_are_compared_with_the_body(
    arguments: dict[str, Any], headers: dict[str, str], fits: bool | None, web: Http
) -> None:
    status, _, body = web.post(*modern("tools/call", name="routed", arguments=arguments, headers=headers))
    answer = json.loads(body)
    if fits is False:
        assert (status, answer["error"]["code"]) == (400, -32020)
    else:
        assert status == 200
        assert answer["result"]["isError"] is (fits is None)


def test_a_header_that_stands_twice_is_refused(web: Http) -> None:
    body, headers = modern("tools/call", name="ok", arguments={})
    lines = "".join(f"{name}: {value}\r\n" for name, value in [*headers.items(), ("Mcp-Name", "nap")])
    head = f"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: */*\r\n{lines}Content-Length: {len(body)}\r\n\r\n"
    with socket.create_connection(("127.0.0.1", web.port), 10) as connection:
        connection.sendall(head.encode() + body)
        answer = received(connection, b"-32020")
    assert b" 400 " in answer
    assert b"-32020" in answer


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Origin": "http://evil.example"}, 403), ({"Origin": "null"}, 403), ({"Origin": "http://localhost:1@evil.example"}, 403),
        ({"Origin": "http://localhost:1234"}, 403), ({"Origin": "http://localhost"}, 200), ({"Host": "evil.example"}, 421), ({"Host": "localhost:1"}, 421), ({"Host": "127.0.0.1:evil"}, 421), ({"Host": "localhost"}, 200),
        ({"Content-Type": "application/jsonx"}, 415), ({"Content-Type": "text/plain"}, 415), ({"Content-Type": "application/json; charset=utf-8"}, 200),
        ({"Accept": "text/html"}, 406), ({"Accept": "application/json"}, 406), ({"Accept": "*/*"}, 200),
    ],
)  # fmt: skip
def test_what_every_request_must_pass(headers: dict[str, str], status: int, web: Http) -> None:
    body, named = modern("tools/list")
    assert web.post(body, {**named, **headers})[0] == status


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT"])
def test_only_post_is_allowed(method: str, web: Http) -> None:
    status, headers, _ = web.post(b"", method=method)
    assert (status, headers["allow"]) == (405, "POST")


def test_a_notification_is_accepted_without_a_body(web: Http) -> None:
    status, _, body = web.post(b'{"jsonrpc":"2.0","method":"notifications/initialized"}')
    assert (status, body) == (202, b"")


@pytest.mark.parametrize("version", ["2025-11-25", "2025-06-18", "2025-03-26", ""])
def test_earlier_revisions_get_objects_and_no_result_type(version: str, web: Http) -> None:
    headers = {"MCP-Protocol-Version": version}
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "count", "arguments": {}}}
    result = json.loads(web.post(json.dumps(call).encode(), headers)[2])["result"]
    listed = json.loads(web.post(b'{"jsonrpc":"2.0","id":1,"method":"tools/list"}', headers)[2])["result"]
    tool = next(tool for tool in listed["tools"] if tool["name"] == "count")
    assert "resultType" not in result
    assert "ttlMs" not in listed
    if version >= "2025-06-18":
        assert result["structuredContent"] == {"result": int(text_of(result))}
        assert tool["outputSchema"]["properties"]["result"]["type"] == "integer"
        check_message({"result": listed}, "tools/list", version)
    else:
        assert "structuredContent" not in result
        assert "outputSchema" not in tool


def test_pages_lead_on_to_all_tools_once(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "autotool.toml").write_text("[server]\npage_size = 2\n")
    with RawClient("./tools.py", "--config", str(tmp_path / "autotool.toml"), cwd=folder) as client:
        names: list[str] = []
        cursor: dict[str, str] = {}
        while True:
            result = client.request("tools/list", **cursor)["result"]
            names += [tool["name"] for tool in result["tools"]]
            if "nextCursor" not in result:
                break
            cursor = {"cursor": result["nextCursor"]}
        spoilt = client.request("tools/list", cursor=cursor["cursor"][:-2] + "xx")
    assert names == ["ok", "count", "calls", "nap", "echo", "routed"]
    assert spoilt["error"]["code"] == -32602


def test_sigterm_finishes_the_call_in_flight(folder: Path) -> None:
    server = Http(folder)
    with socket.create_connection(("127.0.0.1", server.port), 15) as connection:
        body, headers = modern("tools/call", name="nap", arguments={"s": 1.0})
        lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        head = f"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: */*\r\n{lines}Content-Length: {len(body)}\r\n\r\n"
        connection.sendall(head.encode() + body)
        time.sleep(0.3)  # the request has to be in flight before the signal; nothing tells when it is
        server.process.send_signal(signal.SIGTERM)
        assert b'"done"' in received(connection, b'"done"')
    assert server.process.wait(12) == 0
    assert server.process.stderr is not None
    server.process.stderr.close()


def test_a_unix_socket_serves_too(folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "s"
    server = Http(folder, "--uds", str(path))
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(str(path))
        body, headers = modern("tools/list")
        lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        head = f"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: */*\r\n{lines}Content-Length: {len(body)}\r\n\r\n"
        connection.sendall(head.encode() + body)
        assert b" 200 " in received(connection, b" 200 ")
    assert path.stat().st_mode & 0o777 == 0o600
    server.process.terminate()
    assert server.process.wait(12) == 0
    assert server.process.stderr is not None
    server.process.stderr.close()
