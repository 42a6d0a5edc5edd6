"""Functions that ask a person, through the official client in both eras, on both transports."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

import mcp
import mcp_types
import pytest
from mcp import StdioServerParameters
from rawclient import META, RawClient, text_of
from webserver import WebServer

CODE = '''
import datetime
import enum
import secrets
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal

import autotool
from autotool import Context, Question, Visit

class Board(enum.Enum):
    half = "half board"
    full = "full board"

@dataclass
class Stay:
    day: datetime.date
    nights: Annotated[int, "How many nights."] = 1
    board: Board = Board.half
    extras: list[Literal["sauna", "dog", "cot"]] = field(default_factory=lambda: ["sauna"])
    quiet: bool = False
    note: str | None = None

def book(ctx: Context) -> dict:
    """Book a room."""
    stay = ctx.ask("When do you come?", Stay)
    return {"stay": repr(stay)}

def pair(ctx: Context) -> dict:
    """Ask two things at once, then a third."""
    Path("runs.txt").open("a").write("x")
    both = ctx.ask_all({
        "name": Question("Your name?", {"name": str}),
        "size": Question("Your size?", {"size": Literal[38, 40], "tall": bool | None}),
    })
    sure = ctx.ask(f"Sure, {both['name']['name']}?", {"type": "object", "properties": {"sure": {"type": "boolean", "default": True}}})
    return {**both["name"], **both["size"], **sure}

async def grow(ctx: Context) -> list:
    """Ask until there is enough."""
    found: list[str] = []
    while len(found) < 3:
        found.append(ctx.ask(f"Word {len(found) + 1}?", {"word": str})["word"])
    return found

def link(ctx: Context) -> dict:
    """Send the person to a page."""
    address = ctx.ask_url("Please sign in.", f"https://acme.example/login?state={secrets.token_urlsafe(8)}")
    return {"address": address, "can": [ctx.can_ask, ctx.can_ask_url]}

def changing(ctx: Context) -> str:
    """Ask something else in each run."""
    runs = len(Path("runs.txt").read_text()) if Path("runs.txt").exists() else 0
    Path("runs.txt").open("a").write("x")
    return str(ctx.ask(f"Delete {min(runs, 1)} files?", {"yes": bool}))

def wrong(what: str, ctx: Context) -> Any:
    """Ask for what cannot be asked for."""
    if what == "secret":
        return ctx.ask("Sign in", {"user": str, "password": str})
    if what == "address":
        return ctx.ask_url("Go", "http://acme.example/")
    if what == "user":
        return ctx.ask_url("Go", "https://me:pw@acme.example/")
    if what == "key":
        return ctx.ask("x", {"x": int}, key="approval")
    schemas = {
        "nested": {"a": {"type": "object", "properties": {}}}, "list": {"a": list[str]}, "any": {"a": Any}, "empty": {},
        "pattern": {"a": {"type": "string", "pattern": "x"}}, "format": {"a": {"type": "string", "format": "ipv4"}},
        "union": {"type": "object", "properties": {"a": {"type": "string"}}, "anyOf": []},
    }
    return ctx.ask("x", schemas[what])
'''

ANSWERS: dict[str, dict[str, Any]] = {
    "When do you come?": {"day": "2026-12-24", "nights": 3, "board": "full board", "extras": ["dog", "cot"]},
    "Your name?": {"name": "Ann", "more": "of what nobody asked"},
    "Your size?": {"size": "40"},
    "Sure, Ann?": {},
    "Word 1?": {"word": "a"},
    "Word 2?": {"word": "b"},
    "Word 3?": {"word": "c"},
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "shop.py").write_text(CODE)
    return tmp_path


@pytest.mark.parametrize("mode", ["auto", "legacy"])
@pytest.mark.parametrize("over", ["stdio", "http"])
def test_a_person_is_asked_through_the_official_client(folder: Path, mode: str, over: str) -> None:
    seen: list[Any] = []

    async def answer(_: Any, params: Any) -> Any:
        seen.append(params)
        content = ANSWERS[params.message] if params.mode == "form" else None
        return mcp_types.ElicitResult(action="accept", content=content)

    async def work(target: Any) -> None:
        async with mcp.Client(target, mode=mode, elicitation_callback=answer) as client:
            booked = await client.call_tool("book", {})
            assert booked.structured_content == {
                "stay": "Stay(day=datetime.date(2026, 12, 24), nights=3, board=<Board.full: 'full board'>, "
                "extras=['dog', 'cot'], quiet=False, note=None)"
            }
            both = await client.call_tool("pair", {})
            assert both.structured_content == {"name": "Ann", "size": 40, "sure": True}
            grown = await client.call_tool("grow", {})
            assert grown.structured_content in (["a", "b", "c"], {"result": ["a", "b", "c"]})
            gone = await client.call_tool("link", {})
            assert gone.structured_content == {"address": seen[-1].url, "can": [True, True]}

    if over == "stdio":
        command = ["-m", "autotool", "serve", "./shop.py"]
        asyncio.run(work(StdioServerParameters(command=sys.executable, args=command, cwd=folder)))
    else:
        with WebServer(folder, "./shop.py") as server:
            asyncio.run(work(f"http://127.0.0.1:{server.port}/mcp"))
    assert [params.message for params in seen] == [*ANSWERS, "Please sign in."]
    assert seen[0].requested_schema == {
        "type": "object",
        "properties": {
            "day": {"type": "string", "format": "date"},
            "nights": {"type": "integer", "description": "How many nights.", "default": 1},
            "board": {"type": "string", "enum": ["half board", "full board"], "default": "half board"},
            "extras": {
                "type": "array", "items": {"type": "string", "enum": ["sauna", "dog", "cot"]}, "default": ["sauna"],
            },
            "quiet": {"type": "boolean", "default": False},
            "note": {"type": "string"},
        },
        "required": ["day"],
    }  # fmt: skip
    assert (folder / "runs.txt").read_text() == "xxx"  # from its start, once more after each round


def abilities(**elicitation: Any) -> dict[str, Any]:
    return {**META, "io.modelcontextprotocol/clientCapabilities": {"elicitation": elicitation}}


def call(client: RawClient, name: str, arguments: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    params = {"_meta": abilities(form={}, url={}), **more}
    return client.request("tools/call", name=name, arguments=arguments or {}, **params)


def accepted(questions: dict[str, Any], **content: Any) -> dict[str, Any]:
    return {key: {"action": "accept", "content": content} for key in questions}


def test_the_address_is_the_one_that_was_shown_whatever_the_client_says(folder: Path) -> None:
    with RawClient("./shop.py", cwd=folder) as client:
        first = call(client, "link")["result"]
        ((key, request),) = first["inputRequests"].items()
        assert request["params"]["mode"] == "url"
        answers = {key: {"action": "accept", "url": "https://evil.example/", "content": {"url": "x"}}}
        done = call(client, "link", requestState=first["requestState"], inputResponses=answers)["result"]
        assert done["structuredContent"]["address"] == request["params"]["url"]
        first = call(client, "link")["result"]
        answers = {key: {"action": "decline"}}
        declined = call(client, "link", requestState=first["requestState"], inputResponses=answers)["result"]
        assert declined["isError"]
        assert "did not answer" in text_of(declined)


@pytest.mark.parametrize(
    ("tool", "declared", "missing"),
    [
        ("link", {"form": {}}, {"url": {}}),
        ("link", {}, {"url": {}}),
        ("book", {"url": {}}, {"form": {}}),
    ],
)
def test_a_client_is_asked_only_in_the_modes_it_declared(
    tool: str, declared: dict[str, Any], missing: dict[str, Any], folder: Path
) -> None:
    with RawClient("./shop.py", cwd=folder) as client:
        error = call(client, tool, _meta=abilities(**declared))["error"]
        assert (error["code"], error["data"]) == (-32021, {"requiredCapabilities": {"elicitation": missing}})


def test_another_question_is_not_taken_as_answered(folder: Path) -> None:
    with RawClient("./shop.py", cwd=folder) as client:
        first = call(client, "changing")["result"]
        again = call(
            client,
            "changing",
            requestState=first["requestState"],
            inputResponses=accepted(first["inputRequests"], yes=True),
        )["result"]
        ((_, request),) = again["inputRequests"].items()
        assert request["params"]["message"] == "Delete 1 files?"
        done = call(
            client,
            "changing",
            requestState=again["requestState"],
            inputResponses=accepted(again["inputRequests"], yes=False),
        )["result"]
        assert text_of(done) == "{'yes': False}"


@pytest.mark.parametrize(
    "content",
    [
        {"day": "24 December"},
        {"day": "2026-12-24", "nights": "three"},
        {"day": "2026-12-24", "board": "none"},
        {"day": "2026-12-24", "extras": ["sauna", "pool"]},
        {},
    ],
)
def test_what_does_not_fit_the_form_is_asked_again(content: dict[str, Any], folder: Path) -> None:
    with RawClient("./shop.py", cwd=folder) as client:
        first = call(client, "book")["result"]
        answers = accepted(first["inputRequests"], **content)
        again = call(client, "book", requestState=first["requestState"], inputResponses=answers)["result"]
        assert again["inputRequests"] == first["inputRequests"]


WRONG = {
    "secret": "asks for `password` in a form",
    "address": "cannot be opened by a person",
    "user": "has a user, a password",
    "key": "`approval` is the key of autotool's own question",
    "nested": "`a`: a field of a form is a string, integer, number, boolean, array, not 'object'",
    "list": "`a`: list[str] cannot be asked for",
    "any": "`a`: typing.Any cannot be asked for",
    "empty": "a form has at least one field",
    "pattern": "`pattern` cannot stand in a field of a form of type string",
    "format": "the formats of a text are email, uri, date, date-time, not 'ipv4'",
    "union": "a form has no `anyOf`",
}


def test_what_cannot_be_asked_for_is_an_error_that_says_so(folder: Path) -> None:
    with RawClient("./shop.py", cwd=folder) as client:
        for what, said in WRONG.items():
            result = call(client, "wrong", {"what": what})["result"]
            assert result["isError"], what
            assert said in text_of(result)
