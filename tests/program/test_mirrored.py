"""Parameters that HTTP clients mirror into headers, marked in the code."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path
from typing import Any

import mcp
import pytest
from rawclient import RawClient
from webserver import WebServer

GOOD = '''
import enum
from dataclasses import dataclass
from typing import Annotated, Literal, TypedDict
from pydantic import BaseModel
from autotool import Header

class Zone(TypedDict):
    zone: Annotated[str, Header("Zone")]

@dataclass
class Rack:
    rack: Annotated[int, Header("Rack")]

class Cell(BaseModel):
    api_key: Annotated[str, Header("Cell-Key", force=True)] = ""

def stock(
    item: str, region: Annotated[Literal["eu", "us"], Header("Region")], count: Annotated[int | None, "How many.", Header("Count")] = None,
    open: Annotated[bool, Header("Open")] | None = None, zone: Zone | None = None, rack: Rack | None = None, cell: Cell | None = None,
    session_token: Annotated[str, Header("Session", force=True)] = "",
) -> dict:
    """Tell what is in stock."""
    return {"region": region, "count": count}
'''

BROKEN = {
    "x: Annotated[float, Header('X')]": "`x` cannot be mirrored in a header",
    "x: Annotated[int | str, Header('X')]": "`x` cannot be mirrored in a header",
    "x: Annotated[int | None, Header('X')]": "`x` cannot be mirrored in a header",
    "x: Annotated[str, Header('')]": "`x` names the header ''",
    "x: Annotated[str, Header('X y')]": "`x` names the header 'X y'",
    "x: Annotated[str, Header('X\\nEvil: 1')]": "`x` names the header 'X\\nEvil: 1'",
    "x: Annotated[str, Header('Xü')]": "`x` names the header 'Xü'",
    "x: Annotated[str, Header('X')], y: Annotated[int, Header('x')]": "`y` and `x` name the same header",
    "x: list[Annotated[str, Header('X')]]": "the header `X` stands at a place that no chain of `properties` reaches",
    "x: Annotated[str, Header('X')] | int": "the header `X` stands at a place that no chain of `properties` reaches",
    "**x: Annotated[str, Header('X')]": "the header `X` stands at a place that no chain of `properties` reaches",
    "db_password: Annotated[str, Header('X')]": "the name of `db_password` looks secret",
}


def marks(schema: dict[str, Any]) -> dict[str, str]:
    found: dict[str, str] = {}
    for name, below in schema.get("properties", {}).items():
        if "x-mcp-header" in below:
            found[name] = below["x-mcp-header"]
        found |= {f"{name}.{inner}": header for inner, header in marks(below).items()}
    return found


def test_a_marked_parameter_is_published_wherever_it_stands(tmp_path: Path) -> None:
    (tmp_path / "store.py").write_text(GOOD)
    with RawClient("./store.py", cwd=tmp_path) as client:
        (tool,) = client.tools()
    assert marks(tool["inputSchema"]) == {
        "region": "Region", "count": "Count", "open": "Open", "zone.zone": "Zone", "rack.rack": "Rack",
        "cell.api_key": "Cell-Key", "session_token": "Session",
    }  # fmt: skip
    properties = tool["inputSchema"]["properties"]
    assert properties["count"] == {"type": "integer", "description": "How many.", "x-mcp-header": "Count"}
    assert properties["session_token"] == {"type": "string", "default": "", "x-mcp-header": "Session"}


def test_a_mark_that_breaks_a_rule_costs_its_tool_and_is_told(tmp_path: Path) -> None:
    functions = [f"def broken_{n}({text}) -> None:\n    ...\n" for n, text in enumerate(BROKEN)]
    head = "from typing import Annotated\nfrom autotool import Header\n"
    (tmp_path / "store.py").write_text("\n".join([head, *functions, "def sound() -> int:\n    return 1\n"]))
    with RawClient("./store.py", cwd=tmp_path) as client:
        assert [tool["name"] for tool in client.tools()] == ["sound"]
        for n, why in enumerate(BROKEN.values()):
            assert client.says(f"not served: store:broken_{n}: {why}"), client.stderr


@pytest.mark.parametrize("forced", [True, False])
def test_the_config_can_say_that_a_marked_name_is_no_secret(forced: bool, tmp_path: Path) -> None:
    (tmp_path / "store.py").write_text(
        "import autotool\n"
        '@autotool.tool(input_schema={"type": "object", "properties": {"page_token": {"type": "string"},\n'
        '    "auth_token": {"type": "string", "x-mcp-header": "Auth"}}})\n'
        "def read(**given: str) -> int:\n    return 1\n"
    )
    flag = str(forced).lower()
    (tmp_path / "autotool.toml").write_text(
        f'targets = ["./store.py"]\n[tool.read]\nparams.auth_token = {{ force = {flag} }}\n'
    )
    command = [sys.executable, "-m", "autotool", "list"]
    finished = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60)
    assert (finished.returncode == 0) is forced, finished.stderr


def test_a_client_that_mirrors_is_let_in_and_one_that_does_not_is_refused(tmp_path: Path) -> None:
    (tmp_path / "store.py").write_text(GOOD)
    arguments = {"item": "nail", "region": "eu", "count": 2**53 - 1, "zone": {"zone": " ü"}, "rack": {"rack": 7}}

    async def official(url: str) -> Any:
        async with mcp.Client(url) as client:
            await client.list_tools()  # from which it knows what to mirror
            return (await client.call_tool("stock", arguments)).structured_content

    with WebServer(tmp_path, "./store.py") as server:
        found = asyncio.run(official(f"http://127.0.0.1:{server.port}/mcp"))
        assert found == {"region": "eu", "count": 2**53 - 1}
        status, answer, _ = server.call("stock", **arguments)
        assert (status, answer["error"]["code"]) == (400, -32020)
        assert "`mcp-param-region` is missing" in answer["error"]["message"]
