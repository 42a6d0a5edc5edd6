"""Long lists: 10,000 tools in pages, 1,000 idle subscriptions, and a reload of 1,000 tools.

    python -m benchmarks.lists [--quick]

The bare server that pages are compared with is uvicorn with the same bytes in memory. What carries over to another machine is the ratio.
"""

from __future__ import annotations

import argparse
import json
import os
import select
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import psutil

from benchmarks.smoke import ENVIRONMENT, META, VERSION

FUNCTION = '''def tool_{number}(first: int, second: str = "x") -> str:
    """Do the work of number {number}.

    Args:
        first: how often.
        second: what with.
    """
    return second * first

'''
BARE = """
import asyncio, sys, json, uvicorn
PAGES = [line.encode() for line in open(sys.argv[1], encoding="utf-8").read().splitlines()]
async def app(scope, receive, send):
    body = (await receive())["body"]
    page = PAGES[int(body)]
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"application/json"), (b"content-length", str(len(page)).encode())]})
    await send({"type": "http.response.body", "body": page})
uvicorn.run(app, port=int(sys.argv[2]), log_level="error", access_log=False, lifespan="off")
"""


def write(folder: Path, count: int) -> Path:
    path = folder / f"tools_{count}.py"
    path.write_text("".join(FUNCTION.format(number=number) for number in range(count)), encoding="utf-8")
    return path


def message(method: str, number: int = 1, **params: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": {**params, "_meta": META}}).encode()


class Server:
    """A process that answers over HTTP, and one connection to it."""

    def __init__(self, command: list[str], port: int) -> None:
        self.began = time.perf_counter()
        self.port = port
        self.process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=ENVIRONMENT
        )
        for _ in range(4_000):
            try:
                self.connection = self.open()
                break
            except OSError:
                time.sleep(0.01)

    @classmethod
    def autotool(cls, path: Path, *options: str) -> Server:
        port = free_port()
        words = ["-m", "autotool", "serve", str(path), "--http", "--port", str(port), *options]
        return cls([sys.executable, *words], port)

    def open(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port))

    def request(self, body: bytes, method: str, name: str = "") -> bytes:
        return request_on(self.connection, self.port, body, method, name)

    def rss(self) -> tuple[int, int]:
        """Bytes of the server's process, and of its workers."""
        own = psutil.Process(self.process.pid)
        below = [child.memory_full_info().pss for child in own.children(recursive=True)]
        return own.memory_info().rss, sum(below)

    def close(self) -> None:
        self.connection.close()
        self.process.terminate()
        self.process.wait(30)


def head(port: int, body: bytes, method: str, name: str = "") -> bytes:
    named = f"Mcp-Name: {name}\r\n" if name else ""
    return (
        f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\n"
        f"Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: {VERSION}\r\n"
        f"Mcp-Method: {method}\r\n{named}Content-Length: {len(body)}\r\n\r\n"
    ).encode() + body


def request_on(connection: socket.socket, port: int, body: bytes, method: str, name: str = "") -> bytes:
    connection.sendall(head(port, body, method, name))
    data = b""
    while b"\r\n\r\n" not in data:
        data += connection.recv(1 << 20)
    start, _, rest = data.partition(b"\r\n\r\n")
    size = int(start.lower().partition(b"content-length:")[2].partition(b"\r\n")[0])
    parts, have = [rest], len(rest)
    while have < size:
        parts.append(connection.recv(1 << 20))
        have += len(parts[-1])
    return b"".join(parts)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def all_pages(server: Server) -> list[tuple[bytes, bytes]]:
    """Each request and its answer."""
    found: list[tuple[bytes, bytes]] = []
    params: dict[str, str] = {}
    while True:
        body = message("tools/list", **params)
        page = server.request(body, "tools/list")
        found.append((body, page))
        result = json.loads(page)["result"]
        if "nextCursor" not in result:
            return found
        params = {"cursor": result["nextCursor"]}


def seconds_for(server: Server, bodies: list[bytes], rounds: int) -> float:
    took: list[float] = []
    for _ in range(rounds):
        began = time.perf_counter()
        for body in bodies:
            server.request(body, "tools/list")
        took.append(time.perf_counter() - began)
    return statistics.median(took)


def call_seconds(server: Server, count: int) -> float:
    took: list[float] = []
    for _ in range(count):
        body = message("tools/call", name="tool_7", arguments={"first": 2})
        began = time.perf_counter()
        answer = server.request(body, "tools/call", "tool_7")
        took.append(time.perf_counter() - began)
        assert b'"isError":false' in answer, answer
    return statistics.median(took)


def pages(folder: Path, count: int, rounds: int, calls: int) -> None:
    server, small = Server.autotool(write(folder, count)), Server.autotool(write(folder, 10))
    found = all_pages(server)
    started = time.perf_counter() - server.began
    bodies = [body for body, _ in found]
    (folder / "bare.py").write_text(BARE, encoding="utf-8")
    (folder / "pages").write_bytes(b"\n".join(page for _, page in found))
    port = free_port()
    bare = Server([sys.executable, str(folder / "bare.py"), str(folder / "pages"), str(port)], port)
    numbers = [str(number).encode() for number in range(len(found))]
    own, raw = [], []
    for _ in range(rounds):
        own.append(seconds_for(server, bodies, 5))
        raw.append(seconds_for(bare, numbers, 5))
    many = [call_seconds(server, calls) for _ in range(rounds)]
    few = [call_seconds(small, calls) for _ in range(rounds)]
    size = sum(len(page) for _, page in found)
    front, workers = server.rss()
    a, b = statistics.median(own), statistics.median(raw)
    print(f"{count} tools: {len(found)} pages, {size / 1e6:.1f} MB; from the start to the last page {started:.2f} s")
    print(
        f"  all pages again: {a * 1e3:.1f} ms, a bare server {b * 1e3:.1f} ms, ratio {a / b:.2f}; a page {a / len(found) * 1e3:.2f} ms"
    )
    x, y = statistics.median(many), statistics.median(few)
    print(f"  a call: {x * 1e3:.2f} ms, with 10 tools {y * 1e3:.2f} ms, ratio {x / y:.2f}")
    print(
        f"  memory: front {front / 1e6:.0f} MB, worker and its parent {workers / 1e6:.0f} MB (shared pages counted once)"
    )
    for one in (server, small, bare):
        one.close()


def subscriptions(folder: Path, count: int) -> None:
    server = Server.autotool(write(folder, 10), "--reload")
    server.request(message("tools/list"), "tools/list")
    before = server.rss()[0]
    streams: list[socket.socket] = []
    for number in range(count):
        body = message("subscriptions/listen", number, notifications={"toolsListChanged": True})
        stream = server.open()
        stream.sendall(head(server.port, body, "subscriptions/listen"))
        data = b""
        while b"acknowledged" not in data:
            data += stream.recv(65536)
        streams.append(stream)
    after = server.rss()[0]
    began = time.perf_counter()
    (folder / "tools_10.py").write_text(FUNCTION.format(number=1), encoding="utf-8")
    waiting = set(streams)
    while waiting:
        for stream in select.select(list(waiting), [], [], 30)[0]:
            if b"list_changed" in stream.recv(65536):
                waiting.discard(stream)
    print(
        f"{count} idle subscriptions: {(after - before) / count / 1e3:.1f} kB each; all told {time.perf_counter() - began:.2f} s after a save"
    )
    for stream in streams:
        stream.close()
    server.close()


def reloads(folder: Path, count: int, rounds: int) -> None:
    path = write(folder, count)
    server = Server.autotool(path, "--reload")
    server.request(message("tools/list"), "tools/list")
    stream = server.open()
    body = message("subscriptions/listen", 1, notifications={"toolsListChanged": True})
    stream.sendall(head(server.port, body, "subscriptions/listen"))
    while b"acknowledged" not in stream.recv(65536):
        pass
    starts, took = [], []
    text = path.read_text(encoding="utf-8")
    for number in range(rounds):
        fresh = Server.autotool(path)
        fresh.request(message("tools/list"), "tools/list")
        starts.append(time.perf_counter() - fresh.began)
        fresh.close()
        began = time.perf_counter()
        path.write_text(text + FUNCTION.format(number=count + number), encoding="utf-8")
        while b"list_changed" not in stream.recv(65536):
            pass
        took.append(time.perf_counter() - began)
    a, b = statistics.median(took), statistics.median(starts)
    print(
        f"a reload of {count} tools: {a:.2f} s from the save to the notification, a fresh start {b:.2f} s, ratio {a / b:.2f}"
    )
    stream.close()
    server.close()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        pages(folder, 1_000 if quick else 10_000, 1 if quick else 5, 50 if quick else 300)
        subscriptions(folder, 100 if quick else 1_000)
        reloads(folder, 100 if quick else 1_000, 1 if quick else 3)


if __name__ == "__main__":
    main()
