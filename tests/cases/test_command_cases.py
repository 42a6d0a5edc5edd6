"""The acceptance cases of commands, each through the real program and real processes."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import psutil
import pytest
from cases.test_cases import cases
from rawclient import RawClient, text_of

from autotool.commands.guard import Guard
from autotool.commands.template import parse
from autotool.config import ParameterSection
from autotool.errors import ArgumentError


def config_text(case: dict[str, Any]) -> str:
    """The `[command.case]` block of a case of type `exec`."""
    given, settings = case["input"], case["input"].get("settings", {})
    words = [word.replace("{", "{{").replace("}", "}}") for word in given["argv"]]
    lines = ["[command.case]"]
    if "param_list" in given:
        words.append(f"{{{given['param_list']}...}}")
    words += [f"{{{parameter['name']}}}" for parameter in given.get("params", ())]
    lines.append(f"run = {json.dumps(words, ensure_ascii=False)}")
    if words[0] == "sh":
        lines.append('allow_dangerous = ["-c"]')
    if "timeout_s" in settings:
        lines.append(f'timeout = "{settings["timeout_s"]}s"')
    if "max_output_bytes" in settings:
        lines.append(f"max_output = {settings['max_output_bytes']}")
    if "ok_exit_codes" in settings:
        lines.append(f"success_codes = {settings['ok_exit_codes']}")
    return "\n".join(lines) + "\n"


def outcome_problems(result: dict[str, Any], expect: dict[str, Any]) -> list[str]:
    text = text_of(result)
    problems: list[str] = []
    wanted_error = expect.get("is_error", expect.get("each_is_error"))
    if wanted_error is not None and result["isError"] is not wanted_error:
        problems.append(f"isError is {result['isError']}")
    for alternatives in [*expect.get("text_contains", ()), *expect.get("mentions", ())]:
        if not any(part in text for part in alternatives.split("|")):
            problems.append(f"text lacks {alternatives!r}")
    problems += [f"text has {part!r}" for part in expect.get("text_lacks", ()) if part in text]
    if "text" in expect and text != expect["text"]:
        problems.append("text differs")
    if "text_in" in expect and text not in expect["text_in"]:
        problems.append("text is none of those expected")
    if len(text) > expect.get("text_max", len(text)):
        problems.append(f"text has {len(text)} characters")
    if expect.get("text_nonempty") and not text.strip():
        problems.append("text is empty")
    return [f"{problem}: {text[:300]!r}" for problem in problems]


def survivors(command_line: str) -> list[int]:
    """Processes whose command line ends like this one, a second after they should have ended."""
    for _ in range(30):
        found = [
            process.pid
            for process in psutil.process_iter(["cmdline"])
            if " ".join(process.info["cmdline"] or ()).endswith(command_line)
        ]
        if not found:
            return []
        time.sleep(0.1)
    return found


@pytest.mark.parametrize("case", [one for one in cases("exec") if one.values[0]["kind"] in ("subprocess", "security")])
def test_exec(case: dict[str, Any], tmp_path: Path) -> None:
    expect, given = case["expect"], case["input"]
    (tmp_path / "autotool.toml").write_text(config_text(case), encoding="utf-8")
    calls: list[Any] = given.get("calls", [{}])
    problems: list[str] = []
    with RawClient(cwd=tmp_path, env=given.get("server_env")) as client:
        for values in calls:
            arguments = {given["param_list"]: expanded(values)} if "param_list" in given else values
            started = time.monotonic()
            answer = client.call("case", arguments)
            took = time.monotonic() - started
            if "error" in answer and values == ["\ud800"]:
                # Half of a surrogate pair makes the message itself invalid: it is refused before a tool is looked for.
                assert answer["error"]["code"] == -32700
                continue
            problems += outcome_problems(answer["result"], expect)
            if took > expect.get("seconds_max", took):
                problems.append(f"it took {took:.1f} s")
        if "rss_mb_max" in expect:
            grown = psutil.Process(client.process.pid).memory_info().rss / 1e6
            assert grown <= expect["rss_mb_max"]
        if "survivors" in expect:
            assert survivors(expect["survivors"]) == []
    assert problems == []


def expanded(values: list[str]) -> list[str]:
    return ["x" * 200_000 if value == "REPEATED x 200000" else value for value in values]


def test_the_words_of_an_operand_follow_the_end_of_options() -> None:
    (case,) = [one.values[0] for one in cases("exec") if one.id == "sec-03"]
    template = parse(("{file}",), {"file": ParameterSection()}, "command.case")
    guard = Guard("/bin/cat", ("cat",), "--")
    written = [["cat", *guard.argv(template.pieces(values), template)] for values in case["input"]["calls"]]
    assert written == case["expect"]["argv"]


def test_only_the_allowed_programs_run(tmp_path: Path) -> None:
    (case,) = [one.values[0] for one in cases("policy") if one.id == "sec-02"]
    assert case["expect"]["all_refused_or_literal"]
    (tmp_path / "autotool.toml").write_text(
        "".join(f'[command.{name}]\nrun = ["{name}", "{{value}}"]\n' for name in case["input"]["config"]["allow"])
    )
    with RawClient(cwd=tmp_path) as client:
        for request in case["input"]["requests"]:
            assert client.call(request, {"value": "x"})["error"]["code"] == -32602
            assert text_of(client.call("echo", {"value": request})["result"]) == f"{request}\n"


def test_paths_stay_in_their_folder(tmp_path: Path) -> None:
    (case,) = [one.values[0] for one in cases("policy") if one.id == "sec-06"]
    root, secret = tmp_path / "share", tmp_path / "share-secret"
    root.mkdir()
    secret.mkdir()
    for name, content in case["input"]["tree"].items():
        path = Path(name.replace("ROOT", str(root)))
        if content.startswith("-> "):
            path.symlink_to(content.removeprefix("-> ").replace("ROOT", root.name))
        else:
            path.write_text(content)
    (tmp_path / "autotool.toml").write_text(
        f'[command.where]\nrun = ["printf", "%s", "{{p}}"]\nparams.p = {{ type = "path", within = "{root}" }}\n'
    )
    with RawClient(cwd=tmp_path) as client:
        results = [
            client.call("where", {"p": request.replace("ROOT", str(root))})["result"]
            for request in case["input"]["requests"]
        ]
    expect = case["expect"]
    assert [place for place, result in enumerate(results) if result["isError"]] == expect["refused"]
    for place in expect["allowed"]:
        assert Path(text_of(results[place])).is_relative_to(root)
    for place in expect["literal"]:
        assert text_of(results[place]) == str(root / case["input"]["requests"][place])


def test_batch_files_get_no_words_that_cmd_would_read_again() -> None:
    (case,) = [one.values[0] for one in cases("policy") if one.id == "sub-19"]
    template = parse(("{words...}",), {"words": ParameterSection(type="array")}, "command.npm")
    guard = Guard(case["input"]["resolved"], ("npm",))
    for place, request in enumerate(case["input"]["requests"]):
        pieces = template.pieces({"words": request})
        if place in case["expect"]["allowed"]:
            assert guard.argv(pieces, template) == request
            continue
        with pytest.raises(ArgumentError) as caught:
            guard.argv(pieces, template)
        assert [word for word in case["expect"]["mentions"] if word not in str(caught.value)] == []
