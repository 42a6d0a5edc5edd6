"""The acceptance cases, each through the real program. `data/` names the public report behind each."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path
from typing import Any

import pytest
from cases.expectations import call_problems, definition_problems, text_problems
from rawclient import RawClient, text_of

from autotool.schema import naming

DATA = Path(__file__).parent / "data"
NAME = re.compile(r"^[A-Za-z][A-Za-z0-9_-]{0,63}$")


def cases(*types: str) -> list[Any]:
    found = [case for path in sorted(DATA.glob("*.json")) for case in json.loads(path.read_text())]
    return [pytest.param(case, id=case["id"]) for case in found if case["input"]["type"] in types]


def test_every_case_is_driven_by_a_test() -> None:
    driven = (
        len(cases("python"))
        + len(cases("module"))
        + len(cases("modules"))
        + len(cases("names"))
        + len(cases("wire"))
        + len(cases("policy"))
        + len(cases("exec"))
        + len(cases("help"))
        + len(cases("cli"))
    )
    assert driven == sum(len(json.loads(path.read_text())) for path in DATA.glob("*.json"))


def written(case: dict[str, Any], folder: Path) -> str:
    """Write the case's module, and give the target that names what it exposes."""
    path = folder / f"case_{case['id'].replace('-', '_')}.py"
    code, target = case["input"]["code"], case["input"].get("target", "")
    if "(" in target:
        name = target.rpartition(".")[2]
        code += f"\n{name} = {target}\n"
        target = name
    path.write_text(code, encoding="utf-8")
    return f"{path}:{target}" if target else str(path)


@pytest.mark.parametrize("case", cases("python"))
def test_function(case: dict[str, Any], tmp_path: Path) -> None:
    expect = case["expect"]
    target = written(case, tmp_path)
    with RawClient(target) as client:
        if expect["register"] == "reject":
            assert client.wait(15) == 2
            assert (
                text_problems(
                    client.stderr, {"contains": expect["reject_mentions"], "not_contains": ["Traceback"]}, "refusal"
                )
                == []
            )
            return
        (tool,) = client.tools()
        problems = definition_problems(tool, expect)
        for want in expect.get("calls", ()):
            answer = client.call(tool["name"], want["args"])
            problems += [f"{want['args']}: {problem}" for problem in call_problems(answer, want)]
        problems += [
            f"not warned of {word!r}: {client.stderr!r}" for word in expect.get("warn", ()) if not client.says(word)
        ]
        assert problems == []
        assert client.junk == []


@pytest.mark.parametrize("case", cases("module", "modules"))
def test_module(case: dict[str, Any], tmp_path: Path) -> None:
    expect = case["expect"]
    if case["input"]["type"] == "modules":
        targets = []
        for name, code in case["input"]["modules"].items():
            (tmp_path / f"{name}.py").write_text(code, encoding="utf-8")
            targets.append(f"./{name}.py")
    else:
        targets = [written(case, tmp_path)]
    with RawClient(*targets, cwd=tmp_path) as client:
        tools = {tool["name"]: tool for tool in client.tools()}
        problems: list[str] = []
        for name, rules in expect.get("tools", {}).items():
            problems += definition_problems(tools[name], rules) if name in tools else [f"{name} is not served"]
        problems += [
            f"{name} is served" for name in [*expect.get("absent", ()), *expect.get("skipped", ())] if name in tools
        ]
        if "count" in expect and len(tools) != expect["count"]:
            problems.append(f"{len(tools)} tools")
        problems += [f"name {name!r}" for name in tools if not NAME.match(name)]
        for name in expect.get("uncallable", ()):
            answer = client.call(name, {})
            if answer.get("error", {}).get("code") != -32602:
                problems.append(f"{name} can be called: {answer}")
        for want in expect.get("calls", ()):
            (name,) = [
                name
                for name, tool in tools.items()
                if want["module"] in tool["description"] or name.startswith(want["module"])
            ]
            problems += call_problems(client.call(name, want["args"]), want)
        hints = {name: tools[name]["annotations"] for name in expect.get("annotations", {})}
        for name, wanted in expect.get("annotations", {}).items():
            problems += [
                f"{name}: {hint} is {hints[name][hint]}"
                for hint, value in wanted.items()
                if hints[name][hint] is not value
            ]
        problems += [
            f"not warned of {word!r}: {client.stderr!r}" for word in expect.get("warn", ()) if not client.says(word)
        ]
        assert problems == []
    if expect.get("stable"):
        with RawClient(*targets, cwd=tmp_path) as again:
            assert [tool["name"] for tool in again.tools()] == list(tools)


@pytest.mark.parametrize("case", cases("names"))
def test_names(case: dict[str, Any]) -> None:
    given = case["input"].get("given") or ["_".join(command) for command in case["input"]["commands"]]
    wanted = [(name, f"m{place}", f"m{place}:{name}") for place, name in enumerate(given)]
    names, _ = naming.assign(wanted)
    again, _ = naming.assign(wanted[::-1])
    assert [name for name in names if not NAME.match(name)] == []
    assert len(set(names)) == len(names)
    assert sorted(again) == sorted(names)
    assert {name: got for name, got in zip(given, names, strict=True) if name in case["expect"].get("map", {})} == case[
        "expect"
    ].get("map", {})


@pytest.mark.parametrize("case", cases("wire"))
def test_wire(case: dict[str, Any], tmp_path: Path) -> None:
    settings = case["input"].get("settings", {})
    options = ["--timeout", f"{settings['timeout_s']}s"] if "timeout_s" in settings else []
    with RawClient(written(case, tmp_path), *options, legacy=True) as client:
        saved: dict[str, str] = {}
        tags: dict[str, int] = {}
        for step in case["input"]["steps"]:
            assert wire_problems(client, step, saved, tags) == []
        assert client.junk == []


@pytest.mark.parametrize(
    "case", [case for case in cases("policy") if "rate" in case.values[0]["input"].get("config", {})]
)
def test_rate_limit(case: dict[str, Any], tmp_path: Path) -> None:
    expect, rate = case["expect"], case["input"]["config"]["rate"]
    (tmp_path / "one.py").write_text("def one() -> int:\n    'One.'\n    return 1\n")
    (tmp_path / "autotool.toml").write_text(
        f'targets = ["./one.py"]\n[defaults]\nrate_limit = "{rate["calls"]}/{rate["per_s"]} second"\n'
    )
    with RawClient(cwd=tmp_path) as client:
        results = [client.call("one")["result"] for _ in range(240)]
    refused = [result for result in results if result["isError"]]
    assert len(results) - len(refused) <= expect["admitted_first_60_s_max"]
    assert [result["isError"] for result in results[:10]] == [False] * 10
    assert [word for word in expect["refusal"]["mentions"] if word not in text_of(refused[0]).lower()] == []


def wire_problems(client: RawClient, step: dict[str, Any], saved: dict[str, str], tags: dict[str, int]) -> list[str]:
    expect, within_s = step.get("expect", {}), step.get("within_s", 5)
    if "pause_s" in step:
        client.answer(object(), step["pause_s"])
        return []
    if "cancel" in step:
        client.send(
            {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": tags[step["cancel"]]}}
        )
        return [] if client.answer(tags[step["cancel"]], within_s) is None else ["the cancelled call was answered"]
    if "close_stdin" in step:
        client.close_input()
        return [] if client.wait(within_s) == 0 else ["it goes on"]
    if "parallel" in step:
        return parallel_problems(client, step["parallel"], expect, within_s)
    if "send" in step:
        client.send(step["send"])
        answer = client.next_message(within_s)
        return ["no answer"] if answer is None else answer_problems(answer, expect, saved)
    name, arguments = step["call"]
    params = {"name": name} if arguments == "omit" else {"name": name, "arguments": arguments}
    request_id = client.start("tools/call", **params)
    if "tag" in step:
        tags[step["tag"]] = request_id
    if not expect:
        return []
    answer = client.answer(request_id, within_s)
    return ["no answer"] if answer is None else answer_problems(answer, expect, saved)


def answer_problems(answer: dict[str, Any], expect: dict[str, Any], saved: dict[str, str]) -> list[str]:
    error, result = answer.get("error"), answer.get("result")
    text = error["message"] if error else text_of(result)
    problems = [f"text lacks {part!r}: {text!r}" for part in expect.get("text_contains", ()) if part not in text]
    if "text" in expect and text != expect["text"]:
        problems.append(f"text {text!r}")
    if "error_code" in expect and (error or {}).get("code") != expect["error_code"]:
        problems.append(f"answer {answer}")
    if "is_error" in expect and bool((result or {}).get("isError")) is not expect["is_error"]:
        problems.append(f"answer {answer}")
    if expect.get("failed") and not (error or result["isError"]):
        problems.append(f"answer {answer}")
    if "save" in expect:
        saved[expect["save"]] = text
    if "same_as" in expect and saved[expect["same_as"]] != text:
        problems.append(f"{text!r} is not {saved[expect['same_as']]!r}")
    return problems


def parallel_problems(client: RawClient, calls: list[Any], expect: dict[str, Any], within_s: float) -> list[str]:
    began = time.monotonic()
    ids = [
        client.start("ping") if name == "ping" else client.start("tools/call", name=name, arguments=arguments)
        for name, arguments in calls
    ]
    problems: list[str] = []
    values: list[Any] = []
    if "last_within_s" in expect:
        # The catalogue's bound for an otherwise idle server; the machine's own speed is not measured here.
        last = client.timed_answer(ids.pop(), within_s)
        if last is None or last[0] - began > expect["last_within_s"]:
            problems.append(f"the last came after {last and last[0] - began} s")
    if "all_within_s" in expect or "values_set" in expect:
        for request_id in ids:
            answer = client.timed_answer(request_id, within_s)
            if answer is None or ("all_within_s" in expect and answer[0] - began > expect["all_within_s"]):
                problems.append(f"{request_id} came after {answer and answer[0] - began} s")
            elif "values_set" in expect:
                values.append(int(text_of(answer[1]["result"])))
    if "values_set" in expect and sorted(values) != expect["values_set"]:
        problems.append(f"values {sorted(values)}")
    return problems
