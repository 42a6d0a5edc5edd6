"""The audit trail: a line for every call, and none that destroys without one."""

from __future__ import annotations

import json
import stat
from pathlib import Path
from typing import Any

import pytest
from rawclient import META, RawClient, text_of

from autotool.policy.audit import AuditTrail, Record, verify

CODE = '''
from pathlib import Path
import autotool

def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b

def erase(name: str, password: str = "") -> str:
    """Erase a file."""
    Path("ran.txt").open("a").write(name)
    return "erased"

def fail() -> None:
    """Fail."""
    raise ValueError("no")

@autotool.tool(approval="required")
def pay(amount: int) -> str:
    """Pay."""
    return "paid"
'''
TRACE = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "shop.py").write_text(CODE)
    return tmp_path


def serve(folder: Path, audit: str, more: str = "") -> RawClient:
    (folder / "autotool.toml").write_text(f'targets = ["./shop.py"]\n{more}\n[audit]\n{audit}\n')
    return RawClient(cwd=folder)


def records(folder: Path) -> list[dict[str, Any]]:
    lines = (folder / "audit.jsonl").read_text().splitlines()
    assert verify(lines) == len(lines)
    return [json.loads(line) for line in lines]


def test_every_call_leaves_a_line_refused_ones_too(folder: Path) -> None:
    with serve(folder, 'path = "audit.jsonl"', '[tool.fail]\nrate_limit = "1/minute"') as client:
        client.request("tools/call", name="add", arguments={"a": 1, "b": 2}, _meta={**META, "traceparent": TRACE})
        client.call("add", {"a": "x"})
        client.call("erase", {"name": "n"})
        client.call("fail")
        client.call("fail")
        client.call("no\n[INFO] such")
        client.call("pay", {"amount": 1})
    found = [(one["event"], one["tool"], one.get("outcome")) for one in records(folder)]
    assert found == [
        ("call", "add", "ok"),
        ("call", "add", "error"),
        ("start", "erase", None),
        ("call", "erase", "ok"),
        ("call", "fail", "error"),
        ("call", "fail", "refused"),
        ("call", "no\n[INFO] such", "refused"),
        ("call", "pay", "refused"),
    ]
    first = records(folder)[0]
    assert first["caller"] == "local"
    assert first["traceparent"] == TRACE
    assert first["decisions"] == {"access": "allowed", "rate": "within"}
    assert len(first["arguments"]) == 64
    assert first["bytes"] > 0
    assert records(folder)[5]["decisions"] == {"access": "allowed", "rate": "over"}
    assert stat.S_IMODE((folder / "audit.jsonl").stat().st_mode) == 0o600
    assert "\x1b" not in (folder / "audit.jsonl").read_text()


def test_arguments_are_written_masked_where_that_is_wanted(folder: Path) -> None:
    with serve(folder, 'path = "audit.jsonl"\narguments = "masked"') as client:
        client.call("erase", {"name": "n", "password": "hunter2-hunter2"})
    text = (folder / "audit.jsonl").read_text()
    assert '"name":"n"' in text
    assert "hunter2" not in text


def test_a_full_disk_stops_what_may_destroy_and_nothing_else(folder: Path) -> None:
    with serve(folder, 'path = "/dev/full"') as client:
        assert text_of(client.call("add", {"a": 1, "b": 2})["result"]) == "3"
        refused = client.call("erase", {"name": "n"})["result"]
        assert refused["isError"]
        assert "the audit trail cannot be written" in text_of(refused)
        assert client.says("No space left on device")
    assert not (folder / "ran.txt").exists()
    with serve(folder, 'path = "/dev/full"\non_failure = "warn"') as client:
        assert text_of(client.call("erase", {"name": "n"})["result"]) == "erased"


def test_what_was_lost_is_told_when_there_is_room_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trail = AuditTrail(str(tmp_path / "a.jsonl"))
    good = trail._fd
    with Path("/dev/full").open("w") as full:
        trail._fd = full.fileno()
        trail.end(Record("c", "t"))
        trail.end(Record("c", "t"))
    trail._fd = good
    trail.end(Record("c", "t"))
    trail.end(Record("c", "t"))
    lines = (tmp_path / "a.jsonl").read_text().splitlines()
    assert [json.loads(line).get("lost_before") for line in lines] == [2, None]
    assert [json.loads(line)["number"] for line in lines] == [3, 4]
    assert verify(lines) == 2


def test_an_altered_or_missing_line_is_found(tmp_path: Path) -> None:
    trail = AuditTrail(str(tmp_path / "a.jsonl"))
    for number in range(5):
        trail.end(Record("c", f"t{number}"))
    lines = (tmp_path / "a.jsonl").read_text().splitlines()
    assert verify(lines) == 5
    assert verify([*lines[:2], lines[2].replace("t2", "t9"), *lines[3:]]) == 2
    assert verify([*lines[:2], *lines[3:]]) == 2


def test_the_file_is_put_aside_when_it_is_large(tmp_path: Path) -> None:
    trail = AuditTrail(str(tmp_path / "a.jsonl"), max_bytes=2_000)
    for _ in range(60):
        trail.end(Record("c", "t" * 50))
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == ["a.jsonl", *(f"a.jsonl.{number}" for number in range(1, 6))]
    assert all(path.stat().st_size < 2_600 for path in tmp_path.iterdir())


def test_a_path_that_cannot_be_opened_is_one_line_at_the_start(folder: Path) -> None:
    with serve(folder, 'path = "/nonexistent/audit.jsonl"') as client:
        assert client.wait(20) == 2
        assert "`audit.path`: /nonexistent/audit.jsonl cannot be opened" in client.stderr
