"""A real `autotool serve --http` as a process, and plain HTTP requests to it."""

from __future__ import annotations

import http.client
import json
import os
import re
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

from rawclient import META


class WebServer:
    """A server in `folder`, which holds the `autotool.toml` that it reads. `said` is what came on standard error."""

    def __init__(self, folder: Path, *flags: str, env: dict[str, str] | None = None) -> None:
        command = [sys.executable, "-m", "autotool", "serve", "--http", "--port", "0", *flags]
        self.process = subprocess.Popen(
            command,
            stderr=subprocess.PIPE,
            stdin=subprocess.DEVNULL,
            text=True,
            cwd=folder,
            env={**os.environ, **(env or {})},
        )
        self.said = ""
        self._changed = threading.Condition()
        self._reader = threading.Thread(target=self._read)
        self._reader.start()
        assert self.says(r":(\d+)/mcp", 30), self.said
        found = re.search(r":(\d+)/mcp", self.said)
        assert found is not None
        self.port = int(found.group(1))

    def _read(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            with self._changed:
                self.said += line
                self._changed.notify_all()

    def says(self, pattern: str, within_s: float = 15) -> bool:
        """Whether a line like that has come, or comes in time."""
        deadline = time.monotonic() + within_s
        with self._changed:
            while not re.search(pattern, self.said):
                if not self._changed.wait(max(0.0, deadline - time.monotonic())):
                    return False
        return True

    def post(
        self, method: str, params: dict[str, Any], *, token: str | None = None, request_id: Any = 1, **meta: Any
    ) -> tuple[int, Any, dict[str, str]]:
        """Status, parsed body and headers by lower-case name of the answer to one request."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        body = {"jsonrpc": "2.0", "id": request_id, "method": method, "params": {**params, "_meta": {**META, **meta}}}
        sent = {
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            "MCP-Protocol-Version": "2026-07-28",
            "Mcp-Method": method,
            **({"Mcp-Name": params["name"]} if "name" in params else {}),
            **({"Authorization": f"Bearer {token}"} if token is not None else {}),
        }
        connection.request("POST", "/mcp", json.dumps(body), sent)
        answer = connection.getresponse()
        text = answer.read().decode()
        named = {name.lower(): value for name, value in answer.getheaders()}
        connection.close()
        return answer.status, json.loads(text) if text.startswith("{") else text, named

    def call(
        self, tool: str, /, *, token: str | None = None, request_id: Any = 1, **arguments: Any
    ) -> tuple[int, Any, dict[str, str]]:
        return self.post("tools/call", {"name": tool, "arguments": arguments}, token=token, request_id=request_id)

    def __enter__(self) -> WebServer:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.terminate()
        self.process.wait(15)
        self._reader.join(5)
        assert self.process.stderr is not None
        self.process.stderr.close()
