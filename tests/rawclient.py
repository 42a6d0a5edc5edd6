"""A client that speaks JSON-RPC over the pipes of a real `autotool serve`, with no library between."""

from __future__ import annotations

import json
import os
import selectors
import subprocess
import sys
import time
from collections import deque
from pathlib import Path
from typing import Any

import mcp_types
import mcp_types.methods

META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": {"name": "rawclient", "version": "1"},
}


def check_message(message: dict[str, Any], method: str | None, version: str) -> None:
    """Hold a message of the server's against the official types of its revision."""
    if "error" in message:
        mcp_types.JSONRPCError.model_validate(message)
    elif "method" in message:
        mcp_types.methods.parse_server_notification(message["method"], version, message.get("params"))
    elif method is not None:
        mcp_types.methods.validate_server_result(method, version, message["result"])


class RawClient:
    """Starts a server and talks to it. Lines that are not JSON-RPC messages are kept in `junk`."""

    def __init__(
        self, *arguments: str, cwd: Path | None = None, env: dict[str, str] | None = None, legacy: bool = False
    ) -> None:
        command = [sys.executable, "-m", "autotool", "serve", *arguments]
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=cwd,
            env={**os.environ, **(env or {})},
        )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        assert self.process.stderr is not None
        self._in = self.process.stdin.fileno()
        self._selector = selectors.DefaultSelector()
        self._selector.register(self.process.stdout, selectors.EVENT_READ, "out")
        self._selector.register(self.process.stderr, selectors.EVENT_READ, "err")
        self._partial = b""
        self._stderr = bytearray()
        self._messages: deque[tuple[float, dict[str, Any]]] = deque()
        self.junk: list[bytes] = []
        self.raw: list[bytes] = []
        self._next_id = 1000
        self._methods: dict[Any, str] = {}
        self.legacy = legacy
        if legacy:
            opening = {
                "protocolVersion": "2025-11-25",
                "capabilities": {},
                "clientInfo": {"name": "rawclient", "version": "1"},
            }
            self.request("initialize", **opening)
            self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def send(self, message: dict[str, Any] | str | bytes) -> None:
        if isinstance(message, dict):
            message = json.dumps(message)
        data = message.encode() if isinstance(message, str) else message
        self.write(data + b"\n")

    def write(self, data: bytes) -> None:
        view = memoryview(data)
        while view:
            view = view[os.write(self._in, view) :]

    def start(self, method: str, **params: Any) -> int:
        """Send a request and give its id."""
        self._next_id += 1
        if not self.legacy:
            params = {**params, "_meta": {**META, **params.get("_meta", {})}}
        self._methods[self._next_id] = method
        self.send({"jsonrpc": "2.0", "id": self._next_id, "method": method, "params": params})
        return self._next_id

    def request(self, method: str, *, within_s: float = 15, **params: Any) -> dict[str, Any]:
        """Send a request and give the whole response message."""
        request_id = self.start(method, **params)
        answer = self.answer(request_id, within_s)
        assert answer is not None, f"no answer to {method} within {within_s} s; stderr: {self.stderr[-2000:]!r}"
        return answer

    def call(self, name: str, arguments: Any = None, *, within_s: float = 15) -> dict[str, Any]:
        params = {"name": name} if arguments is None else {"name": name, "arguments": arguments}
        return self.request("tools/call", within_s=within_s, **params)

    def tools(self) -> list[dict[str, Any]]:
        return self.request("tools/list")["result"]["tools"]

    def answer(self, request_id: Any, within_s: float) -> dict[str, Any] | None:
        """The response with that id, leaving others for later."""
        found = self.timed_answer(request_id, within_s)
        return found[1] if found else None

    def timed_answer(self, request_id: Any, within_s: float) -> tuple[float, dict[str, Any]] | None:
        deadline = time.monotonic() + within_s
        while True:
            for entry in self._messages:
                if "method" not in entry[1] and entry[1].get("id") == request_id:
                    self._messages.remove(entry)
                    return entry
            left = deadline - time.monotonic()
            if left <= 0 or not self._pump(left):
                return None

    def next_message(self, within_s: float) -> dict[str, Any] | None:
        deadline = time.monotonic() + within_s
        while not self._messages:
            left = deadline - time.monotonic()
            if left <= 0 or not self._pump(left):
                return None
        return self._messages.popleft()[1]

    def _pump(self, timeout_s: float) -> bool:
        """Read what is there; False when both streams have ended."""
        if not self._selector.get_map():
            return False
        for key, _ in self._selector.select(timeout_s):
            data = os.read(key.fd, 1 << 16)
            if not data:
                self._selector.unregister(key.fileobj)
            elif key.data == "err":
                self._stderr += data
            else:
                self._lines(data)
        return bool(self._selector.get_map())

    def _lines(self, data: bytes) -> None:
        *lines, self._partial = (self._partial + data).split(b"\n")
        for line in lines:
            self.raw.append(line)
            try:
                message = json.loads(line)
                assert message["jsonrpc"] == "2.0"
            except Exception:
                self.junk.append(line)
            else:
                check_message(
                    message, self._methods.get(message.get("id")), "2025-11-25" if self.legacy else "2026-07-28"
                )
                self._messages.append((time.monotonic(), message))

    @property
    def stderr(self) -> str:
        return self._stderr.decode("utf-8", "replace")

    def says(self, word: str, within_s: float = 5) -> bool:
        """Whether `word` has come, or comes in time, on standard error, which is written beside the answers."""
        deadline = time.monotonic() + within_s
        while word not in self.stderr and (left := deadline - time.monotonic()) > 0 and self._pump(left):
            pass
        return word in self.stderr

    def close_input(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()

    def wait(self, timeout_s: float) -> int | None:
        """Wait for the process to end, reading on; its exit code, or None when it goes on."""
        deadline = time.monotonic() + timeout_s
        while self.process.poll() is None and time.monotonic() < deadline:
            self._pump(0.05)
        while self._pump(0.05) and time.monotonic() < deadline + 1 and self.process.poll() is not None:
            pass
        return self.process.poll()

    def close(self) -> int | None:
        """End the input, and the process if it does not end by itself."""
        if self.process.stdin is not None and not self.process.stdin.closed:
            self.process.stdin.close()
        code = self.wait(8)
        if code is None:
            self.process.kill()
            self.process.wait()
        self._selector.close()
        for stream in (self.process.stdout, self.process.stderr):
            if stream is not None:
                stream.close()
        return code

    def __enter__(self) -> RawClient:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def text_of(result: dict[str, Any]) -> str:
    return "\n".join(block["text"] for block in result["content"] if block["type"] == "text")
