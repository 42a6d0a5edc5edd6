"""`list`, `show`, `call` and `serve` as a person uses them."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
from rawclient import RawClient, text_of

from autotool.cli.quick import read_serve


def autotool(*words: str, stdin: str = "", cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "autotool", *words],
        cwd=cwd,
        capture_output=True,
        text=True,
        input=stdin,
        timeout=60,
        check=False,
    )


def test_list_prints_exactly_the_result_that_clients_get(tmp_path: Path) -> None:
    printed = json.loads(autotool("list", "textwrap", "--json", cwd=tmp_path).stdout)
    with RawClient("textwrap", cwd=tmp_path) as client:
        result = client.request("tools/list")["result"]
    assert printed == result


def test_show_tells_where_types_and_hints_come_from(tmp_path: Path) -> None:
    shown = autotool("show", "statistics", "quantiles", cwd=tmp_path).stdout
    for part in ("typeshed", "readOnlyHint", "statistics.py:", '"exclusive"', "Divide *data* into *n*"):
        assert part in shown


@pytest.mark.parametrize(
    ("words", "code", "out", "err"),
    [
        (["statistics", "mean", "data=[1, 2, 3, 4]"], 0, "2.5\n", ""),
        (["statistics", "mean", "--json-args", '{"data": [1, 2]}'], 0, "1.5\n", ""),
        (["statistics", "mean", "--json-args", "-"], 0, "3.0\n", ""),
        (["statistics", "linear_regression", "x=[1, 2]", "y=[2, 4]", "--json"], 0, '"slope": 2.0', ""),
        (["statistics", "mean", "data=[]"], 1, "", "StatisticsError"),
        (["statistics", "mean", "dta=[1]"], 1, "", "`data`"),
        (["statistics", "meen", "data=[1]"], 2, "", "`mean`"),
        (["statistics", "mean", "data"], 2, "", "NAME=VALUE"),
        (["statistics", "mean", "--json-args", "[1]"], 2, "", "JSON object"),
        (["statistics", "mean", "--json-args", "{"], 2, "", "--json-args"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_call(words: list[str], code: int, out: str, err: str, tmp_path: Path) -> None:
    finished = autotool("call", *words, stdin='{"data": [3]}', cwd=tmp_path)
    assert finished.returncode == code, finished.stderr
    assert out in finished.stdout
    assert err in finished.stderr
    assert "Traceback" not in finished.stderr


def test_what_a_module_prints_does_not_reach_the_output(tmp_path: Path) -> None:
    (tmp_path / "loud.py").write_text(
        "print('imported')\ndef f() -> int:\n    'One.'\n    print('called')\n    return 1\n"
    )
    assert autotool("call", "./loud.py", "f", cwd=tmp_path).stdout == "1\n"
    assert json.loads(autotool("list", "./loud.py", "--json", cwd=tmp_path).stdout)["tools"][0]["name"] == "f"


def test_version_and_help() -> None:
    assert autotool("--version").stdout.startswith("autotool 0.")
    assert "serve" in autotool("--help").stdout
    assert autotool("serv").returncode == 2


def test_input_without_a_client_is_explained(tmp_path: Path) -> None:
    finished = autotool("serve", "textwrap", cwd=tmp_path)
    assert (finished.returncode, finished.stdout) == (0, "")
    assert "no client had spoken" in finished.stderr
    assert "--http" in finished.stderr


def test_serve_with_nothing_named_says_what_to_name(tmp_path: Path) -> None:
    finished = autotool("serve", cwd=tmp_path)
    assert finished.returncode == 2
    assert "autotool serve statistics" in finished.stderr


def test_a_port_in_use_is_one_line(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        finished = autotool("serve", "textwrap", "--port", str(taken.getsockname()[1]), cwd=tmp_path)
    assert finished.returncode == 2
    assert "is in use" in finished.stderr
    assert "--port" in finished.stderr
    assert "Traceback" not in finished.stderr


@pytest.mark.parametrize(
    ("toml", "said"),
    [
        ("[server]\nprot = 1\n", ["line 2", "no key `server.prot`", "`port`"]),
        ("[server]\nport = 70000\n", ["line 2", "`server.port`", "65535"]),
        ('[defaults]\ntimeout = "5 parsecs"\n', ["line 2", "`defaults.timeout`", "'30s'"]),
        ('targets = ["textwrap"]\n[tools]\nallow = ["wrapp"]\n', ["`tools.allow` names `wrapp`", "`wrap`"]),
        ('targets = ["textwrap"]\n[tool.wrapp]\ntitle = "x"\n', ["`[tool.wrapp]`", "`wrap`"]),
        ("[server\n", ["not valid TOML"]),
    ],
)
def test_a_wrong_setting_names_file_line_and_key(toml: str, said: list[str], tmp_path: Path) -> None:
    (tmp_path / "autotool.toml").write_text(toml)
    finished = autotool("list", *([] if "targets" in toml else ["textwrap"]), cwd=tmp_path)
    assert finished.returncode == 2
    assert [part for part in said if part not in finished.stderr] == [], finished.stderr


def test_what_is_not_allowed_is_neither_listed_nor_callable(tmp_path: Path) -> None:
    (tmp_path / "autotool.toml").write_text(
        'targets = ["textwrap"]\n[tools]\nallow = ["wrap", "d*"]\ndeny = ["dedent"]\n'
    )
    with RawClient(cwd=tmp_path) as client:
        assert [tool["name"] for tool in client.tools()] == ["wrap"]
        refused = client.call("dedent", {"text": "x"})
        unknown = client.call("no_such", {})
        assert refused["error"]["code"] == unknown["error"]["code"] == -32602


def children_of(pid: int) -> list[psutil.Process]:
    return psutil.Process(pid).children(recursive=True)


def gone(processes: list[psutil.Process], within_s: float) -> bool:
    _, alive = psutil.wait_procs(processes, timeout=within_s)
    return not [process for process in alive if process.status() != psutil.STATUS_ZOMBIE]


@pytest.mark.parametrize("code", ["import time; time.sleep(600)", "import ctypes; ctypes.PyDLL(None).sleep(600)"])
def test_no_worker_outlives_a_server_that_was_killed(code: str, tmp_path: Path) -> None:
    (tmp_path / "stuck.py").write_text(f"def stuck() -> None:\n    'Hang.'\n    {code}\n")
    with RawClient("./stuck.py", cwd=tmp_path) as client:
        client.tools()
        client.start("tools/call", name="stuck", arguments={})
        client.answer(object(), 0.3)
        workers = children_of(client.process.pid)
        assert workers
        client.process.send_signal(signal.SIGKILL)
        assert gone(workers, 3)


def test_the_end_of_input_ends_everything(tmp_path: Path) -> None:
    (tmp_path / "quick.py").write_text(
        "import time\ndef nap() -> str:\n    'Nap.'\n    time.sleep(0.5)\n    return 'done'\n"
    )
    with RawClient("./quick.py", cwd=tmp_path) as client:
        client.tools()
        workers = children_of(client.process.pid)
        request = client.start("tools/call", name="nap", arguments={})
        client.close_input()
        answer = client.answer(request, 5)
        assert answer is not None
        assert text_of(answer["result"]) == "done"
        assert client.wait(5) == 0
        assert gone(workers, 2)


def test_a_signal_ends_a_server_on_stdio_with_success(tmp_path: Path) -> None:
    with RawClient("textwrap", cwd=tmp_path) as client:
        client.tools()
        client.process.send_signal(signal.SIGTERM)
        assert client.wait(6) == 0


def test_deaths_and_calls_leave_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "deadly.py").write_text(
        "import os\ndef die() -> None:\n    'Die.'\n    os._exit(1)\ndef ok() -> int:\n    'One.'\n    return 1\n"
    )
    with RawClient("./deadly.py", cwd=tmp_path) as client:
        front = psutil.Process(client.process.pid)

        def held() -> tuple[int, int, int]:
            return front.num_fds(), front.num_threads(), len(children_of(front.pid))

        def round_of_calls() -> None:
            for _ in range(10):
                assert client.call("die")["result"]["isError"]
                assert not client.call("ok")["result"]["isError"]

        round_of_calls()
        client.answer(object(), 1)
        before = held()
        round_of_calls()
        # Threads that write a log line and processes that have just died take a moment to go.
        deadline = time.monotonic() + 5
        while any(now > then for now, then in zip(held(), before, strict=True)) and time.monotonic() < deadline:
            client.answer(object(), 0.05)
        assert [now > then for now, then in zip(held(), before, strict=True)] == [False] * 3


@pytest.mark.parametrize(
    ("words", "flags"),
    [
        (["statistics"], {"targets": ["statistics"]}),
        (["a", "b", "--stdio"], {"targets": ["a", "b"], "stdio": True}),
        (["a", "--port", "0", "--host=::1", "--include", "x*", "--include", "y"], {"targets": ["a"], "port": 0, "host": "::1", "include": ["x*", "y"]}),
        (["a", "--http", "--recursive", "--debug", "--inline", "--timeout", "5s", "--config", "c.toml", "--uds", "/s"],
         {"targets": ["a"], "http": True, "recursive": True, "debug": True, "inline": True, "timeout": "5s", "config": "c.toml", "uds": "/s"}),
        (["a", "--prt", "1"], None),
        (["a", "--port", "x"], None),
        (["a", "--port", "70000"], None),
        (["a", "--port"], None),
        (["--help"], None),
    ],
)  # fmt: skip
def test_the_short_way_in_reads_as_typer_does(
    words: list[str], flags: dict[str, object] | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = read_serve(words)
    if flags is None:
        assert read is None
        return
    assert read is not None
    from typer.testing import CliRunner

    import autotool.cli.serve
    from autotool.cli import app, plans

    seen: list[object] = []
    monkeypatch.setattr(autotool.cli.serve, "run", lambda make, *, stdio, http: (make(), seen.append((stdio, http))))
    monkeypatch.setattr(plans, "plan_for", seen.append)
    result = CliRunner().invoke(app.app, ["serve", *words])
    assert result.exit_code == 0, result.output
    assert seen == [read[0], (read[1], read[2])]
    given = {name: value for name, value in vars_of(read).items() if value is not None and value is not False}
    assert given == flags


def vars_of(read: tuple[object, bool, bool]) -> dict[str, object]:
    names = read[0].__slots__  # type: ignore[attr-defined]
    return {**{name: getattr(read[0], name) for name in names}, "stdio": read[1], "http": read[2]}


def test_environment_variables_of_the_server_do_not_reach_the_code(tmp_path: Path) -> None:
    (tmp_path / "env.py").write_text(
        "import os\ndef env() -> list[str]:\n    'Names.'\n    return sorted(os.environ)\n"
    )
    with RawClient("./env.py", cwd=tmp_path, env={"AUTOTOOL_SERVER_NAME": "acme", "PERSONS_OWN": "x"}) as client:
        seen = client.call("env")["result"]["structuredContent"]
    assert "PERSONS_OWN" in seen
    assert [name for name in seen if name.startswith("AUTOTOOL_")] == []
    assert os.environ.get("AUTOTOOL_SERVER_NAME") is None
