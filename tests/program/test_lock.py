"""`autotool.lock`: what was looked at is what is served, or nothing is."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from rawclient import RawClient, text_of

CODE = '''
import autotool

def add(a: int, b: int = 2**60) -> int:
    """Add 'two' numbers \\\\ or "more"."""
    total = a + b
    return total

@autotool.tool(title="Say 'it'")
def say(word: str) -> str:
    """Say it.\\n\\nTwice: \\u2028 é 漢字."""
    return word
'''
CONFIG = """
targets = ["./shop.py"]
[command.hello]
run = ["echo", "{word}"]
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "shop.py").write_text(CODE)
    (tmp_path / "autotool.toml").write_text(CONFIG)
    return tmp_path


def run(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "autotool", *words]
    return subprocess.run(
        command, cwd=folder, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL, timeout=60
    )


def test_the_lock_is_stable_and_has_a_block_for_each_tool(folder: Path) -> None:
    finished = run(folder, "lock")
    assert (finished.returncode, finished.stdout) == (0, "autotool.lock: 3 tools, written\n"), finished.stderr
    text = (folder / "autotool.lock").read_text()
    plain = tomllib.loads(text)
    assert list(plain["tool"]) == ["add", "hello", "say"]
    assert plain["tool"]["say"]["title"] == "Say 'it'"
    assert json.loads(plain["tool"]["add"]["input_schema"])["properties"]["b"]["default"] == 2**60
    (folder / "autotool.toml").write_text(CONFIG.replace("[command", "[tools]\ndeny = []\n[command"))
    assert run(folder, "lock").stdout == "autotool.lock: 3 tools, as before\n"
    assert (folder / "autotool.lock").read_text() == text
    assert run(folder, "verify").returncode == 0


CHANGES = [
    ("total = a + b", "total = b + a", "`add`, implementation:"),
    ("Add 'two'", "Add 'too'", "`add`, description:\n  - Add 'two' numbers \\ or \"more\".\n  + Add 'too' numbers"),
    ("a: int,", "a: float,", "`add`, input schema:"),
    ("-> str", "-> int", "`say`, output schema:"),
    ("title=\"Say 'it'\"", "title=\"Say 'it'\", destructive=True", "`say`, annotations:"),
    ("def say", "def tell", "`tell` is new: it is not locked"),
    ("def say", "def _say", "`say` is locked and is missing"),
    ("Say it.", "Say \U000e0041it.", "`say`, implementation:"),
]


@pytest.mark.parametrize(("old", "new", "said"), CHANGES)
def test_whatever_differs_is_shown_and_nothing_is_served(folder: Path, old: str, new: str, said: str) -> None:
    """threats.md, S28."""
    run(folder, "lock")
    (folder / "shop.py").write_text(CODE.replace(old, new))
    verified = run(folder, "verify")
    assert verified.returncode == 1
    assert said in verified.stdout
    served = run(folder, "serve", "--stdio", "--locked")
    assert served.returncode == 1
    assert said in served.stderr
    assert served.stdout == ""


def test_a_command_is_pinned_by_its_words(folder: Path) -> None:
    run(folder, "lock")
    (folder / "autotool.toml").write_text(CONFIG.replace('"echo"', '"printf"'))
    verified = run(folder, "verify")
    assert (verified.returncode, "`hello`, implementation:" in verified.stdout) == (1, True)


def test_without_a_lock_file_a_locked_server_does_not_start(folder: Path) -> None:
    served = run(folder, "serve", "--stdio", "--locked")
    assert served.returncode == 2
    assert "there is no autotool.lock" in served.stderr
    (folder / "autotool.lock").write_text("version = 1\n<<<<<<<\n")
    assert run(folder, "verify").returncode == 2
    (folder / "autotool.lock").write_text("version = 1\n[tool.add]\ndigest = 'x'\ninput_schema = 5\n")
    assert "is not as it was written" in run(folder, "verify").stderr


def test_the_file_can_be_another_one_and_the_config_can_demand_it(folder: Path) -> None:
    assert run(folder, "lock", "--file", "pins.lock").returncode == 0
    assert run(folder, "verify", "--file", "pins.lock").returncode == 0
    (folder / "autotool.toml").write_text(
        CONFIG.replace("[command", '[tools]\nlock = "pins.lock"\nlocked = true\n[command')
    )
    assert run(folder, "list").returncode == 0
    with RawClient("--stdio", cwd=folder) as client:
        assert len(client.tools()) == 3
    (folder / "shop.py").write_text(CODE.replace("b + a", "a").replace("total = a + b", "total = a"))
    assert run(folder, "serve", "--stdio").returncode == 1


def test_a_locked_server_reloads_what_is_locked_and_nothing_else(folder: Path) -> None:
    run(folder, "lock")
    with RawClient("--stdio", "--locked", "--reload", cwd=folder) as client:
        client.start("subscriptions/listen", notifications={"toolsListChanged": True})
        assert client.next_message(10) is not None
        changed = CODE.replace("return word", "return word + word").replace("Say it.", "Say it often.")
        (folder / "shop.py").write_text(changed)
        assert client.says("not reloaded: 1 tool is not as in autotool.lock")
        assert client.says("+ Say it often.")
        assert text_of(client.call("say", {"word": "a"})["result"]) == "a"
        assert run(folder, "lock").returncode == 0
        message = client.next_message(15)
        assert message is not None
        assert message["method"] == "notifications/tools/list_changed"
        assert text_of(client.call("say", {"word": "a"})["result"]) == "aa"
        (folder / "autotool.toml").write_text(CONFIG.replace("[command", "[tools]\nlocked = false\n[command"))
        (folder / "shop.py").write_text(CODE)
        assert client.says("not reloaded: 1 tool is not as in autotool.lock", 10)
