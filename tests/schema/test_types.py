"""Every type that people write, from JSON to the function: `menagerie.py` has one function for each kind."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jsonschema
import pytest

import autotool

MENAGERIE = Path(__file__).parent / "menagerie.py"


@pytest.fixture(scope="module")
def tools() -> autotool.Tools:
    return autotool.load(str(MENAGERIE))


ACCEPTED: list[tuple[str, dict[str, Any], Any]] = [
    ("disc", {"pet": {"kind": "dog", "bark": "true"}}, "Dog"), ("disc", {"pet": '{"kind": "cat"}'}, "Cat"), ("att", {"c": {"size": "3"}}, "Crate3t"),
    ("newt", {"u": "7"}, 7), ("col", {"c": "RED", "cs": [2, "BLUE"]}, "RED[<Color.BLUE: 2>, <Color.BLUE: 2>]"), ("nt", {"p": {"x": 1}}, "P(x=1, y=0)"),
    ("nt", {"p": [1, 2]}, "P(x=1, y=2)"), ("td", {"d": {"a": "1"}}, "{'a': 1}"), ("box", {"b": {"item": "5"}}, "Box[int](item=5)"), ("plain", {"p": {"host": "h"}}, "h:80"),
    ("misc", {"r": [1, 5], "s": [None, 3], "ip": "1.2.3.4", "pat": "a+", "dec": "1.10"},
     "(range(1, 5), slice(None, 3, None), IPv4Address('1.2.3.4'), re.compile('a+'), Decimal('1.10'), datetime.timedelta(days=1))"),
    ("files", {"f": "inline\ntext"}, "inline\ntext"), ("it", {"a": [1], "b": ["x"], "c": {"a": "1"}, "d": [1, 1]}, "([1], ['x'], {'a': 1}, {1})"),
    ("arr", {"a": [[1, 2], [3, 4]], "df": [{"a": 1}, {"a": 2}]}, "(2, 2) (2, 1)"), ("arr", {"a": "[1]", "df": {"a": [1, 2, 3]}}, "(1,) (3, 1)"), ("cb", {"n": 1}, 1),
    ("rec", {"t": {"kids": [{"kids": []}]}}, 1), ("star", {"a": 1, "b": 2, "rest": [1, "2"], "c": "4", "more": 1, "x": "1.5"}, "(1, 2, (1, 2), 4, {'more': 1.0, 'x': 1.5})"),
    ("star2", {"rest": [9]}, "(1, 2, (9,))"), ("over", {"x": "5"}, "5"), ("over", {"x": 5}, 5), ("mut", {}, [1]), ("mut", {}, [1]), ("implicit", {"n": None}, "None"),
    ("implicit", {"n": "4"}, "4"), ("optnone", {"n": None, "m": None}, "(None, None)"), ("optnone", {}, "(None, 5)"), ("lit", {"n": "1"}, "(1, True)"),
    ("tz", {"t": "Europe/Berlin"}, "zoneinfo.ZoneInfo(key='Europe/Berlin')"), ("unp", {"a": 1}, "{'a': 1}"),
    ("pth", {"p": "/a", "q": "/b", "r": "/c"}, "(PosixPath('/a'), PosixPath('/b'), '/c')"), ("unres", {"x": {"a": 1}, "y": 1}, "({'a': 1}, 1)"),
    ("tup", {"t": [1, "a"], "u": "[1, 2]"}, "((1, 'a'), (1, 2), ())"), ("cplx", {"c": "1+2j"}, "(1+2j)"), ("cplx", {"c": 3}, "(3+0j)"), ("ll", {"x": "a"}, "a"),
    ("frozen", {"s": ["b", "a"], "d": {"1": "x"}}, "(['a', 'b'], {1: 'x'})"), ("calls", {"q": "z"}, "z"),
]  # fmt: skip

REFUSED: list[tuple[str, dict[str, Any], list[str]]] = [
    ("disc", {"pet": {"kind": "cow"}}, ["`pet.kind`", "'cat'", "'dog'"]), ("col", {"c": 3}, ["`c`: expected one of 1, 2, got 3"]), ("plain", {"p": {"port": "1"}}, ["`p.host`: is required"]),
    ("misc", {"r": [1, 5], "s": [3], "ip": "x", "pat": "(", "dec": "q"}, ["`ip`: expected an IPv4 address", "`pat`: expected a regular expression", "`dec`"]),
    ("cb", {"n": 1, "on": "x"}, ["`on`: is not known"]), ("lit", {"n": 3}, ["`n`: expected one of 1, 2, got 3"]), ("unp", {"a": 1, "q": 2}, ["`q`: is not known"]), ("unp", {}, ["`a`"]),
    ("conv", {"p": 7}, ["`p`", "a multiple of 5"]), ("conv", {"p": 10, "q": "b"}, ["`q`", "matching ^a+$"]),
    ("dts", {"a": 5, "b": "x", "c": None}, ["`a`: expected a date and time", "`b`: expected a date", "`c`: expected a time"]), ("tup", {"t": [1]}, ["`t[1]`: is required"]),
    ("arms", {"x": 0}, ["`x`"]), ("optnone", {"n": True}, ["`n`: expected an integer"]), ("it", {"a": ["x"], "b": [], "c": {}, "d": []}, ["`a[0]`"]),
]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "arguments", "wanted"), ACCEPTED, ids=lambda value: value if isinstance(value, str) else ""
)
def test_what_fits_reaches_the_function(
    name: str, arguments: dict[str, Any], wanted: Any, tools: autotool.Tools
) -> None:
    assert tools.call(name, **arguments) == wanted


@pytest.mark.parametrize(
    ("name", "arguments", "said"), REFUSED, ids=lambda value: value if isinstance(value, str) else ""
)
def test_what_does_not_fit_is_refused_in_words(
    name: str, arguments: dict[str, Any], said: list[str], tools: autotool.Tools
) -> None:
    with pytest.raises(autotool.ToolError) as refused:
        tools.call(name, **arguments)
    assert [part for part in said if part not in str(refused.value)] == []
    assert [word for word in ("pydantic", "input_type", "validation error") if word in str(refused.value)] == []


def test_every_schema_is_valid_and_nothing_is_left_out(tools: autotool.Tools) -> None:
    defined = [
        line.split("(")[0].removeprefix("def ")
        for line in MENAGERIE.read_text().splitlines()
        if line.startswith("def ")
    ]
    assert set(defined) | {"calls"} == set(tools.names)
    for name in tools.names:
        jsonschema.Draft202012Validator.check_schema(tools.definition(name)["inputSchema"])
