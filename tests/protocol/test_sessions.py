"""What a client on one stream of messages gets, from the bytes of a line to the bytes of its answer."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest
from rawclient import META, check_message
from toyserver import STRUCTURED, ToySource, dispatcher

from autotool.transports.session import MAX_IN_FLIGHT, Session


class Client:
    """A client in memory: what it sends is handled at once, what it gets is kept."""

    def __init__(self, *, legacy: bool = True) -> None:
        self.source = ToySource()
        self.got: list[dict[str, Any]] = []
        self.on_message: Callable[[dict[str, Any]], None] = lambda message: None
        self.session = Session(dispatcher(self.source, legacy=legacy), self._receive)

    def _receive(self, data: bytes) -> None:
        assert b"\n" not in data
        self.got.append(json.loads(data))
        self.on_message(self.got[-1])

    def raw(self, line: str) -> None:
        self.session.receive(line.encode())

    def send(self, method: str, request_id: Any = None, *, meta: dict[str, Any] | None = META, **params: Any) -> None:
        message: dict[str, Any] = {"jsonrpc": "2.0", "method": method, "params": params}
        if request_id is not None:
            message["id"] = request_id
            message["params"] = {**params, **({"_meta": meta} if meta is not None else {})}
        self.session.receive(json.dumps(message).encode())

    def call(self, name: str, request_id: Any, *, meta: dict[str, Any] | None = META, **arguments: Any) -> None:
        self.send("tools/call", request_id, meta=meta, name=name, arguments=arguments)

    async def started(self) -> None:
        """What was sent has begun to run."""
        await asyncio.sleep(0)

    async def answer(self, request_id: Any) -> dict[str, Any]:
        """The answer with that id, of the same type."""
        async with asyncio.timeout(5):
            while True:
                for message in self.got:
                    if "method" not in message and (type(message["id"]), message["id"]) == (
                        type(request_id),
                        request_id,
                    ):
                        return message
                await asyncio.sleep(0)


def call_line(start: str = '"id":9,', arguments: str = '{"x":NaN}') -> str:
    return f'{{"jsonrpc":"2.0",{start}"method":"tools/call","params":{{"name":"ok","arguments":{arguments}}}}}'


@pytest.mark.parametrize(
    ("line", "request_id"),
    [
        (call_line(), 9),
        (call_line('"id":"a b",'), "a b"),
        (call_line(arguments='{"id":5,"x":NaN}'), 9),
        (call_line("", '{"id":5,"x":NaN}'), None),
        (call_line(arguments='{"x":"{\\"id\\": 5","y":1e400}'), 9),
        (call_line('"id":9,"id":9,', "{}"), None),
        (call_line('"id":9,"id":null,', "{}"), None),
        (call_line('"id":1.5,'), None),
        (call_line('"id":12345678901234567,'), None),
        (call_line('"id":"\\ud800",', "{}"), None),
        (f"[{call_line()}]", None),
        (call_line(arguments="[" * 100_000), 9),
        (call_line(arguments='{"x":' + "[" * 70 + "]" * 70 + "}"), 9),
        (call_line(arguments='{"x":"' + '\\"' * 60_000 + '","y":NaN}'), 9),
    ],
)  # fmt: skip
def test_an_unreadable_request_is_answered_under_its_own_id_only(line: str, request_id: Any) -> None:
    client = Client()
    client.raw(line)
    (answer,) = client.got
    assert (answer["id"], answer["error"]["code"]) == (request_id, -32700)
    check_message(answer, None, "2026-07-28")


@pytest.mark.parametrize(("digits", "fits"), [("9" * 40, True), ("-" + "9" * 40, True), ("9" * 41, False)])
def test_forty_digits_are_read_whatever_their_sign(digits: str, fits: bool) -> None:
    async def run() -> None:
        client = Client()
        client.send("initialize", 1, meta=None, protocolVersion="2025-11-25", capabilities={})
        client.raw(call_line(arguments=f'{{"x":{digits}}}'))
        assert ("result" in await client.answer(9)) is fits

    asyncio.run(run())


def test_a_legacy_client_may_ping_before_the_handshake() -> None:
    client = Client()
    client.send("ping", 1, meta=None)
    assert client.got == [{"jsonrpc": "2.0", "id": 1, "result": {}}]


@pytest.mark.parametrize(("method", "code"), [("initialize", -32022), ("ping", -32602), ("tools/list", -32602)])
def test_without_legacy_the_handshake_is_refused_with_the_revisions(method: str, code: int) -> None:
    client = Client(legacy=False)
    client.send(method, 1, meta=None, protocolVersion="2025-11-25")
    error = client.got[0]["error"]
    assert error["code"] == code
    if code == -32022:
        assert error["data"] == {"supported": ["2026-07-28"], "requested": "2025-11-25"}
        assert "2026-07-28" in error["message"]


def test_what_fails_inside_is_an_error_of_that_request_alone(caplog: pytest.LogCaptureFixture) -> None:
    async def run() -> None:
        client = Client()
        client.call("boom", 1)
        client.call("ok", 2)
        failed, fine = await client.answer(1), await client.answer(2)
        assert failed["error"]["code"] == -32603
        assert "inside" not in failed["error"]["message"]
        check_message(fine, "tools/call", "2026-07-28")

    asyncio.run(run())
    assert "inside" in caplog.text


def test_more_calls_than_one_client_may_have_are_told_to_come_back() -> None:
    async def run() -> None:
        client = Client()
        for number in range(MAX_IN_FLIGHT + 2):
            client.call("wait", number)
        assert [(one["id"], one["error"]["code"]) for one in client.got] == [
            (MAX_IN_FLIGHT, -31999),
            (MAX_IN_FLIGHT + 1, -31999),
        ]
        client.send("tools/list", "still answered")
        assert "result" in await client.answer("still answered")
        await client.started()
        client.send("notifications/cancelled", requestId=0)
        await client.source.was_cancelled.wait()
        await client.started()
        client.call("ok", "room again")
        assert "result" in await client.answer("room again")
        await client.session.finish(0)

    asyncio.run(run())


def test_a_cancelled_call_is_not_answered_and_its_namesake_is() -> None:
    async def run() -> None:
        client = Client()
        client.call("wait", "5")
        client.call("cancelled", 5)
        await client.started()
        client.send("notifications/cancelled", requestId="5", reason="enough")
        await client.answer(5)
        assert [message["id"] for message in client.got] == [5]

    asyncio.run(run())


@pytest.mark.parametrize("request_id", [None, True, {}, [], 99, 1.0, "x"])
def test_cancelling_what_is_not_there_changes_nothing(request_id: Any) -> None:
    async def run() -> None:
        client = Client()
        client.call("ok", 1)
        client.send("notifications/cancelled", requestId=request_id)
        assert "result" in await client.answer(1)

    asyncio.run(run())


def test_an_id_that_is_used_again_at_once_is_the_new_calls() -> None:
    async def run() -> None:
        client = Client()

        def again(message: dict[str, Any]) -> None:
            client.on_message = lambda message: None
            client.call("wait", 1)

        client.on_message = again
        client.call("ok", 1)
        await client.answer(1)
        await client.started()
        await client.started()
        client.call("ok", 1)
        assert client.got[-1]["error"]["code"] == -32600
        client.send("notifications/cancelled", requestId=1)
        async with asyncio.timeout(5):
            await client.source.was_cancelled.wait()

    asyncio.run(run())


def test_progress_grows_and_comes_before_the_answer() -> None:
    async def run() -> None:
        client = Client()
        client.call("steps", 1, meta={**META, "progressToken": "t"})
        await client.answer(1)
        for message in client.got:
            check_message(message, "tools/call", "2026-07-28")
        assert [message.get("params") for message in client.got] == [
            {"progressToken": "t", "progress": 1, "total": 2, "message": "counting"},
            {"progressToken": "t", "progress": 2, "total": 2, "message": "counting"},
            None,
        ]

    asyncio.run(run())


@pytest.mark.parametrize("token", [None, True, 1.5, {}])
def test_without_a_token_nothing_is_reported(token: Any) -> None:
    async def run() -> None:
        client = Client()
        client.call("steps", 1, meta={**META, "progressToken": token})
        await client.answer(1)
        assert len(client.got) == 1

    asyncio.run(run())


WRAPPED = {"number": {"result": 3}, "listed": {"result": [1]}, "mapping": {"a": 1}, "loose": {"result": [2]}, "tree": {"result": {}}}  # fmt: skip


@pytest.mark.parametrize("version", ["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26"])
@pytest.mark.parametrize("name", WRAPPED)
def test_each_revision_gets_the_structured_content_that_it_knows(name: str, version: str) -> None:
    async def run() -> None:
        client = Client()
        meta = META if version == "2026-07-28" else None
        if meta is None:
            client.send("initialize", 0, meta=None, protocolVersion=version, capabilities={})
            check_message(client.got[0], "initialize", version)
        client.call(name, 1, meta=meta)
        client.send("tools/list", 2, meta=meta)
        called, listed = await client.answer(1), await client.answer(2)
        check_message(called, "tools/call", version)
        check_message(listed, "tools/list", version)
        tool = next(tool for tool in listed["result"]["tools"] if tool["name"] == name)
        plain = json.loads(STRUCTURED[name])
        expected = {"2026-07-28": plain, "2025-03-26": None}.get(version, WRAPPED[name])
        assert called["result"].get("structuredContent") == expected
        assert ("resultType" in called["result"]) is (version == "2026-07-28")
        if version.startswith("2025") and "outputSchema" in tool:
            assert tool["outputSchema"]["type"] == "object"

    asyncio.run(run())


@pytest.mark.parametrize(
    ("method", "params", "data"),
    [
        ("prompts/get", {"name": "x"}, {"name": "x"}),
        ("resources/read", {"uri": "file:///x"}, {"uri": "file:///x"}),
        ("resources/read", {}, None),
        ("prompts/list", {"cursor": "x"}, None),
        ("tools/list", {"cursor": 5}, None),
        ("tools/call", {"arguments": {}}, None),
        ("tools/call", {"name": "ok", "arguments": [1]}, None),
        ("tools/call", {"name": "ok", "arguments": "{}"}, None),
        ("tools/call", {"name": "no"}, None),
    ],
)
def test_wrong_parameters_are_minus_32602(method: str, params: dict[str, Any], data: Any) -> None:
    async def run() -> None:
        client = Client()
        client.send(method, 1, **params)
        error = (await client.answer(1))["error"]
        assert (error["code"], error.get("data")) == (-32602, data)

    asyncio.run(run())


@pytest.mark.parametrize("method", ["server/discover", "tools/list", "prompts/list", "resources/list", "resources/templates/list"])  # fmt: skip
def test_what_may_be_kept_says_for_how_long(method: str) -> None:
    async def run() -> dict[str, Any]:
        client = Client()
        client.send(method, 1)
        return await client.answer(1)

    message = asyncio.run(run())
    check_message(message, method, "2026-07-28")
    assert (message["result"]["ttlMs"], message["result"]["cacheScope"]) == (300_000, "public")
