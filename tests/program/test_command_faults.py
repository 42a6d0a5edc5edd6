"""Commands that hang, flood, fork, hide and change: one call each, and nothing of them left behind."""

from __future__ import annotations

import json
import os
import signal
import time
from pathlib import Path

import psutil
import pytest
from rawclient import RawClient, text_of

TREE = "sleep 51.5 & sh -c 'sleep 51.5 & sleep 51.5' & (setsid sh -c 'sleep 51.5 & exec sleep 51.5' &) ; sleep 51.5"
"""Children, grandchildren, and an orphan that has a session of its own."""

CONFIG = f"""
[defaults]
timeout = "20s"

[command.tree]
run = ["sh", "-c", {json.dumps(TREE)}]
allow_dangerous = ["-c"]

[command.tree_limited]
run = ["sh", "-c", {json.dumps(TREE)}]
allow_dangerous = ["-c"]
timeout = "1s"

[command.stubborn]
run = ["sh", "-c", "trap '' TERM; echo begun; while :; do sleep 51.5; done"]
allow_dangerous = ["-c"]
timeout = "1s"

[command.flood]
run = ["sh", "-c", "yes | head -c 1000000000"]
allow_dangerous = ["-c"]

[command.flood_stderr]
run = ["sh", "-c", "yes | head -c 1000000000 >&2"]
allow_dangerous = ["-c"]

[command.closes_stdout]
run = ["sh", "-c", "exec >&-; sleep 0.3; exit 4"]
allow_dangerous = ["-c"]

[command.waits_for_input]
run = ["sh", "-c", "read line; echo got:$line; cat"]
allow_dangerous = ["-c"]

[command.forks]
run = ["sh", "-c", "i=0; while [ $i -lt 150 ]; do sleep 51.5 & i=$((i+1)); done; echo forked"]
allow_dangerous = ["-c"]

[command.killed]
run = ["sh", "-c", "echo before; kill -SEGV $$"]
allow_dangerous = ["-c"]

[command.big_input]
run = ["sh", "-c", "exec <&-; echo unread"]
stdin = "{{text}}"
allow_dangerous = ["-c"]

[command.no_folder]
run = ["ls"]
cwd = "/nonexistent-folder"

[command.not_executable]
run = ["./plain.txt"]

[command.bad_interpreter]
run = ["./bad.sh"]

[command.fine]
run = ["echo", "fine"]
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "autotool.toml").write_text(CONFIG)
    (tmp_path / "plain.txt").write_text("no program")
    (tmp_path / "bad.sh").write_text("#!/nonexistent/interpreter\n")
    (tmp_path / "bad.sh").chmod(0o755)
    return tmp_path


def alive() -> list[int]:
    """Every `sleep 51.5` there is, zombies included."""
    found: list[int] = []
    for process in psutil.process_iter(["cmdline", "status", "name"]):
        if process.info["cmdline"] == ["sleep", "51.5"]:
            found.append(process.pid)
    return found


def gone_within(seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while alive():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


def wait_for_tree() -> None:
    deadline = time.monotonic() + 10
    while len(alive()) < 6:
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_a_time_limit_ends_the_whole_tree(folder: Path) -> None:
    with RawClient(cwd=folder) as client:
        result = client.call("tree_limited")["result"]
        assert result["isError"]
        assert "time limit of 1 s" in text_of(result)
        assert gone_within(4)
        assert text_of(client.call("fine")["result"]) == "fine\n"


def test_a_cancelled_call_ends_the_whole_tree(folder: Path) -> None:
    with RawClient(cwd=folder) as client:
        call = client.start("tools/call", name="tree", arguments={})
        wait_for_tree()
        client.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": call}})
        assert gone_within(4)
        assert client.answer(call, 0.3) is None


@pytest.mark.parametrize("ending", ["input", signal.SIGTERM, signal.SIGKILL], ids=str)
def test_the_end_of_the_server_ends_the_whole_tree(folder: Path, ending: str | signal.Signals) -> None:
    with RawClient(cwd=folder) as client:
        client.start("tools/call", name="tree", arguments={})
        wait_for_tree()
        if isinstance(ending, str):
            client.close_input()
        else:
            os.kill(client.process.pid, ending)
        assert gone_within(10)
        client.wait(10)


def test_a_command_that_ignores_sigterm_is_answered_for_and_killed(folder: Path) -> None:
    with RawClient(cwd=folder) as client:
        text = text_of(client.call("stubborn")["result"])
        assert "begun" in text
        assert "time limit of 1 s" in text
        assert gone_within(6)


@pytest.mark.parametrize("tool", ["flood", "flood_stderr"])
def test_a_flood_is_stopped_and_takes_no_memory(folder: Path, tool: str) -> None:
    with RawClient(cwd=folder) as client:
        client.call("fine")
        process = psutil.Process(client.process.pid)
        before = process.memory_info().rss
        result = client.call(tool)["result"]
        assert result["isError"]
        assert "more than 64 MiB" in text_of(result)
        assert "truncated" in text_of(result)
        assert len(text_of(result)) < 300_000
        assert process.memory_info().rss - before < 48e6


def test_a_command_that_closes_its_output_is_waited_for(folder: Path) -> None:
    with RawClient(cwd=folder) as client:
        result = client.call("closes_stdout")["result"]
        assert result["isError"]
        assert text_of(result) == "[exit code 4]"


def test_a_command_that_reads_finds_an_empty_input(folder: Path) -> None:
    with RawClient(cwd=folder) as client:
        assert text_of(client.call("waits_for_input")["result"]) == "got:\n"


def test_children_that_a_command_leaves_are_ended(folder: Path) -> None:
    with RawClient(cwd=folder) as client:
        assert text_of(client.call("forks")["result"]) == "forked\n"
        assert gone_within(4)


def test_a_signal_is_named(folder: Path) -> None:
    with RawClient(cwd=folder) as client:
        result = client.call("killed")["result"]
        assert result["isError"]
        assert text_of(result) == "before\n[killed by signal 11 (SIGSEGV)]"


def test_input_that_nobody_reads_blocks_nothing(folder: Path) -> None:
    with RawClient(cwd=folder) as client:
        assert text_of(client.call("big_input", {"text": "x" * 1_000_000})["result"]) == "unread\n"


@pytest.mark.parametrize(
    ("tool", "said"),
    [
        ("no_folder", "`ls` was not run: its working directory '/nonexistent-folder' cannot be entered"),
        ("not_executable", "`./plain.txt` is not executable; `chmod +x ./plain.txt` makes it so"),
        ("bad_interpreter", "the program that its first line names was not found"),
    ],
)
def test_what_cannot_be_run_says_why(folder: Path, tool: str, said: str) -> None:
    with RawClient(cwd=folder) as client:
        result = client.call(tool)["result"]
        assert result["isError"]
        assert said in text_of(result)
        assert text_of(client.call("fine")["result"]) == "fine\n"


def test_a_program_that_was_exchanged_is_not_run(tmp_path: Path) -> None:
    script = tmp_path / "tool.sh"
    script.write_text("#!/bin/sh\necho honest\n")
    script.chmod(0o755)
    (tmp_path / "autotool.toml").write_text(
        '[command.pinned]\nrun = ["./tool.sh"]\n[command.free]\nrun = ["./tool.sh"]\npin_program = false\n'
    )
    with RawClient(cwd=tmp_path) as client:
        assert text_of(client.call("pinned")["result"]) == "honest\n"
        script.unlink()
        script.write_text("#!/bin/sh\necho other\n")
        script.chmod(0o755)
        result = client.call("pinned")["result"]
        assert result["isError"]
        assert "is not the program that it was when the server started" in text_of(result)
        assert text_of(client.call("free")["result"]) == "other\n"


def test_a_command_first_on_the_path_later_is_not_run(tmp_path: Path) -> None:
    early = tmp_path / "bin"
    early.mkdir()
    (tmp_path / "autotool.toml").write_text('[command.who]\nrun = ["basename", "/a/honest"]\n')
    with RawClient(cwd=tmp_path, env={"PATH": f"{early}:{os.environ['PATH']}"}) as client:
        client.tools()
        hijack = early / "basename"
        hijack.write_text("#!/bin/sh\necho hijacked\n")
        hijack.chmod(0o755)
        assert text_of(client.call("who")["result"]) == "honest\n"


def test_secrets_of_the_server_do_not_reach_a_command(tmp_path: Path) -> None:
    (tmp_path / "autotool.toml").write_text(
        '[command.env]\nrun = ["env"]\npass_env = ["PASSED"]\nenv.GIVEN = { variable = "HIDDEN_VALUE" }\n'
    )
    secrets = {
        "AUTOTOOL_BEARER": "hunter2-hunter2",
        "LD_PRELOAD_X": "1",
        "PYTHONSTARTUP": "/x",
        "GIT_SSH_COMMAND": "evil",
        "BASH_ENV": "/x",
    }
    with RawClient(cwd=tmp_path, env={**secrets, "PASSED": "yes", "HIDDEN_VALUE": "abcdefgh-12345"}) as client:
        text = text_of(client.call("env")["result"])
    names = {line.partition("=")[0] for line in text.splitlines()}
    assert names.isdisjoint(secrets)
    assert "PASSED=yes" in text
    assert "abcdefgh-12345" not in text
    assert "GIVEN=[redacted" in text
