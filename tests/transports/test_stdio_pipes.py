"""The stdio transport on the kinds of files that a client can give it: pipes of every sort, and regular files."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from rawclient import META, check_message

PROGRAM = [sys.executable, str(Path(__file__).parent.parent / "toyserver.py"), "stdio"]


def call(name: str, request_id: Any, **arguments: Any) -> bytes:
    params = {"name": name, "arguments": arguments, "_meta": META}
    message = {"jsonrpc": "2.0", "id": request_id, "method": "tools/call", "params": params}
    return json.dumps(message).encode() + b"\n"


def answers(output: bytes) -> list[dict[str, Any]]:
    """The messages in what the server wrote, each of them checked, in their order."""
    assert output.endswith(b"\n")
    found = [json.loads(line) for line in output.splitlines()]
    for message in found:
        check_message(message, "tools/call", "2026-07-28")
    return found


def served(path: Path) -> tuple[bytes, int]:
    """What a server answers to the contents of a file, and the most memory it took, in bytes."""
    output = path.with_suffix(".out")
    with path.open("rb") as source, output.open("wb") as sink:
        process = subprocess.Popen(PROGRAM, stdin=source, stdout=sink)
        _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0
    return output.read_bytes(), usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def test_a_file_as_input_is_answered_to_its_last_line(tmp_path: Path) -> None:
    path = tmp_path / "input"
    path.write_bytes(b"".join(call("ok", number) for number in range(2000)).rstrip(b"\n"))
    output, _ = served(path)
    found = {message["id"] for message in answers(output)}
    assert found == set(range(2000))


def test_a_line_without_end_takes_no_memory(tmp_path: Path) -> None:
    small, large = tmp_path / "small", tmp_path / "large"
    small.write_bytes(b"x" * (5 << 20) + b"\n" + call("ok", 1))
    with large.open("wb") as file:
        file.truncate(256 << 20)
        file.seek(0, os.SEEK_END)
        file.write(b"\n" + call("ok", 1))
    _, usual = served(small)
    output, peak = served(large)
    refused, fine = answers(output)
    assert (refused["id"], refused["error"]["code"], fine["id"]) == (None, -32600, 1)
    assert peak - usual < 16 << 20


def test_a_pipe_that_somebody_made_non_blocking_gets_whole_messages() -> None:
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    process = subprocess.Popen(PROGRAM, stdin=subprocess.PIPE, stdout=writing)
    os.close(writing)
    assert process.stdin is not None
    process.stdin.write(b"".join(call("big", number, size=1 << 20) for number in range(4)))
    process.stdin.close()
    with os.fdopen(reading, "rb") as pipe:
        found = answers(pipe.read())
    assert process.wait(10) == 0
    assert sorted(message["id"] for message in found) == [0, 1, 2, 3]


def test_a_slow_reader_gets_everything_after_the_end_of_input() -> None:
    process = subprocess.Popen(PROGRAM, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(call("big", 1, size=1 << 20) + call("big", 2, size=1 << 20))
    process.stdin.close()
    output = b""
    while data := process.stdout.read(1 << 17):
        output += data
        time.sleep(
            0.05
        )  # slowness is what is tried here: the whole takes longer than a reader that stalls is waited for
    process.stdout.close()
    assert process.wait(10) == 0
    assert sorted(message["id"] for message in answers(output)) == [1, 2]


def test_a_reader_that_never_reads_does_not_hold_the_process() -> None:
    process = subprocess.Popen(PROGRAM, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(call("big", 1, size=1 << 20))
    process.stdin.close()
    assert process.wait(10) == 0
    process.stdout.close()


def test_a_reader_that_has_gone_ends_the_server() -> None:
    process = subprocess.Popen(PROGRAM, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdout.close()
    process.stdin.write(call("ok", 1))
    process.stdin.flush()
    assert process.wait(10) == 0
    process.stdin.close()


@pytest.mark.parametrize("ending", [b"", b"\n", b"\r\n", b"\n\n \n"])
def test_the_end_of_input_answers_what_is_under_way(ending: bytes) -> None:
    given = call("cancelled", 1) + call("wait", 2)
    given += b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}\n' + call("ok", 3).strip()
    finished = subprocess.run(PROGRAM, input=given + ending, stdout=subprocess.PIPE, timeout=20, check=True)
    assert 3 in {message["id"] for message in answers(finished.stdout)}
