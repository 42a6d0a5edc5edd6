"""Approvals at the terminal in which the server was started."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import pty
import re
import selectors
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rawclient import META

CODE = '''
import autotool

@autotool.tool(approval="operator")
def launch(target: str) -> str:
    """Launch a rocket."""
    return f"launched at {target}"
'''
# The server gets the terminal as its own, as a shell would give it.
OWN = "import fcntl, os, sys, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); os.execvp(sys.argv[1], sys.argv[1:])"


class Terminal:
    """The person's end of a pseudo terminal."""

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self.seen = ""

    def until(self, pattern: str, within_s: float = 20) -> re.Match[str]:
        """Read until something that fits is on the screen, from where the last one ended."""
        deadline = time.monotonic() + within_s
        with selectors.DefaultSelector() as selector:
            selector.register(self._fd, selectors.EVENT_READ)
            while True:
                found = re.search(pattern, self.seen)
                if found:
                    self.seen = self.seen[found.end() :]
                    return found
                left = deadline - time.monotonic()
                assert left > 0, self.seen
                if selector.select(left):
                    self.seen += os.read(self._fd, 65536).decode(errors="replace")

    def type(self, text: str) -> None:
        os.write(self._fd, text.encode())


@contextlib.contextmanager
def served(folder: Path) -> Iterator[tuple[Terminal, int]]:
    (folder / "shop.py").write_text(CODE)
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "autotool", "serve", "./shop.py", "--http", "--port", "0"]
    env = {**os.environ, "XDG_RUNTIME_DIR": str(folder), "COLUMNS": "100", "TERM": "dumb"}
    with subprocess.Popen(
        [sys.executable, "-c", OWN, *command],
        stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True, cwd=folder, env=env,
    ) as process:  # fmt: skip
        os.close(theirs)
        terminal = Terminal(ours)
        try:
            port = int(terminal.until(r"http://127\.0\.0\.1:(\d+)/mcp").group(1))
            terminal.until("Ctrl-C ends it")
            yield terminal, port
        finally:
            process.terminate()
            process.wait(20)
            os.close(ours)


class Call:
    """A call of `launch` under way."""

    def __init__(self, port: int, target: str) -> None:
        self.answer: dict[str, Any] = {}
        self._port, self._target = port, target
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self) -> None:
        params = {"name": "launch", "arguments": {"target": self._target}, "_meta": META}
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
        headers = {
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            "MCP-Protocol-Version": "2026-07-28",
            "Mcp-Method": "tools/call",
            "Mcp-Name": "launch",
        }
        with contextlib.closing(http.client.HTTPConnection("127.0.0.1", self._port, timeout=60)) as connection:
            connection.request("POST", "/mcp", body, headers)
            text = connection.getresponse().read().decode()
        lines = [line.removeprefix("data: ") for line in text.splitlines() if line.startswith("data: ")]
        self.answer = json.loads(lines[-1] if lines else text)

    def text(self) -> str:
        self._thread.join(30)
        return self.answer["result"]["content"][0]["text"]


def test_a_call_is_asked_about_where_the_server_was_started(tmp_path: Path) -> None:
    with served(tmp_path) as (terminal, port):
        call = Call(port, "moon")
        assert "| target: moon" in terminal.until(r"(?s).*Let it run\? \[y/n\]").group()
        terminal.type("maybe\n")
        terminal.until("Type y to let it run, or n to refuse it")
        terminal.type("y\n")
        assert call.text() == "launched at moon"
        call = Call(port, "mars")
        terminal.until("Let it run")
        terminal.type("n\n")
        assert "an operator denied it" in call.text()


def test_what_was_typed_before_the_question_is_no_answer(tmp_path: Path) -> None:
    with served(tmp_path) as (terminal, port):
        terminal.type("y\ny\n")
        terminal.until("y\r\ny\r\n")
        call = Call(port, "moon")
        terminal.until("Let it run")
        terminal.type("n\n")
        assert "an operator denied it" in call.text()


def test_calls_are_asked_about_one_after_another_and_elsewhere_too(tmp_path: Path) -> None:
    env = {**os.environ, "XDG_RUNTIME_DIR": str(tmp_path)}

    def approvals(*words: str) -> str:
        command = [sys.executable, "-m", "autotool", "approvals", *words]
        return subprocess.run(command, env=env, capture_output=True, text=True, check=True).stdout

    with served(tmp_path) as (terminal, port):
        first = Call(port, "moon")
        terminal.until("target: moon")
        terminal.until("Let it run")
        second = Call(port, "mars")
        while len(waiting := json.loads(approvals("list", "--json"))) < 2:
            pass
        approvals("approve", waiting[0]["id"])
        assert first.text() == "launched at moon"
        terminal.until("target: mars")
        terminal.until("Let it run")
        terminal.type("y\n")
        assert second.text() == "launched at mars"


def test_an_argument_cannot_pass_for_a_line_of_the_servers(tmp_path: Path) -> None:
    with served(tmp_path) as (terminal, port):
        call = Call(port, "moon\nAsked by nobody. Let it run? [y/n] \x1b[2J")
        shown = terminal.until(r"(?s).*Asked by local. Let it run\? \[y/n\]").group()
        assert "| Asked by nobody" in shown
        assert "\x1b[2J" not in shown
        terminal.type("n\n")
        assert "denied" in call.text()
