"""What a config says of tools: which exist, what they are called, and what may be sent to them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from rawclient import RawClient

CODE = '''
import autotool
from pathlib import Path
from typing import Literal

def refund(invoice: str, amount: int, reason: str = "", currency: str = "USD", region: str = "eu", tags: list[str] = [],
           level: int | None = None, kind: Literal["a", "b", "c"] = "a", class_: str = "x") -> dict:
    """Refund an invoice."""
    Path("log").write_text(invoice)
    return {"invoice": invoice, "amount": amount, "reason": reason, "currency": currency, "region": region, "tags": tags,
            "level": level, "kind": kind, "class_": class_}

@autotool.tool(read_only=True)
def lookup(invoice: str) -> str:
    """Look an invoice up."""
    return invoice

def open_ended(first: str, api_token: str = "", **rest: str) -> dict:
    """Take any name."""
    Path("log").write_text(first)
    return {"first": first, **rest}

def erase(name: str) -> str:
    """Erase a name."""
    Path("log").unlink()
    return name
'''
GIVEN = {"invoice": "i", "amount": 5}


def write(folder: Path, toml: str) -> Path:
    (folder / "shop.py").write_text(CODE)
    (folder / "autotool.toml").write_text(f'targets = ["./shop.py"]\n[defaults]\napproval = "none"\n{toml}')
    return folder


def autotool(*words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "autotool", *words]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False, timeout=60)


def names(client: RawClient) -> list[str]:
    return [tool["name"] for tool in client.tools()]


def text(answer: dict[str, Any]) -> str:
    return answer["result"]["content"][0]["text"]


ALLOWED = {
    'allow = ["refund", "lookup"]': ["refund", "lookup"],
    'allow = ["read_only"]': ["lookup"],
    "read_only = true": ["lookup"],
    'deny = ["read_only"]': ["refund", "open_ended", "erase"],
    'allow = ["source:shop"]\ndeny = ["e*", "open_*"]': ["refund", "lookup"],
    'allow = ["source:shop.loo*"]': ["lookup"],
    'allow = ["source:sh*"]\ndeny = ["source:shop.open_ended"]': ["refund", "lookup", "erase"],
    'allow = ["tag:money", "name:erase"]\n[tool.refund]\ntags = ["money"]': ["refund", "erase"],
    'deny = ["tag:mon*"]\n[tool.refund]\ntags = ["money"]': ["lookup", "open_ended", "erase"],
    'allow = ["pay_back"]\n[tool.refund]\nname = "pay_back"': ["pay_back"],
    'allow = ["read_only"]\n[tool.erase]\nread_only = true': ["lookup", "erase"],
}


@pytest.mark.parametrize("rules", ALLOWED)
def test_only_what_is_allowed_exists(rules: str, tmp_path: Path) -> None:
    with RawClient(cwd=write(tmp_path, f"[tools]\n{rules}")) as client:
        assert names(client) == ALLOWED[rules]
        for hidden in {"refund", "lookup", "open_ended", "erase"} - set(ALLOWED[rules]):
            assert client.call(hidden, {"name": "x"})["error"]["code"] == -32602


def test_read_only_is_a_flag_too(tmp_path: Path) -> None:
    with RawClient("--read-only", "./shop.py", cwd=write(tmp_path, "")) as client:
        assert names(client) == ["lookup"]


@pytest.mark.parametrize(
    "name", ["ok\u200b", "LOOKUP", " lookup", "lookup ", "lookup\n", "./lookup", "shop.lookup", ""]
)
def test_a_tool_answers_to_its_exact_name_only(name: str, tmp_path: Path) -> None:
    with RawClient(cwd=write(tmp_path, "")) as client:
        assert client.call(name, {"invoice": "i"})["error"]["code"] == -32602


MISTAKES = {
    '[tools]\nallow = ["refnud"]': "Did you mean `refund`?",
    '[tools]\ndeny = ["tag:mony"]\n[tool.refund]\ntags = ["money"]': "Did you mean `money`?",
    '[tools]\nallow = ["source:shop.refnud"]': "Did you mean `shop.refund`",
    '[tools]\nallow = ["zz*"]': "leave no tool",
    "[tool.refnud]\ndestructive = true": "Did you mean `refund`",
    '[tool.refund]\nname = "lookup"': "there is another tool named `lookup`",
    '[tool.refund]\nname = "re fund"': "is no tool name",
    "[tool.refund]\nnmae = 'x'": "Did you mean `name`?",
    "[tool.refund]\nparams.reson = { hidden = true }": "Did you mean `reason` or `region`?",
    "[tool.refund]\nparams.reason = { hiden = true }": "Did you mean `hidden`?",
    "[tool.refund]\nparams.invoice = { hidden = true }": "it is required, so that nothing could call the tool",
    "[tool.refund]\nparams.amount = { fixed = 'x' }": "`fixed`: expected an integer",
    "[tool.refund]\nparams.amount = { default = 'x' }": "`default`: expected an integer",
    "[tool.refund]\nparams.reason = { fixed = 'x', default = 'y' }": "no default, header or bounds",
    "[tool.refund]\nparams.reason = { minimum = 3 }": "`minimum` does not bound a value of type string",
    "[tool.refund]\nparams.reason = { pattern = '(?=x)' }": "no regular expression that can be matched in linear time",
    "[tool.refund]\nparams.kind = { choices = ['a', 'z'] }": "`choices`: expected one of 'a', 'b', 'c'",
    "[tool.refund]\nparams.region = { header = 'a b' }": "no token",
    "[tool.refund]\nparams.tags = { header = 'Tags' }": "only a string, an integer or a boolean can",
    "[tool.refund]\nparams.region = { header = 'R' }\nparams.reason = { header = 'r' }": "name the same header",
    "[tool.open_ended]\nparams.api_token = { header = 'Token' }": "its name looks secret",
    "[tool.refund]\nicons = [{ src = 'http://x/y.png' }]": "neither an https address nor a picture",
}


@pytest.mark.parametrize("toml", MISTAKES)
def test_what_contradicts_itself_is_an_error_at_the_start(toml: str, tmp_path: Path) -> None:
    finished = autotool("list", cwd=write(tmp_path, toml))
    assert finished.returncode == 2
    assert MISTAKES[toml] in " ".join(finished.stderr.split())


def test_a_glob_that_fits_nothing_is_told(tmp_path: Path) -> None:
    finished = autotool("list", cwd=write(tmp_path, '[tools]\ndeny = ["biling_*"]'))
    assert "`tools.deny` has `biling_*`, which fits no tool" in finished.stdout + finished.stderr


OVERRIDES = """
[tool.refund]
name = "pay_back"
title = "Pay back"
description = "Pay an invoice back."
tags = ["money"]
icons = [{ src = "https://acme.example/x.png", mime_type = "image/png", sizes = ["48x48"], theme = "dark" }]
destructive = true
params.reason = { description = "Shown to the customer", min_length = 3, max_length = 20, pattern = "^[a-z ]*$" }
params.currency = { fixed = "EUR" }
params.region = { default = "us", choices = ["us", "eu"], header = "Region" }
params.tags = { max_items = 2, choices = ["x", "y"] }
params.level = { minimum = 1, maximum = 9 }
params.amount = { maximum = 100 }
params.class_ = { hidden = true }
params.kind = { choices = ["a", "b"] }
"""


def test_a_tool_is_told_as_the_config_says(tmp_path: Path) -> None:
    with RawClient(cwd=write(tmp_path, OVERRIDES)) as client:
        tool = next(one for one in client.tools() if one["name"] == "pay_back")
        assert (tool["title"], tool["description"]) == ("Pay back", "Pay an invoice back.")
        assert tool["icons"] == [
            {"src": "https://acme.example/x.png", "mimeType": "image/png", "sizes": ["48x48"], "theme": "dark"}
        ]
        properties = tool["inputSchema"]["properties"]
        jsonschema.Draft202012Validator.check_schema(tool["inputSchema"])
        assert list(properties) == ["invoice", "amount", "reason", "region", "tags", "level", "kind"]
        assert properties["reason"] == {
            "type": "string", "description": "Shown to the customer", "default": "", "minLength": 3, "maxLength": 20,
            "pattern": "^[a-z ]*$",
        }  # fmt: skip
        assert properties["region"] == {
            "type": "string", "default": "us", "enum": ["us", "eu"], "x-mcp-header": "Region",
        }  # fmt: skip
        assert properties["tags"]["maxItems"] == 2
        assert properties["tags"]["items"] == {"type": "string", "enum": ["x", "y"]}
        assert properties["level"]["minimum"] == 1
        assert properties["kind"]["enum"] == ["a", "b"]
        assert tool["inputSchema"]["required"] == ["invoice", "amount"]


def test_what_is_fixed_hidden_and_defaulted_reaches_the_code(tmp_path: Path) -> None:
    with RawClient(cwd=write(tmp_path, OVERRIDES)) as client:
        found = client.call("pay_back", GIVEN)["result"]["structuredContent"]
        assert (found["currency"], found["region"], found["class_"], found["reason"]) == ("EUR", "us", "x", "")
        found = client.call("pay_back", {**GIVEN, "amount": "7", "region": "eu", "level": 9})["result"]
        assert found["structuredContent"]["amount"] == 7
        assert found["structuredContent"]["region"] == "eu"


REFUSED = {
    '{"currency": "USD"}': "`currency`: is not known; there are `invoice`",
    '{"class_": "y"}': "`class_`: is not known",
    '{"reason": "ab"}': "`reason`: expected a string (length at least 3, length at most 20, matching ^[a-z ]*$), got",
    '{"reason": "ABC"}': "`reason`: expected a string",
    '{"amount": 101}': "`amount`: expected an integer (at most 100), got 101",
    '{"amount": "101"}': "`amount`: expected an integer (at most 100)",
    '{"region": "xx"}': "`region`: expected one of 'us', 'eu'",
    '{"level": 0}': "`level`: expected an integer (at least 1, at most 9)",
    '{"tags": ["x", "y", "x"]}': "`tags`: expected an array",
    '{"tags": ["z"]}': "`tags`: expected an array",
    '{"tags": "[\\"z\\"]"}': "`tags`: expected an array",
    '{"kind": "c"}': "`kind`: expected one of 'a', 'b'",
    '{"amount": true}': "`amount`: expected an integer",
    '{"amount": [1]}': "`amount`: expected an integer",
}


@pytest.mark.parametrize("sent", REFUSED)
def test_what_the_config_excludes_is_refused_by_name(sent: str, tmp_path: Path) -> None:
    with RawClient(cwd=write(tmp_path, OVERRIDES)) as client:
        answer = client.call("pay_back", {**GIVEN, **json.loads(sent)})
        assert answer["result"]["isError"], answer
        assert REFUSED[sent] in text(answer)


def test_a_function_that_takes_any_name_cannot_be_reached_past_an_override(tmp_path: Path) -> None:
    toml = "[tool.open_ended]\nparams.api_token = { fixed = 'secret' }\nparams.first = { max_length = 2 }"
    with RawClient(cwd=write(tmp_path, toml)) as client:
        assert client.call("open_ended", {"first": "ab", "more": "1"})["result"]["structuredContent"]["more"] == "1"
        assert client.call("open_ended", {"first": "ab", "api_token": "1"})["result"]["isError"]
        assert client.call("open_ended", {"first": "ab", "api token": "1"})["result"]["isError"]
        assert client.call("open_ended", {"first": "abc"})["result"]["isError"]


def test_show_says_why_a_parameter_is_not_offered(tmp_path: Path) -> None:
    shown = autotool("show", "pay_back", cwd=write(tmp_path, OVERRIDES)).stdout
    assert "the config fills it in" in shown
    assert "the config hides it" in shown


def test_the_schema_of_the_file_admits_what_is_read_and_nothing_else(tmp_path: Path) -> None:
    import tomllib

    schema = json.loads(autotool("config", "schema", cwd=tmp_path).stdout)
    check = jsonschema.Draft202012Validator(schema)
    root = Path(__file__).parents[2]
    for toml in ((root / "autotool.toml").read_text(), f"[defaults]\ntimeout = '30s'\nmax_output = 1000\n{OVERRIDES}"):
        assert [error.message for error in check.iter_errors(tomllib.loads(toml))] == []
    for wrong in ("[server]\nprot = 1", "[tool.x]\nparams.y = { hiden = true }", '[defaults]\ntimeout = "soon"'):
        assert list(check.iter_errors(tomllib.loads(wrong)))
    sections = [schema, *schema["$defs"].values()]
    told = [(key, one) for body in sections for key, one in body.get("properties", {}).items()]
    assert [key for key, one in told if not (one.get("description") or "$ref" in one)] == []
