"""Reviewed help texts: what is read of them, how much of that is right, and what it becomes."""

from __future__ import annotations

import pytest

from autotool.commands.help_page import parse
from benchmarks.helps import Score, scores

SCORES = scores()


def test_options_are_read_with_95_percent_recall_and_98_percent_precision() -> None:
    expected, found, right = (sum(getattr(one, name) for one in SCORES) for name in ("expected", "found", "right"))
    assert len(SCORES) >= 30
    assert right / expected >= 0.95
    assert right / found >= 0.98


@pytest.mark.parametrize("score", SCORES, ids=lambda score: score.page)
def test_each_page_is_read_well_enough(score: Score) -> None:
    assert score.recall >= 0.95, score.wrong
    assert score.precision >= 0.98, score.wrong
    assert score.operands_right


HELP_ITSELF = "  -h, --help     show this\n  --version      print the version\n"


@pytest.mark.parametrize(
    ("line", "flags", "value"),
    [
        ("  -o FILE, --output=FILE   write", ("-o", "--output"), "FILE"),
        ("  -o, --output <file>   write", ("-o", "--output"), "<file>"),
        ("  --color[=WHEN]        when", ("--color",), "WHEN"),
        ("  -j[N], --jobs[=N]     how many", ("-j", "--jobs"), "N"),
        ("  -I<dir>               search", ("-I",), "<dir>"),
        ("  --format string   cobra", ("--format",), "string"),
        ("  -x, --proxy [protocol://]host[:port] Use this", ("-x", "--proxy"), "[protocol://]host[:port]"),
        ("  -D <var>[:<type>]=<value>    = set", ("-D",), "<var>[:<type>]=<value>"),
        ("  --mode {fast,slow}    how", ("--mode",), "{fast,slow}"),
        ("  -v       talk", ("-v",), ""),
        ("  --dry-run only show what would be done", ("--dry-run",), ""),
        ("-c cmd : program", ("-c",), "cmd"),
    ],
)
def test_the_styles_of_entries(line: str, flags: tuple[str, ...], value: str) -> None:
    (option,) = parse(f"Usage: demo [options]\n\nOptions:\n{line}\n{HELP_ITSELF}", ("demo",)).options
    assert option.flags == flags
    assert (option.value.metavar if option.value else "") == value


@pytest.mark.parametrize(
    ("metavar", "said", "kind", "choices"),
    [
        ("N", "", "integer", ()),
        ("<int range> [1<=x<=9]", "", "integer", ()),
        ("decimal", "", "number", ()),
        ("FILE", "", "string", ()),
        ("SIZE", "", "string", ()),
        ("<always|never>", "", "string", ("always", "never")),
        ("<FILE|DIR>", "", "string", ()),
        ("<WHEN>", "Colours [possible values: auto, never]", "string", ("auto", "never")),
        ("WORD", "one of: a, b", "string", ()),
    ],
)
def test_values_are_typed_only_where_that_is_sure(metavar: str, said: str, kind: str, choices: tuple[str, ...]) -> None:
    page = f"Usage: demo [OPTIONS]\n\nOptions:\n  --thing {metavar}  {said}\n{HELP_ITSELF}"
    (option,) = parse(page, ("demo",)).options
    assert option.value is not None
    assert (option.value.type, option.value.choices) == (kind, choices)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "demo: unknown option --help\n",
        "Try 'demo --help' for more.\n",
        "\x00\x01\x02",
        "a" * 100_000,
        "usage:\n\n\n",
    ],
    ids=lambda text: repr(text[:12]),
)
def test_what_says_nothing_is_not_believed(text: str) -> None:
    assert not parse(text, ("demo",)).is_confident
