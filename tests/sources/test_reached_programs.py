"""Programs whose parser no target can name: it is reached by running them up to the moment they read their command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from rawclient import RawClient, text_of

GUARD = "\nif __name__ == '__main__':\n    sys.exit(main())\n"
PLAIN = "import argparse, sys, json\n\ndef main():\n    p = argparse.ArgumentParser()\n    p.add_argument('--n', type=int, default=1)\n"
SHOW = "    print(json.dumps(vars(args)))\n"
READ = "    args = p.parse_args()\n"

PROGRAMS = {
    "guarded": (":__main__", PLAIN + READ + SHOW + GUARD),
    "called": (":main()", PLAIN + READ + SHOW),
    "at the top": ("", (PLAIN + READ + SHOW).replace("def main():", "if True:")),
    "with sys.argv": (":__main__", PLAIN + "    args = p.parse_args(sys.argv[1:])\n" + SHOW + GUARD),
    "at the top, with sys.argv": (
        "",
        (PLAIN + "    args = p.parse_args(sys.argv[1:])\n" + SHOW).replace("def main():", "if True:"),
    ),
    "help without words": (
        ":__main__",
        PLAIN + "    if len(sys.argv) == 1:\n        p.print_help()\n        return 1\n" + READ + SHOW + GUARD,
    ),
    "called, help without words": (
        ":main()",
        PLAIN + "    if len(sys.argv) == 1:\n        p.print_help()\n        sys.exit(1)\n" + READ + SHOW,
    ),
    "catches everything": (
        ":__main__",
        PLAIN + "    try:\n        args = p.parse_args()\n    except:\n        sys.exit(9)\n" + SHOW + GUARD,
    ),
    "two parsers": (
        ":__main__",
        PLAIN.replace("    p = ", "    q = argparse.ArgumentParser(add_help=False)\n    q.add_argument('--conf', required=True)\n"
                      "    some, rest = q.parse_known_args()\n    p = ")
        .replace("required=True", "default='c'") + "    args = p.parse_args(rest)\n" + SHOW + GUARD,
    ),
    "in a coroutine": (
        ":__main__",
        PLAIN.replace("def main", "async def run").replace("json", "json, asyncio") + READ + SHOW
        + "\ndef main():\n    asyncio.run(run())\n" + GUARD,
    ),
    "parser beside main": (
        ":build()",
        "import argparse, sys, json\ndef build():\n    p = argparse.ArgumentParser()\n    p.add_argument('--n', type=int, default=1)\n"
        "    return p\ndef main():\n    args = build().parse_args()\n" + SHOW,
    ),
    "a function of the parser's": (
        ":build()",
        ("import argparse, sys, json\ndef go(args):\n    print(json.dumps({'n': args.n}))\ndef build():\n    p = argparse.ArgumentParser()\n"
        "    p.add_argument('--n', type=int, default=1)\n    p.set_defaults(handler=go)\n    return p\n"),
    ),
    "click": (
        ":__main__",
        ("import click, json\n@click.command()\n@click.option('--n', type=int, default=1)\ndef prog(n):\n"
        "    click.echo(json.dumps({'n': n}))\nif __name__ == '__main__':\n    prog()\n"),
    ),
    "click with a main of its own": (
        ":__main__",
        ("import click, json\nclass Own(click.Command):\n    def main(self, args=None, **kw):\n"
        "        with self.make_context('own', args or __import__('sys').argv[1:]) as ctx:\n            self.invoke(ctx)\n"
        "@click.command(cls=Own)\n@click.option('--n', type=int, default=1)\ndef prog(n):\n"
        "    click.echo(json.dumps({'n': n}))\nif __name__ == '__main__':\n    prog()\n"),
    ),
    "Typer": (
        ":__main__",
        "import typer, json\ndef prog(n: int = 1):\n    print(json.dumps({'n': n}))\nif __name__ == '__main__':\n    typer.run(prog)\n",
    ),
    "Typer, by its click command": (
        ":__main__",
        ("import typer, json\napp = typer.Typer()\n@app.command()\ndef prog(n: int = 1):\n    print(json.dumps({'n': n}))\n"
        "if __name__ == '__main__':\n    typer.main.get_command(app)()\n"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", PROGRAMS)
def test_a_program_is_reached_and_run(kind: str, tmp_path: Path) -> None:
    suffix, text = PROGRAMS[kind]
    (tmp_path / "prog.py").write_text(text)
    with RawClient(f"./prog.py{suffix}", cwd=tmp_path) as client:
        (tool,) = client.tools()
        assert tool["name"] == "prog"
        assert tool["inputSchema"]["properties"]["n"] == {"type": "integer", "default": 1}
        for number in (-5, 7):
            result = client.call("prog", {"n": number})["result"]
            assert not result["isError"], text_of(result)
            assert json.loads(text_of(result))["n"] == number


def test_a_module_is_run_as_its_package_would_be(tmp_path: Path) -> None:
    package = tmp_path / "acme"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "__main__.py").write_text("from acme.cli import main\nmain()\n")
    (package / "cli.py").write_text(PLAIN + READ + SHOW)
    with RawClient("acme:__main__", cwd=tmp_path) as client:
        (tool,) = client.tools()
        assert tool["name"] == "acme"
        assert json.loads(text_of(client.call("acme", {"n": 2})["result"])) == {"n": 2}


def test_words_of_its_own_are_just_read_while_a_file_is_imported(tmp_path: Path) -> None:
    """Notebooks that became modules say `parser.parse_args([])`."""
    (tmp_path / "notes.py").write_text(
        "import argparse\np = argparse.ArgumentParser()\np.add_argument('--n', default=4)\nargs = p.parse_args([])\n\n"
        "def number() -> int:\n    'The number.'\n    return args.n\n"
    )
    with RawClient("./notes.py", cwd=tmp_path) as client:
        assert text_of(client.call("number")["result"]) == "4"


@pytest.mark.parametrize(
    ("target", "text", "said"),
    [
        ("./x.py:__main__", "print('nothing')\n", "ends without reading a command line"),
        ("./x.py:__main__", "raise ValueError('boom')\n", "ValueError: boom"),
        ("./x.py:p", "import argparse\np = argparse.ArgumentParser()\n", "nothing runs it"),
        ("x", "import argparse\np = argparse.ArgumentParser()\np.add_argument('y')\np.parse_args()\n", "x:__main__"),
        ("script:no-such-script", "", "no console script `no-such-script`"),
    ],
)
def test_what_is_no_program_is_said_in_words(target: str, text: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "x.py").write_text(text)
    with RawClient(target, cwd=tmp_path) as client:
        assert client.process.wait(20) == 2
        assert client.says(said)


def test_what_a_program_returns_is_how_it_ends(tmp_path: Path) -> None:
    """As `sys.exit(main())` does."""
    (tmp_path / "prog.py").write_text(
        "import argparse\ndef main():\n    p = argparse.ArgumentParser()\n    p.add_argument('how')\n"
        "    return {'none': None, 'true': True, 'two': 2, 'said': 'it failed'}[p.parse_args().how]\n"
    )
    with RawClient("./prog.py:main()", cwd=tmp_path) as client:
        ends = {how: client.call("prog", {"how": how})["result"] for how in ("none", "true", "two", "said")}
        codes = {how: result["structuredContent"]["exit_code"] for how, result in ends.items()}
        assert codes == {"none": 0, "true": 0, "two": 2, "said": 1}
        assert text_of(ends["said"]) == "[stderr]\nit failed\n[exit code 1]"


@pytest.mark.parametrize(
    "target", ["./prog.py:main()", "./prog.py:build()", "./prog.py:with_function()", "./prog.py:__main__"]
)
def test_a_program_runs_in_a_process_of_its_own_where_the_config_says_so(target: str, tmp_path: Path) -> None:
    (tmp_path / "prog.py").write_text(
        "import argparse, os, sys\ndef build():\n    p = argparse.ArgumentParser()\n    p.add_argument('--n', type=int)\n    return p\n"
        "def go(args):\n    print(os.getppid(), args.n)\n    return 0\n"
        "def with_function():\n    p = build()\n    p.set_defaults(func=go)\n    return p\n"
        "def main():\n    return go(build().parse_args())\n" + GUARD
    )
    (tmp_path / "who.py").write_text("import os\ndef who() -> int:\n    'Who.'\n    return os.getpid()\n")
    (tmp_path / "autotool.toml").write_text('[tools]\nown_process = ["prog"]\n')
    with RawClient(target, "./who.py", cwd=tmp_path) as client:
        worker = text_of(client.call("who")["result"])
        assert text_of(client.call("prog", {"n": -3})["result"]) == f"{worker} -3\n"


def test_fire_components_are_served_as_python(tmp_path: Path) -> None:
    (tmp_path / "calc.py").write_text(
        "import fire\nclass Calc:\n    'Sums.'\n    def add(self, a: int, b: int = 2) -> int:\n        'Add.'\n        return a + b\n"
        "    def text(self, sha):\n        'Say.'\n        return repr(sha)\nif __name__ == '__main__':\n    fire.Fire(Calc)\n"
    )
    with RawClient("./calc.py:__main__", cwd=tmp_path) as client:
        assert sorted(tool["name"] for tool in client.tools()) == ["add", "text"]
        assert text_of(client.call("add", {"a": 1})["result"]) == "3"
        assert text_of(client.call("text", {"sha": "12e4567"})["result"]) == "'12e4567'"


def test_modules_of_the_standard_library_are_programs(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('{"b": 1}')
    with RawClient("json.tool:__main__", "py_compile:__main__", cwd=tmp_path) as client:
        assert {"json_tool", "py_compile"} == {tool["name"] for tool in client.tools()}
        result = client.call("json_tool", {"infile": "a.json", "compact": True})["result"]
        assert text_of(result) == '{"b":1}\n'
