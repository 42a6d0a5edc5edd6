"""Hostile values in every position of a command line: each arrives as it was sent, in one word, or is refused by name."""

from __future__ import annotations

import json
import stat
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from rawclient import RawClient, text_of

CONFIG = """
[command.operand]
run = ["{echo}", "{value}"]

[command.after_option]
run = ["{echo}", "-n", "{value}", "end"]

[command.stopped]
run = ["{echo}", "--", "{value}"]

[command.joined]
run = ["{echo}", "--since={value}"]

[command.embedded]
run = ["{echo}", "user:{value}:x"]

[command.leading]
run = ["{echo}", "{value}:x"]

[command.spread]
run = ["{echo}", "--", "{value...}"]

[command.repeated]
run = ["{echo}", "--env={value}"]
params.value = { type = "array" }

[command.group]
run = ["{echo}", ["--author={value}", "--"]]
params.value = { optional = true }

[command.path]
run = ["{echo}", "{value}"]
params.value = { type = "path" }

[command.inside]
run = ["{echo}", "{value}"]
params.value = { type = "path", within = "box" }

[command.variable]
run = ["{echo}"]
env.VALUE = "{value}"

[command.input]
run = ["{echo}"]
stdin = "{value}"

[command.script]
shell = true
run = '"$ECHO" "$VALUE"'
env.ECHO = "{echo}"
env.VALUE = "{value}"
"""

ECHO = """#!{python}
import json, os, sys
print(json.dumps([sys.argv[1:], os.environ.get("VALUE"), sys.stdin.read()]))
"""

HARMLESS_WORDS = [
    "; touch canary",
    "&& touch canary",
    "| touch canary",
    "$(touch canary)",
    "`touch canary`",
    "> canary",
    "%0atouch canary",
    "*",
    "?[a-z]",
    "~",
    "~root/x",
    "'",
    '"',
    "\\",
    "$HOME",
    "%PATH%",
    "!!",
    "{value}",
    "{{x}}",
    "",
    " ",
    "été ≠ 日本 🎉",
    "a" * 100_000,
]
BREAKS = ["a\ntouch canary", "a\r\ntouch canary"]
OPTIONS = ["--output=canary", "-rf", "-", "--", "-o canary", "--upload-pa=touch canary"]
UNFIT = ["a\x00b", "b" * 200_000]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[RawClient, Path]]:
    folder = tmp_path_factory.mktemp("hostile")
    echo = folder / "echo-argv"
    echo.write_text(ECHO.replace("{python}", sys.executable))
    echo.chmod(echo.stat().st_mode | stat.S_IXUSR)
    (folder / "box").mkdir()
    (folder / "box" / "link").symlink_to(folder)
    (folder / "autotool.toml").write_text(CONFIG.replace("{echo}", str(echo)))
    with RawClient(cwd=folder) as client:
        yield client, folder
        assert not (folder / "canary").exists()
        assert not (folder / "box" / "canary").exists()


def sent(server: tuple[RawClient, Path], tool: str, value: Any) -> Any:
    """What the program got: its words, the variable and its input; or the text of the refusal."""
    result = server[0].call(tool, {"value": value})["result"]
    text = text_of(result)
    assert not (server[1] / "canary").exists()
    return text if result["isError"] else json.loads(text)


@pytest.mark.parametrize("value", [*HARMLESS_WORDS, *BREAKS], ids=lambda value: repr(value[:20]))
def test_a_value_is_one_word_wherever_it_stands(server: tuple[RawClient, Path], value: str) -> None:
    assert sent(server, "operand", value)[0] == [value]
    assert sent(server, "after_option", value)[0] == ["-n", value, "end"]
    assert sent(server, "stopped", value)[0] == ["--", value]
    assert sent(server, "joined", value)[0] == [f"--since={value}"]
    assert sent(server, "spread", [value, "b"])[0] == ["--", value, "b"]
    assert sent(server, "repeated", [value, "b"])[0] == [f"--env={value}", "--env=b"]
    assert sent(server, "group", value)[0] == [f"--author={value}", "--"]
    assert sent(server, "variable", value)[1] == value
    assert sent(server, "input", value)[2] == value
    assert sent(server, "script", value)[0] == [value]


@pytest.mark.parametrize("value", HARMLESS_WORDS, ids=lambda value: repr(value[:20]))
def test_a_value_inside_a_word_stays_inside(server: tuple[RawClient, Path], value: str) -> None:
    assert sent(server, "embedded", value)[0] == [f"user:{value}:x"]
    assert sent(server, "leading", value)[0] == [f"{value}:x"]


@pytest.mark.parametrize("value", BREAKS, ids=repr)
def test_line_breaks_are_refused_inside_a_longer_word(server: tuple[RawClient, Path], value: str) -> None:
    for tool in ("embedded", "leading"):
        assert "`value`: may not have line breaks" in sent(server, tool, value)


@pytest.mark.parametrize("value", OPTIONS)
def test_a_value_never_becomes_an_option(server: tuple[RawClient, Path], value: str) -> None:
    for tool in ("operand", "after_option", "leading"):
        said = sent(server, tool, value)
        assert "`value`:" in said
        assert "would take it for an option" in said
    assert sent(server, "stopped", value)[0] == ["--", value]
    assert sent(server, "spread", [value])[0] == ["--", value]
    assert sent(server, "joined", value)[0] == [f"--since={value}"]
    assert sent(server, "path", value)[0] == [f"./{value}"]
    assert sent(server, "script", value)[0] == [value]


@pytest.mark.parametrize("value", UNFIT, ids=["nul", "too long"])
def test_what_cannot_be_passed_is_refused_by_name(server: tuple[RawClient, Path], value: str) -> None:
    for tool in ("operand", "joined", "embedded", "variable", "script", "path"):
        assert "`value`: has" in sent(server, tool, value)
    assert "`value`: has" in sent(server, "spread", [value])


@pytest.mark.parametrize(
    "value",
    [
        "../canary",
        "..",
        "/etc/passwd",
        "a/../../x",
        "link/x",
        "ext::sh -c touch% canary",
        "file:///etc/passwd",
        "\\\\host\\x",
    ],
)
def test_a_path_stays_in_its_folder(server: tuple[RawClient, Path], value: str) -> None:
    assert "`value`:" in sent(server, "inside", value)


@pytest.mark.parametrize("value", ["~/x", "-rf", "a b", "$(id)", "é"])
def test_any_name_inside_the_folder_is_a_path(server: tuple[RawClient, Path], value: str) -> None:
    assert sent(server, "inside", value)[0] == [str((server[1] / "box").resolve() / value)]


@pytest.mark.parametrize("value", ["ext::sh -c touch% canary", "http://x/", "\\\\host\\share", ""])
def test_an_address_is_no_path(server: tuple[RawClient, Path], value: str) -> None:
    assert "`value`:" in sent(server, "path", value)
