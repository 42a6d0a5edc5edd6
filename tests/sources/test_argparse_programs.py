"""Argparse programs from their own parsers, through the real program: what is offered, and what reaches them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from rawclient import RawClient, text_of

HEAD = "import argparse, enum, json, os, pathlib, sys\n"
PRINT = "\nif __name__ == '__main__':\n    print(json.dumps(vars(p.parse_args()), default=str))\n"


def write(folder: Path, body: str, name: str = "demo.py") -> None:
    (folder / name).write_text(HEAD + body, encoding="utf-8")


def served(client: RawClient) -> dict[str, dict[str, Any]]:
    return {tool["name"]: tool["inputSchema"] for tool in client.tools()}


def result(client: RawClient, name: str, **values: Any) -> Any:
    """What the program read, as it printed it."""
    answer = client.call(name, values)["result"]
    assert not answer["isError"], text_of(answer)
    assert answer["structuredContent"]["exit_code"] == 0
    return json.loads(answer["structuredContent"]["output"])


def refusal(client: RawClient, name: str, **values: Any) -> str:
    answer = client.call(name, values)["result"]
    assert answer["isError"]
    return text_of(answer)


ARGUMENTS: list[tuple[str, dict[str, Any], Any, Any]] = [
    # The call of add_argument, the parameters it makes, a value for the first of them, and what the program reads.
    ("'--port', type=int, choices=range(1, 65536), metavar='P'", {"port": {"type": "integer", "minimum": 1, "maximum": 65535}}, 80, 80),
    ("'--far', type=int, choices=range(10**12), metavar='P'", {"far": {"type": "integer", "minimum": 0, "maximum": 10**12 - 1}}, 7, 7),
    ("'--level', type=int, choices=[1, 3]", {"level": {"type": "integer", "enum": [1, 3]}}, 3, 3),
    ("'--ratio', type=float, choices=[0.5, 1.0]", {"ratio": {"type": "string", "enum": ["0.5", "1.0"]}}, "0.5", 0.5),
    ("'--odd', choices=Odd(), metavar='X'", {"odd": {"type": "string"}}, "p", "p"),
    ("'--by-value', type=Color, choices=list(Color)", {"by_value": {"type": "string", "enum": ["r", "b"]}}, "r", "Color.red"),
    ("'--by-name', type=lambda s: Color[s], choices=list(Color)", {"by_name": {"type": "string", "enum": ["red", "blue"]}}, "red", "Color.red"),
    ("'--size', type=size, default='3k'", {"size": {"type": "string", "default": "3k"}}, "5k", 5000),
    ("'--n', type=int, default='3'", {"n": {"type": "integer", "default": 3}}, -4, -4),
    ("'--text', default=3", {"text": {"type": "string", "default": "3"}}, "--x", "--x"),
    ("'--out', type=pathlib.Path, default=pathlib.Path('o.txt')", {"out": {"type": "string", "default": "o.txt"}}, "a b", "a b"),
    ("'--home', default=os.path.expanduser('~/x')", {"home": {"type": "string"}}, "h", "h"),
    ("'--call', default=print", {"call": {"type": "string"}}, "c", "c"),
    ("'-v', '--verbose', action='count', default=0", {"verbose": {"type": "integer", "minimum": 0, "maximum": 100}}, 2, 2),
    ("'--quiet', action=Counted, default=0", {"quiet": {"type": "integer", "minimum": 0, "maximum": 100}}, 3, 3),
    ("'--tags', nargs='+', action='extend'", {"tags": {"type": "array", "items": {"type": "string"}, "minItems": 1}}, ["a", "b"], ["a", "b"]),
    ("'--tag', action='append'", {"tag": {"type": "array", "items": {"type": "string"}}}, ["-a", ""], ["-a", ""]),
    ("'--pair', nargs=2, type=int, action='append'", {"pair": {"type": "array", "items": {"type": "integer"}, "minItems": 2, "maxItems": 2}}, [-1, 2], [[-1, 2]]),
    ("'--one', nargs=1", {"one": {"type": "string"}}, "x", ["x"]),
    ("'--color', nargs='?', const='always'", {"color": {"anyOf": [{"type": "boolean"}, {"type": "string"}]}}, True, "always"),
    ("'--strict', type=bool, default=True", {"strict": {"type": "boolean", "default": True}}, False, False),
    ("'--on', action=argparse.BooleanOptionalAction, default=True", {"on": {"type": "boolean", "default": True}}, False, False),
    ("'--no-cache', dest='cache', action='store_false'", {"no_cache": {"type": "boolean"}}, True, False),
    ("'--json', dest='kind', action='store_const', const='j'", {"json": {"type": "boolean"}}, True, "j"),
    ("'--mine', action=Mine", {"mine": {"type": "string"}}, "m", ["mine", "m"]),
    ("'-2', dest='two', action='store_true'", {"opt_2": {"type": "boolean"}}, True, True),
    ("'--n-a_b', dest='q'", {"n_a_b": {"type": "string"}}, "1", "1"),
    ("'--hid', help=argparse.SUPPRESS, required=True", {"hid": {"type": "string"}}, "s", "s"),
]  # fmt: skip
CLASSES = """
class Odd:
    def __contains__(self, item): return item in ('p', 'q')
class Color(enum.Enum):
    red = 'r'
    blue = 'b'
class Mine(argparse.Action):
    def __call__(self, parser, namespace, values, option_string=None): setattr(namespace, self.dest, ('mine', values))
class Counted(argparse._CountAction): pass
def size(text): return int(text.removesuffix('k')) * 1000
"""


@pytest.fixture(scope="module")
def one_argument_each(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RawClient]:
    """Every row of the table as a program of its own, behind one server."""
    folder = tmp_path_factory.mktemp("arguments")
    for number, row in enumerate(ARGUMENTS):
        write(folder, f"{CLASSES}p = argparse.ArgumentParser()\np.add_argument({row[0]})\n{PRINT}", f"demo{number}.py")
    with RawClient(*(f"./demo{number}.py:p" for number in range(len(ARGUMENTS))), cwd=folder) as client:
        yield client


@pytest.mark.parametrize("number", range(len(ARGUMENTS)), ids=[row[0][:24] for row in ARGUMENTS])
def test_an_argument_is_offered_and_read(number: int, one_argument_each: RawClient) -> None:
    _, parameters, value, read = ARGUMENTS[number]
    name = f"demo{number}"
    assert served(one_argument_each)[name]["properties"] == parameters
    (parameter,) = parameters
    assert list(result(one_argument_each, name, **{parameter: value}).values()) == [read]


def test_help_and_version_and_hidden_arguments_are_no_parameters(tmp_path: Path) -> None:
    write(
        tmp_path,
        "p = argparse.ArgumentParser(add_help=False, description='100% of %(prog)s, at %d')\n"
        "p.add_argument('--version', action='version', version='1')\np.add_argument('--hid', help=argparse.SUPPRESS)\n"
        "p.add_argument('-h', '--help', dest='h', action='store_true')\n"
        "p.add_argument('--bad', help='100% of %(nothing)s')\n" + PRINT,
    )
    with RawClient("./demo.py:p", cwd=tmp_path) as client:
        (tool,) = client.tools()
        assert tool["description"] == "100% of demo.py, at %d"
        assert tool["inputSchema"]["properties"] == {"bad": {"type": "string", "description": "100% of %(nothing)s"}}


def test_defaults_from_the_environment_are_not_told(tmp_path: Path) -> None:
    write(
        tmp_path,
        "p = argparse.ArgumentParser()\n"
        "p.add_argument('--auth', default=os.environ['MY_AUTH'], help='who (default: %(default)s)')\n"
        "p.add_argument('--token', default='hunter2', help='what (default: %(default)s)')\n" + PRINT,
    )
    with RawClient("./demo.py:p", cwd=tmp_path, env={"MY_AUTH": "plain-but-mine"}) as client:
        (schema,) = served(client).values()
        assert schema["properties"] == {
            "auth": {"type": "string", "description": "who (default: not shown)"},
            "token": {"type": "string", "description": "what (default: not shown)"},
        }
        assert result(client, "demo") == {"auth": "plain-but-mine", "token": "hunter2"}


def test_names_that_meet_are_kept_apart(tmp_path: Path) -> None:
    write(
        tmp_path,
        "p = argparse.ArgumentParser()\np.add_argument('file')\np.add_argument('--file', dest='f2')\n"
        "p.add_argument('--a-b')\np.add_argument('--a_b', dest='ab2')\n" + PRINT,
    )
    with RawClient("./demo.py:p", cwd=tmp_path) as client:
        (schema,) = served(client).values()
        assert list(schema["properties"]) == ["file", "a_b", "a_b_option", "file_operand"]
        read = result(client, "demo", file="1", a_b="2", a_b_option="3", file_operand="4")
        assert read == {"file": "4", "f2": "1", "a_b": "2", "ab2": "3"}


def test_operands_are_told_apart_by_their_order(tmp_path: Path) -> None:
    write(
        tmp_path,
        "p = argparse.ArgumentParser()\np.add_argument('a')\np.add_argument('b', nargs='?')\np.add_argument('c', nargs='*')\n"
        "p.add_argument('d', nargs='?')\n" + PRINT,
    )
    with RawClient("./demo.py:p", cwd=tmp_path) as client:
        (schema,) = served(client).values()
        assert list(schema["properties"]) == ["a", "b", "c"]
        assert client.says("`d` is not offered")
        assert result(client, "demo", a="-1", b="--x", c=["y", "-z"]) == {
            "a": "-1",
            "b": "--x",
            "c": ["y", "-z"],
            "d": None,
        }
        assert "together with `b`" in refusal(client, "demo", a="1", c=["y"])


def test_a_list_before_a_needed_operand_is_reached(tmp_path: Path) -> None:
    write(tmp_path, "p = argparse.ArgumentParser()\np.add_argument('src', nargs='+')\np.add_argument('dst')\n" + PRINT)
    with RawClient("./demo.py:p", cwd=tmp_path) as client:
        assert result(client, "demo", src=["a", "-b"], dst="c") == {"src": ["a", "-b"], "dst": "c"}


def test_exclusive_groups_hold_in_commands_and_above_them(tmp_path: Path) -> None:
    write(
        tmp_path,
        "p = argparse.ArgumentParser()\ng = p.add_mutually_exclusive_group(required=True)\n"
        "g.add_argument('--xml')\ng.add_argument('--text', action='store_true')\n"
        "s = p.add_subparsers(dest='cmd', required=True)\nq = s.add_parser('go', help='Go there.')\n"
        "h = q.add_mutually_exclusive_group()\nh.add_argument('--xml', dest='x2')\nh.add_argument('--csv')\n" + PRINT,
    )
    with RawClient("./demo.py:p", cwd=tmp_path) as client:
        assert list(served(client)["demo_go"]["properties"]) == ["demo_xml", "text", "xml", "csv"]
        assert "one of `demo_xml` and `text` is required" in refusal(client, "demo_go", xml="1")
        assert "`demo_xml` and `text` exclude" in refusal(client, "demo_go", demo_xml="1", text=True)
        assert "`xml` and `csv` exclude" in refusal(client, "demo_go", text=True, xml="1", csv="2")
        read = result(client, "demo_go", text=True, csv="2")
        assert read == {"xml": None, "text": True, "cmd": "go", "x2": None, "csv": "2"}


COMMANDS = """
p = argparse.ArgumentParser()
p.add_argument('--root', default='.')
p.add_argument('--many', nargs='*')
p.add_argument('--color', nargs='?', const='always')
s = p.add_subparsers(dest='cmd')
run = s.add_parser('run', aliases=['r'], help='Run it.')
run.add_argument('--env', nargs='*')
run.add_argument('-q', action='store_true')
run.add_argument('words', nargs=argparse.REMAINDER)
deep = s.add_parser('deep').add_subparsers(dest='sub', required=True)
er = deep.add_parser('er', description='Deeper.')
er.add_argument('--root', type=int)
er.add_argument('n', type=int)
"""


def test_each_command_is_a_tool_with_the_options_above_it(tmp_path: Path) -> None:
    write(tmp_path, COMMANDS + PRINT)
    with RawClient("./demo.py:p", cwd=tmp_path) as client:
        tools = {tool["name"]: tool for tool in client.tools()}
        assert sorted(tools) == ["demo", "demo_deep_er", "demo_run"]
        assert tools["demo_run"]["description"] == "Run it."
        assert tools["demo_deep_er"]["description"] == "Deeper."
        # Before the word of a command, a list or a bare option would take that word.
        assert list(tools["demo_deep_er"]["inputSchema"]["properties"]) == ["demo_root", "color", "root", "n"]
        assert list(tools["demo"]["inputSchema"]["properties"]) == ["root", "many", "color"]
        assert client.says("`many` is not offered")
        deep = {"root": 3, "many": None, "color": "x", "cmd": "deep", "sub": "er", "n": -4}
        assert result(client, "demo_deep_er", demo_root="r", color="x", root=3, n=-4) == deep


def test_the_rest_of_a_command_line_is_passed_on_as_it_is(tmp_path: Path) -> None:
    """A `--` in front of an `argparse.REMAINDER` would be one of its words (Python 3.11 and newer)."""
    write(tmp_path, COMMANDS + PRINT)
    with RawClient("./demo.py:p", cwd=tmp_path) as client:
        assert list(served(client)["demo_run"]["properties"]) == ["root", "color", "q", "words"]
        read = result(client, "demo_run", words=["ls", "-l", "--", "--env=1"])
        assert (read["words"], read["env"], read["q"]) == (["ls", "-l", "--", "--env=1"], None, False)
        assert "first word may not begin with `-`" in refusal(client, "demo_run", words=["-q"])


def test_an_operand_may_stand_before_the_commands(tmp_path: Path) -> None:
    write(
        tmp_path,
        "p = argparse.ArgumentParser()\np.add_argument('project')\ns = p.add_subparsers(dest='cmd', required=True)\n"
        "s.add_parser('go').add_argument('x', nargs='*')\n" + PRINT,
    )
    with RawClient("./demo.py:p", cwd=tmp_path) as client:
        assert result(client, "demo_go", project="a", x=["-b"]) == {"project": "a", "cmd": "go", "x": ["-b"]}
        assert "`project`" in refusal(client, "demo_go", project="--help")


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("p.add_argument('x', nargs='*')\np.add_subparsers().add_parser('go')", "stands before its commands"),
        ("p.add_subparsers(required=True).add_parser('go')\np.add_argument('x')", "stands behind its commands"),
        ("p.prefix_chars = '+'", "and not with a dash"),
    ],
)
def test_what_cannot_be_told_apart_is_refused_with_the_reason(body: str, reason: str, tmp_path: Path) -> None:
    write(tmp_path, f"p = argparse.ArgumentParser()\n{body}\ndef fine() -> int:\n    'Fine.'\n    return 1\n" + PRINT)
    with RawClient("./demo.py:p", "./demo.py:fine", cwd=tmp_path) as client:
        assert "fine" in served(client)
        assert client.says(reason)


def test_a_value_that_argparse_would_drop_is_refused(tmp_path: Path) -> None:
    """https://github.com/python/cpython/issues/95468"""
    write(tmp_path, "p = argparse.ArgumentParser()\np.add_argument('--x')\np.add_argument('y', nargs='*')\n" + PRINT)
    with RawClient("./demo.py:p", cwd=tmp_path) as client:
        assert "`x`: the word `--`" in refusal(client, "demo", x="--")
        assert "`y`: the word `--`" in refusal(client, "demo", y=["a", "--"])


def test_files_of_words_are_not_read(tmp_path: Path) -> None:
    write(tmp_path, "p = argparse.ArgumentParser(fromfile_prefix_chars='@')\np.add_argument('x')\n" + PRINT)
    with RawClient("./demo.py:p", cwd=tmp_path) as client:
        assert "`x`: begins with `@`" in refusal(client, "demo", x="@/etc/passwd")
