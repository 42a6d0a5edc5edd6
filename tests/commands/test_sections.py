"""`[command.*]` and `[program.*]` sections: what they refuse, what they offer, and what `init` writes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from rawclient import RawClient, text_of

from autotool.commands.dangers import baked, dangerous_word, reason


def listed(folder: Path, toml: str) -> subprocess.CompletedProcess[str]:
    (folder / "autotool.toml").write_text(toml)
    command = [sys.executable, "-m", "autotool", "list", "--json"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=60)


@pytest.mark.parametrize(
    ("toml", "said"),
    [
        ('run = "ls -l"', 'Write the words as a list: run = ["ls", "-l"]'),
        ("run = []", "`run` names no program"),
        ('run = ["{tool}", "x"]', "a caller could run anything"),
        ('run = ["ls", "{a}"]\nparams.b = {}', "params.b is never used"),
        ('run = ["ls", "{a...}"]\nparams.a = {}', "`{a...}` expands an array, and `a` is of type string"),
        ('run = ["ls", "x{a...}"]', "must be a word of its own"),
        ('run = ["ls", "{a}"]\nparams.a = { type = "enum" }', "an enum needs its values"),
        ('run = ["ls", "{a}"]\nparams.a = { choices = ["x"] }', 'Write `type = "enum"`'),
        ('run = ["ls", "{a}"]\nparams.a = { minimum = 1 }', "`minimum` does not bound a value of type string"),
        ('run = ["ls", "{a}"]\nparams.a = { within = "/srv" }', "`within` and `must_exist` belong to a path"),
        ('run = ["ls", "{a}"]\nparams.a = { flag = "-a" }', 'An option with a value is written in `run`: "-a={a}"'),
        ('run = ["ls", "{a}"]\nparams.a = { type = "integer", default = "x" }', "its default 'x' is refused"),
        ('run = ["ls", "{a}"]\nparams.a = { type = "integer", maximum = 3, default = 9 }', "its default 9 is refused"),
        ('run = ["ls", "{a}"]\nparams.a = { type = "int" }', "it must be 'string', 'integer'"),
        ('run = ["ls", "{a}"]\nparams.a = { typ = "path" }', "Did you mean `type`?"),
        ('run = ["ls", "{a}"]\nparams."a b" = {}', "is letters, digits and `_`"),
        ('run = ["ls", 3]', "`command.x.run.1`: it must be a valid string, not 3"),
        ('ran = ["ls"]', "Did you mean `run`?"),
        ('run = ["ls"]\nenv.A = { variable = "NOT_SET_ANYWHERE" }', "the variable NOT_SET_ANYWHERE is not set"),
        ('run = ["ls"]\nenv.A = { file = "/nonexistent" }', "/nonexistent cannot be read"),
        ('shell = true\nrun = ["ls"]', "`run` is the script as one text"),
        ('shell = true\nrun = "grep {word} f"', "would be read by the shell as commands"),
        ('shell = true\nrun = "grep $WORD f"\nenv.WORD = "{word}"', 'Write "$WORD"'),
        ('run = ["tar", "-I", "{x}", "-cf", "a.tar", "b"]', "`-I` in `run`: it runs another program"),
        ('run = ["tar", "-I", "{x}"]\nread_only = true\nallow_dangerous = ["-I"]', "it cannot be called harmless"),
        ('run = ["git", "-c", "{x}", "log"]', "`-c` in `run`: it loads code or settings"),
        ('run = ["find", ".", "-exec", "{x}", ";"]', "`-exec` in `run`"),
        ('run = ["sort", "--output={x}"]', "`--output` in `run`: it writes to a file"),
        ('run = ["curl", "-o{x}", "http://h"]', "`-o` in `run`"),
        ('run = ["ssh", "-oProxyCommand={x}", "h"]', "`-o` in `run`"),
        ('run = ["rsync", "-e", "{x}", "a", "b"]', "`-e` in `run`"),
        ('run = ["sh", "-c", "{x}"]', "`-c` in `run`"),
        ('run = ["awk", "{x}"]', "`awk` in `run`: its value is a program of its own"),
        ('run = ["xargs", "{x}"]', "it runs the program that its operands name"),
        ('run = ["rm", "{x}"]\nread_only = true', "it cannot be called harmless: `rm`: it deletes files"),
        ('run = ["find", ".", "-delete"]\nread_only = true', "it cannot be called harmless: `-delete`"),
        ('run = ["./own", "--exec={x}"]', "`--exec` in `run`: it runs another program"),
    ],
)
def test_a_section_that_cannot_be_is_one_clear_line(tmp_path: Path, toml: str, said: str) -> None:
    finished = listed(tmp_path, f"[command.x]\n{toml}\n")
    assert finished.returncode == 2
    assert said in finished.stderr
    assert "Traceback" not in finished.stderr
    assert finished.stdout == ""


@pytest.mark.parametrize(
    "argv",
    [
        ["git", "log", "-n", "{n}"],
        ["tar", "-I", "zstd", "-cf", "{file}"],
        ["sh", "-c", "ls | wc -l"],
        ["grep", "-e", "{pattern}"],
        ["docker", "ps", "--format", "{f}"],
        ["./own", "--output-format={x}"],
        ["./own", "--no-pager", "{x}"],
        ["nice", "ls", "{x}"],
        ["curl", "--", "{x}"],
    ],
)
def test_an_honest_command_line_is_not_suspected(argv: list[str]) -> None:
    assert baked(argv) is None


@pytest.mark.parametrize(
    ("program", "flags", "said", "metavar", "dangerous"),
    [
        ("git", ["--upload-pack"], "", "<exec>", True),
        ("git", ["--oneline"], "", "", False),
        ("tool", ["--exec"], "run this", "CMD", True),
        ("tool", ["-o", "--output"], "write to FILE", "FILE", True),
        ("tool", ["--output"], "output format", "{json,text}", False),
        ("tool", ["--output-format"], "how to write", "FORMAT", False),
        ("tool", ["--no-pager"], "no pager", "", False),
        ("tool", ["--config"], "settings", "FILE", True),
        ("tool", ["--log-file"], "", "FILE", True),
        ("tool", ["--filter"], "run each line through COMMAND", "COMMAND", True),
        ("tool", ["--name"], "the name", "NAME", False),
        ("tool", ["--verbose"], "say more", "", False),
        ("tool", ["--shell"], "the shell to complete for", "{bash,zsh}", True),
    ],
)
def test_options_are_judged(program: str, flags: list[str], said: str, metavar: str, dangerous: bool) -> None:
    assert bool(reason(program, [], flags, said, metavar)) is dangerous


@pytest.mark.parametrize(
    ("program", "word"),
    [
        ("git", "--upload-pa=x"),
        ("git", "--upload-pack=x"),
        ("git", "--output=/x"),
        ("ssh", "-oProxyCommand=x"),
        ("curl", "-K/x"),
        ("curl", "-sofile"),
        ("tar", "--checkpoint-action=exec=x"),
        ("tar", "--to-com=x"),
        ("sort", "-ofile"),
        ("rsync", "-e"),
        ("unknown-tool", "--exec=x"),
    ],
)
def test_a_free_word_that_is_a_dangerous_option_is_found(program: str, word: str) -> None:
    assert dangerous_word(program, [], word) is not None


@pytest.fixture
def tool(tmp_path: Path) -> Path:
    path = tmp_path / "tool.sh"
    path.write_text(
        "#!/bin/sh\nif [ \"$1\" = --help ]; then cat <<'EOF'\nUsage: tool.sh [OPTIONS] FILE...\nDo things with files.\n\n"
        "Options:\n  -n, --count N        how many times to do it. And a second sentence that is longer than the first.\n"
        "  -q, --quiet          say nothing\n      --exec COMMAND   run COMMAND on each\n  -v, --verbose        say more\n"
        'EOF\nelse for a in "$@"; do printf \'[%s]\' "$a"; done; fi\n'
    )
    path.chmod(0o755)
    return tmp_path


def offered(client: RawClient, name: str) -> list[str]:
    (found,) = [one for one in client.tools() if one["name"] == name]
    return list(found["inputSchema"]["properties"])


def test_a_program_offers_its_safe_options_and_says_what_it_leaves_out(tool: Path) -> None:
    with RawClient("--command", "./tool.sh", cwd=tool) as client:
        (found,) = client.tools()
        assert found["name"] == "tool"
        assert found["description"] == "Do things with files."
        assert list(found["inputSchema"]["properties"]) == ["count", "quiet", "verbose", "file"]
        assert client.says("--exec (it runs another program)")
        result = client.call("tool", {"count": 3, "quiet": True, "file": ["a b", "c"]})["result"]
        assert text_of(result) == "[--count][3][--quiet][a b][c]"
        refused = client.call("tool", {"file": ["-rf"]})["result"]
        assert refused["isError"]
        assert "would take it for an option" in text_of(refused)


def test_a_section_chooses_the_options(tool: Path) -> None:
    base = '[program.t]\nrun = ["./tool.sh"]\n'
    for lines, wanted in [
        ('only = ["--quiet"]', ["quiet", "file"]),
        ('without = ["-q", "count"]', ["verbose", "file"]),
        ('allow_dangerous = ["--exec"]', ["count", "quiet", "exec", "verbose", "file"]),
        ('only = ["--exec"]', ["exec", "file"]),
    ]:
        (tool / "autotool.toml").write_text(f"{base}{lines}\n")
        with RawClient(cwd=tool) as client:
            assert offered(client, "t") == wanted
            (found,) = client.tools()
            assert found["annotations"]["destructiveHint"] is True
    (tool / "autotool.toml").write_text(f'{base}only = ["--quite"]\n')
    with RawClient(cwd=tool) as client:
        client.tools()
        assert client.says("its help has no option --quite")


@pytest.mark.parametrize("budget", ["180", "400", "2kB"])
def test_the_budget_bounds_the_schema(tool: Path, budget: str) -> None:
    with RawClient("--command", "./tool.sh", "--budget", budget, cwd=tool) as client:
        (found,) = client.tools()
        size = len(json.dumps(found["inputSchema"], separators=(",", ":")))
        assert size <= (2000 if budget == "2kB" else int(budget))
        assert "file" in found["inputSchema"]["properties"]
        if budget == "180":
            assert client.says("options are left out")


def test_a_missing_program_is_told_and_the_rest_is_served(tmp_path: Path) -> None:
    (tmp_path / "autotool.toml").write_text(
        '[program.none]\nrun = ["no-such-program"]\n[command.fine]\nrun = ["echo", "fine"]\n'
    )
    with RawClient(cwd=tmp_path) as client:
        assert [one["name"] for one in client.tools()] == ["fine"]
        assert client.says("`no-such-program` was not found")
    with RawClient("--command", "no-such-program", cwd=tmp_path) as client:
        assert client.wait(20) == 2
        assert "`no-such-program` was not found on the server's PATH" in client.stderr


def test_init_writes_what_is_served(tool: Path) -> None:
    command = [sys.executable, "-m", "autotool", "init", "--command", "./tool.sh"]
    first = subprocess.run(command, cwd=tool, capture_output=True, text=True, check=False)
    assert first.returncode == 0, first.stderr
    written = tomllib.loads((tool / "autotool.toml").read_text())
    assert written["command"]["tool"]["run"] == [
        "./tool.sh",
        ["--count", "{count}"],
        "{quiet}",
        "{verbose}",
        "{file...}",
    ]
    again = subprocess.run(command, cwd=tool, capture_output=True, text=True, check=False)
    assert again.returncode == 2
    assert "already has [command.tool]" in again.stderr
    with RawClient(cwd=tool) as pinned, RawClient("--command", "./tool.sh", cwd=tool) as asked:
        (one,), (other,) = pinned.tools(), asked.tools()
        assert one == other
        arguments: dict[str, Any] = {"count": 2, "verbose": True, "file": ["x"]}
        assert text_of(pinned.call("tool", arguments)["result"]) == text_of(asked.call("tool", arguments)["result"])


def test_init_keeps_what_a_file_has(tool: Path) -> None:
    (tool / "autotool.toml").write_text("# mine\n[server]\nname = 'mine'\n")
    command = [sys.executable, "-m", "autotool", "init", "--command", "./tool.sh", "--command", "git log"]
    assert subprocess.run(command, cwd=tool, capture_output=True, check=False).returncode == 0
    text = (tool / "autotool.toml").read_text()
    assert text.startswith("# mine\n[server]\nname = 'mine'\n")
    assert set(tomllib.loads(text)["command"]) == {"tool", "git_log"}


def test_output_is_read_as_the_section_says(tmp_path: Path) -> None:
    (tmp_path / "autotool.toml").write_text(
        '[command.json]\nrun = ["printf", "%s", "{t}"]\noutput = "json"\n'
        'output_schema = { type = "object", required = ["a"] }\n'
        '[command.lines]\nrun = ["printf", "%s", "{t}"]\noutput = "lines"\n'
        '[command.csv]\nrun = ["printf", "%s", "{t}"]\noutput = "csv"\n'
        '[command.both]\nrun = ["sh", "-c", "echo out; echo err >&2"]\nstderr = "always"\n'
        '[command.image]\nrun = ["cat", "pixel.png"]\n'
    )
    (tmp_path / "pixel.png").write_bytes(
        bytes.fromhex(
            "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de0000000c4944415408d763f8cfc000000301010018dd8db0"
            "0000000049454e44ae426082"
        )
    )
    with RawClient(cwd=tmp_path) as client:
        assert client.call("json", {"t": '{"a": 1}'})["result"]["structuredContent"] == {
            "exit_code": 0,
            "output": {"a": 1},
        }
        for text, said in [("{", "no JSON"), ('{"b": 1}', "a"), ("NaN", "NaN is not JSON")]:
            wrong = client.call("json", {"t": text})["result"]
            assert wrong["isError"]
            assert said in text_of(wrong)
        assert client.call("lines", {"t": "a\nb\n"})["result"]["structuredContent"]["output"] == ["a", "b"]
        rows = client.call("csv", {"t": 'n,v\n"a,1",2\n'})["result"]["structuredContent"]["output"]
        assert rows == [{"n": "a,1", "v": "2"}]
        both = client.call("both")["result"]
        assert text_of(both) == "out\n[stderr]\nerr"
        block = client.call("image")["result"]["content"][-1]
        assert (block["type"], block["mimeType"]) == ("image", "image/png")


def test_a_command_takes_the_settings_of_a_tool(tmp_path: Path) -> None:
    (tmp_path / "autotool.toml").write_text(
        '[tools]\ndeny = ["hidden"]\n[command.slow]\nrun = ["sleep", "5"]\ntimeout = "300ms"\ntitle = "Slow one"\nread_only = true\n'
        '[command.hidden]\nrun = ["ls"]\n[command.twice]\nrun = ["echo", "x"]\nrate_limit = "1/minute"\n'
        '[tool.twice]\ndescription = "Says x."\n'
    )
    with RawClient(cwd=tmp_path) as client:
        tools = {one["name"]: one for one in client.tools()}
        assert list(tools) == ["slow", "twice"]
        assert tools["slow"]["title"] == "Slow one"
        assert tools["slow"]["annotations"]["readOnlyHint"] is True
        assert tools["twice"]["description"] == "Says x."
        assert "time limit of 0.3 s" in text_of(client.call("slow")["result"])
        assert text_of(client.call("twice")["result"]) == "x\n"
        assert "rate limit" in text_of(client.call("twice")["result"])
        assert client.call("hidden")["error"]["code"] == -32602


def test_commands_and_functions_are_served_together(tmp_path: Path) -> None:
    (tmp_path / "autotool.toml").write_text('targets = ["textwrap"]\n[command.echo]\nrun = ["echo", "{x}"]\n')
    with RawClient(cwd=tmp_path) as client:
        assert [one["name"] for one in client.tools()] == ["wrap", "fill", "dedent", "indent", "shorten", "echo"]
        assert text_of(client.call("echo", {"x": "a"})["result"]) == "a\n"
        assert text_of(client.call("dedent", {"text": "  a"})["result"]) == "a"


def test_a_python_program_runs_in_a_process_of_its_own_where_the_config_says_so(tmp_path: Path) -> None:
    (tmp_path / "who.py").write_text(
        "import os\nimport click\n\n@click.command()\n@click.option('--name', default='x')\ndef who(name):\n"
        "    'Say who.'\n    click.echo(f'{os.getpid()} {name}')\n"
    )
    pids: list[list[str]] = []
    for setting in ('own_process = ["who"]', ""):
        (tmp_path / "autotool.toml").write_text(f'targets = ["./who.py:who"]\n[tools]\n{setting}\n')
        with RawClient(cwd=tmp_path) as client:
            texts = [text_of(client.call("who", {"name": "-n"})["result"]).split() for _ in range(2)]
        assert [text[1] for text in texts] == ["-n", "-n"]
        pids.append([text[0] for text in texts])
    assert len(set(pids[0])) == 2
    assert len(set(pids[1])) == 1


def test_the_list_says_what_is_left_out(tool: Path) -> None:
    command = [sys.executable, "-m", "autotool", "list", "--command", "./tool.sh"]
    finished = subprocess.run(
        command, cwd=tool, capture_output=True, text=True, check=True, env={**os.environ, "COLUMNS": "200"}
    )
    assert "not offered, unless `allow_dangerous` names them: --exec (it runs another program)" in finished.stdout
