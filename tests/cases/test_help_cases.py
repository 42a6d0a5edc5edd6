"""The acceptance cases of programs and their help, each through the real program; the programs write down their arguments."""

from __future__ import annotations

import json
import os
import shlex
import sys
import time
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from cases.expectations import text_problems
from cases.test_cases import DATA, cases
from rawclient import RawClient, text_of

ECHO = f"#!{sys.executable}\nimport json, sys\nprint(json.dumps(sys.argv[1:]))\n"
NOTED = "import json as _j, sys as _s\nopen('argv.json', 'w').write(_j.dumps(_s.argv[1:]))\n"


def program(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")
    path.chmod(0o755)
    return path


def asked_words(command: str) -> list[str]:
    """The words of a case's command without the option that asks for help."""
    words = shlex.split(command)
    return [word for word in words if word not in ("--help", "-h", "help", "all")]


def definition_problems(tool: dict[str, Any], expect: dict[str, Any]) -> list[str]:
    schema = tool["inputSchema"]
    properties = schema["properties"]
    problems: list[str] = []
    for name, want in expect.get("params", {}).items():
        if name not in properties:
            problems.append(f"{name} is missing among {list(properties)}")
            continue
        problems += parameter_problems(name, properties[name], want)
    if "required" in expect and sorted(schema.get("required", [])) != sorted(expect["required"]):
        problems.append(f"required is {schema.get('required')}")
    if "only" in expect and list(properties) != expect["only"]:
        problems.append(f"parameters are {list(properties)}")
    return problems + [f"{name} is there" for name in expect.get("absent", ()) if name in properties]


def parameter_problems(name: str, got: dict[str, Any], want: dict[str, Any]) -> list[str]:
    problems: list[str] = []
    for key, value in want.items():
        if key == "accepts":
            problems += [
                f"{name} refuses {one!r}" for one in value if not jsonschema.Draft202012Validator(got).is_valid(one)
            ]
        elif key == "enum_in":
            problems += [] if got.get("enum") in value else [f"{name} is {got}"]
        elif key == "description" and isinstance(value, dict):
            problems += text_problems(got.get("description", ""), value, name)
        elif key == "items":
            problems += [] if got.get("items") == value else [f"{name} is {got}"]
        elif got.get(key) != value:
            problems.append(f"{name}.{key} is {got.get(key)!r}")
    return problems


def call_problems(client: RawClient, tool: str, want: dict[str, Any], argv: Any) -> list[str]:
    result = client.call(tool, want["args"])["result"]
    text = text_of(result)
    if want.get("error"):
        missing = [word for word in want["mentions"] if word not in text]
        return [f"{want['args']}: {text!r}"] if missing or not result["isError"] else []
    if result["isError"]:
        return [f"{want['args']}: {text}"]
    problems = []
    allowed = want.get("argv_any", [want["argv"]] if "argv" in want else [])
    if allowed and argv(text) not in allowed:
        problems.append(f"{want['args']}: ran with {argv(text)}")
    if "result" in want and json.loads(text) != want["result"]:
        problems.append(f"{want['args']}: gave {text}")
    if "result_text" in want and text.strip() != want["result_text"].strip():
        problems.append(f"{want['args']}: gave {text!r}")
    return problems


@pytest.mark.parametrize("case", cases("help"))
def test_help_text(case: dict[str, Any], tmp_path: Path) -> None:
    expect, given = case["expect"], case["input"]
    words = asked_words(given["command"])
    program(tmp_path / "bin", words[0], ECHO)
    texts = [given.get("text") or (DATA / "help" / given["help_file"]).read_text(encoding="utf-8")]
    texts += [given["text2"]] if "text2" in given else []
    schemas: list[Any] = []
    for text in texts:
        (tmp_path / "help.txt").write_text(text, encoding="utf-8")
        # What a case speaks of is named here: options that write or run something are not offered otherwise.
        named = [*expect.get("params", {}), *expect.get("global_params", {})]
        depth = "depth = 0\n" if "commands_include" in expect else ""
        (tmp_path / "autotool.toml").write_text(
            f'[program.case]\nrun = {json.dumps(words)}\nhelp_file = "help.txt"\nbudget = "100kB"\n{depth}'
            f"allow_dangerous = {json.dumps(named)}\n"
        )
        with RawClient(cwd=tmp_path, env={"PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}"}) as client:
            (tool,) = client.tools()
            schemas.append(tool["inputSchema"])
            problems = definition_problems(tool, expect)
            problems += definition_problems(tool, {"params": expect.get("global_params", {})})
            problems += flag_problems(expect, tool, client)
            if "accept" in expect:
                assert {"name", "type", "maxdepth"} <= set(tool["inputSchema"]["properties"])
            for want in expect.get("argv", ()):
                problems += call_problems(client, tool["name"], want, lambda text: json.loads(text)[len(words) - 1 :])
            for group in expect.get("exclusive", ()):
                problems += exclusion_problems(client, tool, group)
            for word in expect.get("warn", ()):
                problems += [] if client.says(word) else [f"not warned of {word}: {client.stderr}"]
        assert problems == []
    if expect.get("same_schema"):
        assert schemas[0] == schemas[1]


def flag_problems(expect: dict[str, Any], tool: dict[str, Any], client: RawClient) -> list[str]:
    """Each spelling belongs to one parameter: sent, it is written under its long name."""
    problems = []
    for flag, name in expect.get("flags", {}).items():
        if not flag.startswith("--"):
            continue
        words = json.loads(text_of(client.call(tool["name"], {name: "v"})["result"]))
        problems += [] if f"{flag}=v" in words else [f"{name} is written as {words}"]
    return problems


def exclusion_problems(client: RawClient, tool: dict[str, Any], group: list[str]) -> list[str]:
    """Any two of a group are refused, and the refusal names them."""
    values = {"boolean": True, "string": "x", "array": ["x", "x"], "integer": 1, None: "x"}
    kinds = {name: tool["inputSchema"]["properties"][name].get("type") for name in group}
    first, second = group[0], group[-1]
    result = client.call(tool["name"], {first: values[kinds[first]], second: values[kinds[second]]})["result"]
    text = text_of(result)
    return [] if result["isError"] and first in text and second in text else [f"{first} and {second} are taken: {text}"]


@pytest.mark.parametrize("case", [one for one in cases("help") if "commands_include" in one.values[0]["expect"]])
def test_subcommands(case: dict[str, Any], tmp_path: Path) -> None:
    words = asked_words(case["input"]["command"])
    page = (DATA / "help" / case["input"]["help_file"]).read_text(encoding="utf-8")
    inner = "Usage:  tool COMMAND [OPTIONS] NAME\\n\\nOptions:\\n      --loud   say more\\n"
    code = f"#!{sys.executable}\nimport sys\nprint({page!r} if len(sys.argv) < 3 else '{inner}')\n"
    program(tmp_path / "bin", words[0], code)
    with RawClient("--command", words[0], env={"PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}"}) as client:
        names = {tool["name"] for tool in client.tools()}
    expect = case["expect"]
    assert [name for name in expect["commands_include"] if f"{words[0]}_{name}" not in names] == []
    assert [name for name in expect["commands_exclude"] if f"{words[0]}_{name}" in names] == []


@pytest.mark.parametrize("case", cases("cli"))
def test_python_program(case: dict[str, Any], tmp_path: Path) -> None:
    expect = case["expect"]
    guarded = "__main__" in case["input"]["program"]
    text = case["input"]["program"]
    (tmp_path / "case.py").write_text(text.replace("\n", "\n" + NOTED, 1), encoding="utf-8")
    target = "./case.py:build()" if guarded else "./case.py"
    with RawClient(target, cwd=tmp_path) as client:
        tools = {tool["name"]: tool for tool in client.tools()}
        problems: list[str] = []
        for want in expect["argv"]:
            suffix = want.get("command", "")
            (name,) = [name for name in tools if name.endswith(suffix)] if suffix else list(tools)
            is_fire = "fire" in text
            given = want if not is_fire else {key: value for key, value in want.items() if key != "argv"}
            problems += call_problems(client, name, given, lambda _: json.loads((tmp_path / "argv.json").read_text()))
        for tool in tools.values():
            problems += definition_problems(tool, expect)
        for name in expect.get("commands_include", ()):
            problems += [] if any(tool.endswith(f"_{name}") for tool in tools) else [f"{name} is no tool"]
        for word in expect.get("warn", ()):
            problems += [] if client.says(word) else [f"not warned of {word}: {client.stderr}"]
    assert problems == []


@pytest.mark.parametrize("case", [one for one in cases("exec") if one.values[0]["kind"] == "cli-help"])
def test_asking(case: dict[str, Any], tmp_path: Path) -> None:
    expect, given = case["expect"], case["input"]
    path = program(tmp_path, Path(given["command"][0]).name, given["program"])
    started = time.monotonic()
    with RawClient("--command", shlex.join(given["command"]), cwd=tmp_path, env=given.get("env")) as client:
        (tool,) = client.tools()
        took = time.monotonic() - started
        problems = definition_problems(tool, expect["tool"])
        for word in expect.get("warn", ()):
            problems += [] if client.says(word) else [f"not warned of {word}: {client.stderr}"]
    assert problems == []
    assert took < expect.get("help_seconds_max", took + 1)
    assert sorted(other.name for other in tmp_path.iterdir()) == [path.name]
