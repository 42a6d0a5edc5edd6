"""Real programs, wrapped and called through the official client over stdio: commands by their help, and Python programs natively."""

from __future__ import annotations

import asyncio
import http.server
import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import mcp
import pytest
from mcp import StdioServerParameters

Calls = Callable[[Any, set[str]], Awaitable[None]]
PATH = {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}


def with_tools(arguments: list[str], folder: Path, work: Calls) -> None:
    """Serve `arguments` in `folder`, and have `work` call the tools; the client checks every result against its output schema."""
    server = StdioServerParameters(
        command=sys.executable, args=["-m", "autotool", "serve", *arguments], cwd=folder, env={**os.environ, **PATH}
    )

    async def run() -> None:
        async with mcp.Client(server) as client:
            tools = (await client.list_tools()).tools

            async def call(name: str, /, **values: Any) -> tuple[bool, str, Any]:
                result = await client.call_tool(name, values)
                return bool(result.is_error), result.content[0].text, result.structured_content

            await work(call, {tool.name for tool in tools})

    asyncio.run(run())


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A git repository with two commits, and a few files."""
    (tmp_path / "b.txt").write_text("pear\napple\nfig\n")
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "-odd name.txt").write_text("apple pie\n")
    (tmp_path / "data.json").write_text('{"b": 1, "a": [2, 3]}')
    git = ["git", "-C", str(tmp_path), "-c", "user.name=T", "-c", "user.email=t@example.org"]
    subprocess.run([*git, "init", "-q"], check=True)
    for message in ("first", "second"):
        (tmp_path / "a.txt").write_text(message)
        subprocess.run([*git, "add", "-A"], check=True)
        subprocess.run([*git, "commit", "-q", "-m", message], check=True)
    return tmp_path


@pytest.fixture
def address() -> Iterator[str]:
    class Hello(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = f"hello {self.path} {self.headers.get('X-Mark', '')}".encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None: ...

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Hello) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def test_ten_programs_by_their_help(folder: Path, address: str) -> None:
    words = [
        "git log",
        "git show",
        "grep",
        "find",
        "sort",
        "wc",
        "tar",
        "curl",
        "python3 -m json.tool",
        "pip list",
        "ls",
        "head",
    ]

    async def work(call: Any, names: set[str]) -> None:
        assert len(names) == len(words)
        failed, text, facts = await call("git_log", max_count=1, oneline=True)
        assert (failed, facts["exit_code"]) == (False, 0)
        assert text.strip().endswith("second")
        assert "first" in (await call("git_log", path=["b.txt"]))[1]
        _, text, facts = await call("grep", patterns="apple", recursive=True, files=["b.txt", "sub"])
        assert sorted(text.splitlines()) == ["b.txt:apple", "sub/-odd name.txt:apple pie"]
        failed, text, facts = await call("grep", patterns="-nothing-like-it", files=["b.txt"])
        assert (failed, facts["exit_code"], text) == (False, 1, "[exit code 1, no output]")
        _, text, _ = await call("find", paths=["."], name="*.txt", type="f")
        assert sorted(text.split("\n")[:-1]) == ["./a.txt", "./b.txt", "./sub/-odd name.txt"]
        assert (await call("sort", reverse=True, file=["b.txt"]))[1] == "pear\nfig\napple\n"
        assert (await call("wc", lines=True, file=["b.txt"]))[1] == "3 b.txt\n"
        failed, text, _ = await call("tar", create=True, file="a.tar", files=["b.txt"])
        assert not failed, text
        assert (await call("tar", list=True, file="a.tar"))[1] == "b.txt\n"
        _, text, _ = await call("curl", silent=True, header="X-Mark: m;$(id)", url_operand=f"{address}/x?y=1")
        assert text == "hello /x?y=1 m;$(id)"
        _, text, _ = await call("python3_json_tool", infile="data.json", sort_keys=True, compact=True)
        assert text == '{"a":[2,3],"b":1}\n'
        _, text, _ = await call("pip_list", format="json")
        assert "autotool" in {package["name"] for package in json.loads(text)}
        assert "-odd name.txt" in (await call("ls", file=["sub"]))[1]
        failed, text, _ = await call("head", lines="1", file=["--version"])
        assert failed
        assert "--version" in text

    with_tools(["--budget", "40kB", *(part for one in words for part in ("--command", one))], folder, work)


@pytest.mark.skipif(shutil.which("sqlite3") is None, reason="sqlite3 is not installed")
def test_sqlite_by_a_section(folder: Path) -> None:
    (folder / "autotool.toml").write_text(
        '[command.query]\nrun = ["sqlite3", "-json", ":memory:", "{sql}"]\noutput = "json"\n'
    )

    async def work(call: Any, names: set[str]) -> None:
        assert (await call("query", sql="select 6 * 7 as answer"))[2]["output"] == [{"answer": 42}]

    with_tools([], folder, work)


def test_python_programs_natively(folder: Path) -> None:
    (folder / "messy.py").write_text("x = {  'a':1 }\n")
    (folder / "app.py").write_text(
        "import flask\napp = flask.Flask(__name__)\n\n@app.route('/hello')\ndef hello():\n    return 'hi'\n"
    )
    targets = [
        "script:black",
        "script:flask",
        "script:httpx",
        "pip-audit",
        "json.tool:__main__",
        "zipfile:__main__",
        "http.server:__main__",
    ]

    async def work(call: Any, names: set[str]) -> None:
        assert {
            "black",
            "flask_routes",
            "flask_run",
            "httpx",
            "pip-audit",
            "json_tool",
            "zipfile",
            "http_server",
        } <= names
        failed, text, facts = await call("black", code="x = {  'a':1 }")
        assert (failed, text, facts["exit_code"]) == (False, 'x = {"a": 1}\n', 0)
        failed, text, facts = await call("black", check=True, src=["messy.py"])
        assert (failed, facts["exit_code"]) == (True, 1)
        assert "would reformat" in text
        assert "/hello" in (await call("flask_routes", app="app"))[1]
        failed, text, _ = await call("httpx", url="http://127.0.0.1:9/", timeout=1)
        assert failed
        assert "Connect" in text
        failed, text, _ = await call("pip-audit", project_path="no-such-folder")
        assert failed
        assert "no-such-folder" in text
        assert json.loads((await call("json_tool", infile="data.json"))[1]) == {"b": 1, "a": [2, 3]}
        failed, text, _ = await call("zipfile", create=["a.zip", "b.txt"])
        assert not failed, text
        assert "b.txt" in (await call("zipfile", list="a.zip"))[1]
        failed, text, _ = await call("zipfile", list="a.zip", test="a.zip")
        assert failed
        assert "exclude each other" in text
        failed, text, _ = await call("http_server", port=-1)
        assert failed
        assert "port" in text.lower()

    with_tools(targets, folder, work)


def test_typer_apps_and_prompts(tmp_path: Path) -> None:
    (tmp_path / "shop.py").write_text(
        "import enum\n"
        "import typer\n\n"
        "app = typer.Typer()\n\n"
        "class Size(str, enum.Enum):\n    small = 'small'\n    big = 'big'\n\n"
        "@app.callback()\ndef common(verbose: bool = False):\n    'A shop.'\n    if verbose:\n        print('verbose')\n\n"
        "@app.command()\ndef order(name: str, size: Size = Size.small, count: int = typer.Option(1, min=1, max=9), gift: bool = False):\n"
        "    'Order something.'\n    print(f'{count} {size.value} {name} {gift}')\n\n"
        "@app.command()\ndef ask(colour: str = typer.Option(..., prompt=True), sure: bool = typer.Option(False)):\n"
        "    'Ask.'\n    if not sure:\n        typer.confirm('Sure?', abort=True)\n    print(colour)\n\n"
        "@app.command()\ndef fail():\n    'Fail.'\n    typer.echo('bad', err=True)\n    raise typer.Exit(7)\n"
    )

    async def work(call: Any, names: set[str]) -> None:
        assert names == {"shop_order", "shop_ask", "shop_fail"}
        assert (await call("shop_order", name="-cake", size="big", count=2, gift=True))[1] == "2 big -cake True\n"
        assert (await call("shop_order", name="a", verbose=True))[1] == "verbose\n1 small a False\n"
        failed, text, _ = await call("shop_order", name="a", count=12)
        assert failed
        assert "count" in text
        failed, text, _ = await call("shop_ask", sure=True)
        assert failed
        assert "`colour`: is required" in text
        failed, text, _ = await call("shop_ask", colour="red")
        assert failed
        assert "asked for input" in text
        assert (await call("shop_ask", colour="red", sure=True))[1] == "red\n"
        failed, text, _ = await call("shop_fail")
        assert failed
        assert text == "[stderr]\nbad\n[exit code 7]"

    with_tools(["./shop.py:app"], tmp_path, work)
