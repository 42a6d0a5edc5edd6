"""What each kind of target serves, and what a person reads when it cannot be served. Through the real program."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = {
    "acme/__init__.py": '"""Tools of the acme company."""\n\ndef top() -> str:\n    "At the top."\n    return "top"\n',
    "acme/billing.py": '''
"""Billing."""
import functools
import json
from textwrap import dedent

LIMIT = 3
counter = 0

class Ledger:
    """A ledger."""

    def __init__(self, rows=None):
        self.rows = list(rows or [])

    @property
    def explosive(self):
        raise RuntimeError("a property was read")

    def add(self, amount: int) -> int:
        """Add an amount, and give the sum."""
        self.rows.append(amount)
        return sum(self.rows)

    @staticmethod
    def double(amount: int) -> int:
        """Twice."""
        return 2 * amount

    @classmethod
    def empty(cls) -> str:
        """The name of the class."""
        return cls.__name__

    def _hidden(self) -> None: ...

class Needy:
    def __init__(self, path):
        self.path = path

    def read(self) -> str:
        "Read it."
        return self.path

def make() -> Needy:
    "Make a needy one."
    return Needy("here")

ledger = Ledger([1])

def refund(amount: int = LIMIT) -> str:
    """Give money back."""
    return f"refunded {amount}"

refund_two = functools.partial(refund, amount=2)

async def later(word: str) -> str:
    """Say it later."""
    return word

def _private() -> None: ...

def unserveable(callback: "collections.abc.Callable") -> None:
    "Take a function."

import collections.abc
''',
    "acme/broken.py": "import no_such_module_anywhere\n",
    "acme/syntax.py": "def f(:\n",
    "acme/nothing.py": "X = 1\n",
    "acme/leaves.py": "import sys\nsys.exit(4)\n",
    "scripts_a/tool.py": "import helper\n\ndef who() -> str:\n    'Who helps.'\n    return helper.NAME\n",
    "scripts_a/helper.py": "NAME = 'a'\n",
    "scripts_b/tool_b.py": "import helper\n\ndef who_b() -> str:\n    'Who helps.'\n    import late\n    return helper.NAME + late.NAME\n",
    "scripts_b/helper.py": "NAME = 'b'\n",
    "scripts_b/late.py": "NAME = ' late'\n",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in PACKAGE.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return tmp_path


def autotool(folder: Path, *words: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "autotool", *words],
        cwd=folder,
        capture_output=True,
        text=True,
        input=stdin,
        timeout=60,
        check=False,
    )


def names(folder: Path, *words: str) -> list[str]:
    finished = autotool(folder, "list", "--json", *words)
    assert finished.returncode == 0, finished.stderr
    return [tool["name"] for tool in json.loads(finished.stdout)["tools"]]


@pytest.mark.parametrize(
    ("words", "served"),
    [
        (["acme"], ["top"]),
        (["acme.billing"], ["make", "refund", "refund_two", "later"]),
        (["acme.billing:refund"], ["refund"]),
        (["acme.billing:Ledger"], ["add", "double", "empty"]),
        (["acme.billing:ledger"], ["add", "double", "empty"]),
        (["acme.billing:ledger.add"], ["add"]),
        (["acme.billing:Ledger.double"], ["double"]),
        (["acme.billing:make()"], ["read"]),
        (["./acme/billing.py:refund"], ["refund"]),
        (["acme", "--recursive", "--exclude", "refund*"], ["top", "make", "later"]),
        (["acme.billing", "--include", "re*"], ["refund", "refund_two"]),
        (["acme.billing:refund", "acme"], ["refund", "top"]),
        (["acme.billing", "acme.billing:refund"], ["make", "refund", "refund_two", "later"]),
    ],
    ids=" ".join,
)
def test_each_kind_of_target(folder: Path, words: list[str], served: list[str]) -> None:
    assert names(folder, *words) == served


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("acme.biling", ["there is no module `acme.biling`", "`billing`"]),
        ("acme.billing:refnd", ["`acme.billing` has no `refnd`", "`refund`"]),
        ("acme.refund", ["there is no module `acme.refund`"]),
        (
            "acme.broken",
            ["`acme.broken` does not import", "ModuleNotFoundError", "no_such_module_anywhere", "broken.py:1"],
        ),
        ("acme.syntax", ["`acme.syntax` does not import", "SyntaxError", "syntax.py:1"]),
        ("acme.leaves", ["`acme.leaves` does not import", "SystemExit", "4"]),
        ("acme.nothing", ["holds nothing to serve"]),
        ("acme.billing:Needy", ["`acme.billing:Needy` cannot be constructed without arguments", "path", "make()"]),
        ("acme.billing:Ledger.add", ["`Ledger`", "`self`"]),
        ("acme.billing:unserveable", ["`unserveable`", "`callback`"]),
        ("./acme/bilings.py", ["there is no file", "`billing.py`"]),
        ("what is this", ["is not a target", "pkg.mod"]),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
@pytest.mark.parametrize("command", ["list", "serve"])
def test_a_target_that_cannot_be_served_is_one_clear_line(
    folder: Path, command: str, target: str, said: list[str]
) -> None:
    finished = autotool(folder, command, target)
    assert finished.returncode == 2
    assert [part for part in said if part not in finished.stderr] == [], finished.stderr
    assert "Traceback" not in finished.stderr
    assert finished.stderr.startswith("autotool: ")
    assert finished.stdout == ""


def test_a_traceback_is_shown_with_debug(folder: Path) -> None:
    assert "Traceback" in autotool(folder, "list", "acme.broken", "--debug").stderr


def test_what_cannot_be_served_costs_only_itself(folder: Path) -> None:
    finished = autotool(folder, "list", "acme", "--recursive")
    assert finished.returncode == 0
    for subject in ("acme.billing:unserveable", "acme.broken", "acme.syntax", "acme.leaves"):
        assert subject in finished.stdout
    assert "callback" in finished.stdout


def test_scripts_in_two_folders_have_helpers_of_the_same_name(folder: Path) -> None:
    first, second = "./scripts_a/tool.py", "./scripts_b/tool_b.py"
    assert names(folder, first, second) == ["who", "who_b"]
    (folder / "autotool.toml").write_text(f'targets = ["{first}", "{second}"]\n', encoding="utf-8")
    config = ["--config", "autotool.toml"]
    assert autotool(folder, "call", first, "who", *config).stdout == "a\n"
    assert autotool(folder, "call", second, "who_b", *config).stdout == "b late\n"


def test_state_of_a_class_is_shared_by_its_calls(folder: Path) -> None:
    from rawclient import RawClient, text_of

    with RawClient("acme.billing:Ledger", cwd=folder) as client:
        sums = [text_of(client.call("add", {"amount": 2})["result"]) for _ in range(3)]
    assert sums == ["2", "4", "6"]
