"""click and Typer programs from their own objects, through the real program."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from rawclient import RawClient, text_of

SHOP = '''
import datetime, enum, json, os
import click

class Size(enum.Enum):
    SMALL = "s"
    BIG = "b"

class Word(click.ParamType):
    name = "word"
    def convert(self, value, param, ctx):
        return value.upper()

def show(**values):
    click.echo(json.dumps(values, default=str))

@click.group()
@click.option("--config", help="A file.", envvar="SHOP_CONFIG")
@click.option("--mode", is_flag=False, flag_value="auto", default="off")
@click.version_option("1.0")
@click.pass_context
def cli(ctx, **values):
    "A shop."
    ctx.obj = values

@cli.command(short_help="Short.")
@click.option("--n", type=click.IntRange(0, 10, min_open=True), default=3)
@click.option("--share", type=click.FloatRange(0, 1, clamp=True))
@click.option("--ratio", type=click.FloatRange(0, 1))
@click.option("--colour", type=click.Choice(["red", "Blue"], case_sensitive=False))
@click.option("--size", type=click.Choice(["SMALL", "BIG"]), default="BIG")
@click.option("--pair", type=(str, int))
@click.option("--many", "-m", multiple=True, default=["a"])
@click.option("-v", "--verbose", count=True)
@click.option("--when", type=click.DateTime(["%Y-%m-%d"]))
@click.option("--word", type=Word())
@click.option("--password", prompt=True, hide_input=True)
@click.option("--made", default=lambda: "x")
@click.option("--auth", default=os.environ["MY_AUTH"])
@click.option("--hidden", hidden=True)
@click.option("--shout/--no-shout", default=True)
@click.option("--up", "case", flag_value="up")
@click.option("--down", "case", flag_value="down")
@click.option("-x", type=bool)
@click.argument("source", nargs=2)
@click.argument("rest", nargs=-1)
@click.pass_obj
def buy(obj, **values):
    """Buy.

    \\b
    As a list
    \\f
    Not for users.
    """
    show(**obj, **{key: value for key, value in values.items() if key not in ("password", "auth")})

@cli.group()
@click.argument("project")
@click.option("--config")
@click.pass_context
def work(ctx, **values):
    "Work on a project."
    ctx.obj = {"shop": ctx.obj, "work": values}

@work.command("do-it")
@click.option("--config")
@click.argument("what", required=False)
@click.pass_obj
def do_it(obj, **values):
    show(**obj, do=values)

work.add_command(work, "again")

@cli.command(context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@click.argument("words", nargs=-1, type=click.UNPROCESSED)
def wrap(words):
    show(words=words)

@cli.command()
@click.argument("number", type=int)
def leave(number):
    "Leave."
    click.echo("out")
    click.echo("err", err=True)
    raise SystemExit(number)

@cli.command()
def confirm():
    click.confirm("Sure?", abort=True)

@cli.command()
def fail():
    raise click.ClickException("it is broken")

@cli.command(hidden=True)
def secret():
    pass
'''


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RawClient]:
    folder = tmp_path_factory.mktemp("shop")
    (folder / "shop.py").write_text(SHOP)
    with RawClient("./shop.py:cli", cwd=folder, env={"MY_AUTH": "plain-but-mine"}) as client:
        yield client


def schema(client: RawClient, name: str) -> dict[str, Any]:
    return next(tool["inputSchema"] for tool in client.tools() if tool["name"] == name)


def answer(client: RawClient, name: str, **values: Any) -> tuple[bool, str, Any]:
    result = client.call(name, values)["result"]
    return result["isError"], text_of(result), result.get("structuredContent")


def read(client: RawClient, name: str, **values: Any) -> Any:
    failed, text, _ = answer(client, name, **values)
    assert not failed, text
    return json.loads(text)


def test_each_command_is_a_tool(shop: RawClient) -> None:
    """A group that holds itself is gone through once; hidden commands are left out."""
    tools = {tool["name"]: tool["description"] for tool in shop.tools()}
    names = ["shop_buy", "shop_confirm", "shop_fail", "shop_leave", "shop_work_do-it", "shop_wrap"]
    assert sorted(tools) == names
    assert tools["shop_buy"] == "Buy.\n\nAs a list"


def test_options_have_their_types(shop: RawClient) -> None:
    found = schema(shop, "shop_buy")
    assert found["properties"] == {
        "config": {"type": "string", "description": "A file. Also read from the variable SHOP_CONFIG."},
        "mode": {"type": "string", "default": "off", "pattern": "^([^-]|-?$)"},
        "n": {"type": "integer", "minimum": 1, "maximum": 10, "default": 3},
        "share": {"type": "number"},
        "ratio": {"type": "number", "minimum": 0, "maximum": 1},
        "colour": {"type": "string", "enum": ["red", "Blue"]},
        "size": {"type": "string", "enum": ["SMALL", "BIG"], "default": "BIG"},
        "pair": {"type": "array", "items": {"type": "string"}, "minItems": 2, "maxItems": 2},
        "many": {"type": "array", "items": {"type": "string"}, "default": ["a"]},
        "verbose": {"type": "integer", "minimum": 0, "maximum": 100},
        "when": {"type": "string", "description": "Written as %Y-%m-%d."},
        "word": {"type": "string"},
        "password": {"type": "string"},
        "made": {"type": "string"},
        "auth": {"type": "string"},
        "shout": {"type": "boolean", "default": True},
        "up": {"type": "boolean"},
        "down": {"type": "boolean"},
        "x": {"type": "boolean"},
        "source": {"type": "array", "items": {"type": "string"}, "minItems": 2, "maxItems": 2},
        "rest": {"type": "array", "items": {"type": "string"}},
    }
    assert found["required"] == ["password", "source"]


def test_values_arrive_as_they_are(shop: RawClient) -> None:
    values = {
        "config": "--c", "mode": "m", "n": 2, "share": 7.5, "colour": "red", "pair": ["-k", "3"], "many": ["-b", ""],
        "verbose": 2, "when": "2020-01-02", "word": "w", "password": "p", "shout": False, "down": True, "x": False,
        "source": ["-a", "--help"], "rest": ["--", "$(id)"],
    }  # fmt: skip
    assert read(shop, "shop_buy", **values) == {
        "config": "--c", "mode": "m", "n": 2, "share": 1, "ratio": None, "colour": "red", "size": "BIG", "pair": ["-k", 3],
        "many": ["-b", ""], "verbose": 2, "when": "2020-01-02 00:00:00", "word": "W", "made": "x", "shout": False,
        "hidden": None, "case": "down", "x": False, "source": ["-a", "--help"], "rest": ["--", "$(id)"],
    }  # fmt: skip


def test_a_value_does_not_become_an_option(shop: RawClient) -> None:
    """click takes the value of `--mode=--shout` for an option, since the option may stand alone."""
    failed, text, _ = answer(shop, "shop_wrap", mode="--version", words=[])
    assert failed
    assert "`mode`" in text


def test_what_is_left_out_takes_the_programs_defaults(shop: RawClient) -> None:
    found = read(shop, "shop_buy", password="p", source=["a", "b"], verbose=0, x=True)
    assert found["x"] is True
    assert (found["n"], found["mode"], found["many"], found["shout"]) == (3, "off", ["a"], True)


def test_options_and_arguments_of_groups_stand_before_the_command(shop: RawClient) -> None:
    assert list(schema(shop, "shop_work_do-it")["properties"]) == [
        "shop_config", "mode", "work_config", "project", "config", "what",
    ]  # fmt: skip
    found = read(shop, "shop_work_do-it", shop_config="1", work_config="2", project="p", config="3", what="-w")
    assert found["shop"]["config"] == "1"
    assert found["work"] == {"config": "2", "project": "p"}
    assert found["do"] == {"config": "3", "what": "-w"}
    failed, text, _ = answer(shop, "shop_work_do-it", project="--help")
    assert failed
    assert "`project`" in text


def test_a_command_that_passes_all_on_gets_all(shop: RawClient) -> None:
    assert read(shop, "shop_wrap", words=["-l", "--", "--mode=x"]) == {"words": ["-l", "--", "--mode=x"]}


def test_a_program_that_exits_says_how(shop: RawClient) -> None:
    assert answer(shop, "shop_leave", number=0) == (False, "out\n", {"exit_code": 0, "output": "out\n"})
    facts = {"exit_code": 3, "output": "out\n", "stderr": "err\n"}
    assert answer(shop, "shop_leave", number=3) == (True, "out\n[stderr]\nerr\n[exit code 3]", facts)
    failed, text, facts = answer(shop, "shop_fail")
    assert (failed, facts["exit_code"]) == (True, 1)
    assert "it is broken" in text


def test_a_question_ends_the_program(shop: RawClient) -> None:
    failed, text, _ = answer(shop, "shop_confirm")
    assert failed
    assert "asked for input" in text


@pytest.mark.parametrize("own", [False, True], ids=["in the worker", "as a process"])
def test_commands_of_a_module_are_served_with_its_functions(own: bool, tmp_path: Path) -> None:
    (tmp_path / "tools.py").write_text(
        "import click, os\n\ndef plain() -> int:\n    'Plain.'\n    return os.getpid()\n\n"
        "@click.command()\n@click.option('--n', type=int, required=True)\ndef twice(n):\n    'Twice.'\n"
        "    click.echo(f'{os.getpid()} {2 * n}')\n"
    )
    (tmp_path / "autotool.toml").write_text(f"[tools]\nown_process = {json.dumps(['twice'] if own else [])}\n")
    with RawClient("./tools.py", cwd=tmp_path) as client:
        assert sorted(tool["name"] for tool in client.tools()) == ["plain", "twice"]
        _, text, _ = answer(client, "twice", n=-4)
        process, number = text.split()
        assert number == "-8"
        assert (process != text_of(client.call("plain")["result"])) == own
