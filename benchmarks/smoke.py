"""Calls per second and start to first answer, beside the two leading frameworks in one run.

    python -m benchmarks.smoke [--quick]

The client is a few lines over pipes and sockets, so that it is not what is measured. Figures are medians of rounds
in which the servers take turns; what carries over to another machine is the ratio.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

SERVERS = Path(__file__).parent / "servers"
VERSION = "2026-07-28"
META = {"io.modelcontextprotocol/protocolVersion": VERSION, "io.modelcontextprotocol/clientCapabilities": {}}
CONNECTIONS = 16
# As installed packages run: with their bytecode beside them.
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
# The limiter is on; an agent does not call as often as a benchmark.
ENVIRONMENT |= {
    "AUTOTOOL_DEFAULTS_RATE_LIMIT": "100000000/minute",
    "AUTOTOOL_DEFAULTS_CALLER_RATE_LIMIT": "100000000/minute",
}


def command(name: str, transport: str, port: int) -> list[str]:
    if name == "autotool":
        options = ["--stdio"] if transport == "stdio" else ["--http", "--port", str(port)]
        return [sys.executable, "-m", "autotool", "serve", str(SERVERS / "plain.py"), *options]
    return [sys.executable, str(SERVERS / f"{name}_server.py"), transport, str(port)]


def request(number: int, method: str, **params: Any) -> bytes:
    message = {"jsonrpc": "2.0", "id": number, "method": method, "params": {**params, "_meta": META}}
    return json.dumps(message).encode()


def add_call(number: int) -> bytes:
    return request(number, "tools/call", name="add", arguments={"a": number, "b": 1})


class Stdio:
    def __init__(self, name: str) -> None:
        self.began = time.perf_counter()
        self.process = subprocess.Popen(
            command(name, "stdio", 0),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=ENVIRONMENT,
            cwd=tempfile.gettempdir(),
        )

    def ask(self, line: bytes, number: int) -> dict[str, Any]:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()
        while True:
            answer = json.loads(self.process.stdout.readline())
            if answer.get("id") == number:
                return answer

    def close(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def start_seconds(name: str) -> float:
    server = Stdio(name)
    try:
        server.ask(request(1, "tools/list"), 1)
        return time.perf_counter() - server.began
    finally:
        server.close()


def stdio_rate(name: str, seconds: float) -> float:
    server = Stdio(name)
    try:
        number = 1
        while number < 50:
            server.ask(add_call(number), number)
            number += 1
        began, count = time.perf_counter(), 0
        while time.perf_counter() - began < seconds:
            number += 1
            answer = server.ask(add_call(number), number)
            assert not answer["result"].get("isError"), answer
            count += 1
        return count / (time.perf_counter() - began)
    finally:
        server.close()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def http_bytes(port: int, body: bytes) -> bytes:
    head = (
        f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\n"
        f"Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: {VERSION}\r\n"
        f"Mcp-Method: tools/call\r\nMcp-Name: add\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


async def one_connection(port: int, until: float) -> int:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    count = 0
    while time.perf_counter() < until:
        writer.write(http_bytes(port, add_call(count)))
        head = await reader.readuntil(b"\r\n\r\n")
        assert b" 200 " in head[:20], head
        if b"content-length" in head.lower():
            size = int(head.lower().partition(b"content-length:")[2].partition(b"\r\n")[0])
            body = await reader.readexactly(size)
        else:
            body = await reader.readuntil(b"0\r\n\r\n")
        assert b'"result"' in body, body
        count += 1
    writer.close()
    return count


def http_rate(name: str, seconds: float) -> float:
    port = free_port()
    process = subprocess.Popen(
        command(name, "http", port),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        stdin=subprocess.DEVNULL,
        env=ENVIRONMENT,
        cwd=tempfile.gettempdir(),
    )
    try:
        for _ in range(400):
            try:
                socket.create_connection(("127.0.0.1", port)).close()
                break
            except OSError:
                time.sleep(0.05)

        async def load() -> float:
            await one_connection(port, time.perf_counter() + 0.3)
            began = time.perf_counter()
            counts = await asyncio.gather(*(one_connection(port, began + seconds) for _ in range(CONNECTIONS)))
            return sum(counts) / (time.perf_counter() - began)

        return asyncio.run(load())
    finally:
        process.terminate()
        process.wait(15)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    rounds, seconds = (1, 1.0) if quick else (5, 3.0)
    names = ["autotool", "mcp", "fastmcp"]
    figures: dict[str, dict[str, list[float]]] = {name: {"start": [], "stdio": [], "http": []} for name in names}
    for _ in range(rounds):
        for name in names:
            figures[name]["start"].append(start_seconds(name))
            figures[name]["stdio"].append(stdio_rate(name, seconds))
            figures[name]["http"].append(http_rate(name, seconds))
    middle = {name: {key: statistics.median(values) for key, values in rows.items()} for name, rows in figures.items()}
    own = middle["autotool"]
    print(f"{'':<10}{'stdio calls/s':>15}{'HTTP calls/s, 16':>20}{'first answer, s':>18}   autotool is")
    for name, row in middle.items():
        ratios = (
            ""
            if name == "autotool"
            else (
                f"   {own['stdio'] / row['stdio']:.1f}x stdio, {own['http'] / row['http']:.1f}x HTTP, {row['start'] / own['start']:.1f}x sooner"
            )
        )
        print(f"{name:<10}{row['stdio']:>15.0f}{row['http']:>20.0f}{row['start']:>18.2f}{ratios}")


if __name__ == "__main__":
    main()
