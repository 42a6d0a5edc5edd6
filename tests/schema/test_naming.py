"""Names: the house rules and the acceptance cases of kind naming."""

from __future__ import annotations

import random
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autotool.schema import naming

TOOL = re.compile(r"^[A-Za-z][A-Za-z0-9_-]{0,63}\Z")
PARAMETER = re.compile(r"^[A-Za-z0-9_.-]{1,64}\Z")


@pytest.mark.parametrize(
    ("name", "cleaned"),
    [
        ("fetch_row", "fetch_row"),
        ("print_", "print_"),
        ("read-file", "read-file"),
        ("users.list", "users_list"),
        ("read file", "read_file"),
        ("a/b", "a_b"),
        ("git:commit", "git_commit"),
        ("a,b", "a_b"),
        ("drop\ttable", "drop_table"),
        ("größe", "gr_e"),
        ("émoji🎉", "moji"),
        ("__call__", "call"),
        ("./app.sh", "app_sh"),
        ("/usr/bin/app", "usr_bin_app"),
        ("2fa", "tool_2fa"),
        ("<lambda>", "lambda"),
        ("load\n", "load"),
        ("x" * 64, "x" * 64),
    ],
)
def test_a_name_is_cleaned_by_the_house_rules(name: str, cleaned: str) -> None:
    assert naming.clean(name) == cleaned


@pytest.mark.parametrize("name", ["数える", "", "___", "🎉", "\udce9"])
def test_a_name_without_legal_characters_becomes_tool_and_a_hash(name: str) -> None:
    assert re.fullmatch(r"tool_[0-9a-f]{8}", naming.clean(name))


def test_a_long_name_is_cut_and_stays_distinct() -> None:
    long, longer = "fetch_" + "a" * 70, "fetch_" + "a" * 70 + "_by_day"
    assert naming.clean(long) != naming.clean(longer)
    assert len(naming.clean(long)) == len(naming.clean(longer)) == 64


@given(st.text())
def test_any_text_becomes_a_legal_name_that_stays_as_it_is(name: str) -> None:
    cleaned = naming.clean(name)
    assert TOOL.match(cleaned)
    assert naming.clean(cleaned) == cleaned


@given(st.lists(st.text(max_size=80), unique=True, max_size=8))
def test_any_parameter_names_become_legal_and_distinct(names: list[str]) -> None:
    wire = naming.wire_parameter_names(names)
    assert all(PARAMETER.match(name) for name in wire)
    assert len(set(wire)) == len(names)


@pytest.mark.parametrize(
    ("name", "wire"),
    [
        ("flt", "flt"),
        ("_x", "_x"),
        ("user.name", "user.name"),
        ("X-Token", "X-Token"),
        ("$filter", "filter"),
        ("größe", "gr_e"),
        ("a b", "a_b"),
    ],
)
def test_a_parameter_name_is_cleaned_only_where_clients_refuse_it(name: str, wire: str) -> None:
    assert naming.wire_parameter_name(name) == wire


def test_parameter_names_that_would_meet_are_told_apart_and_the_legal_one_stays() -> None:
    names = naming.wire_parameter_names(["größe", "grüße", "gr_e", "$filter"])
    assert names[2:] == ("gr_e", "filter")
    assert len(set(names)) == 4


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("fetch_row", "Fetch row"),
        ("parseHTML", "Parse HTML"),
        ("loadJSONFile", "Load JSON file"),
        ("users.list", "Users list"),
        ("urlopen", "Urlopen"),
        ("B", "B"),
        ("get2DArray", "Get2D array"),
        ("größe_lesen", "Größe lesen"),
        ("__", "__"),
    ],
)
def test_titles_read_like_words(name: str, title: str) -> None:
    assert naming.title(name) == title


def names_of(*wanted: tuple[str, str, str]) -> dict[str, str]:
    """The assigned name of each key."""
    names, _ = naming.assign(wanted)
    return {key: name for (_, _, key), name in zip(wanted, names, strict=True)}


def test_one_name_from_two_modules_is_qualified_on_both() -> None:
    names, warnings = naming.assign([("load", "alpha", "alpha:load"), ("load", "beta", "beta:load")])
    assert names == ("alpha_load", "beta_load")
    assert len(warnings) == 1
    assert "`load`" in warnings[0]
    assert "alpha:load" in warnings[0]


def test_only_as_much_of_the_module_name_is_used_as_tells_them_apart() -> None:
    assert names_of(("load", "pkg.alpha", "pkg.alpha:load"), ("load", "pkg.beta", "pkg.beta:load")) == {
        "pkg.alpha:load": "alpha_load",
        "pkg.beta:load": "beta_load",
    }
    assert names_of(("load", "a.io", "a.io:load"), ("load", "b.io", "b.io:load")) == {
        "a.io:load": "a_io_load",
        "b.io:load": "b_io_load",
    }


def test_methods_of_one_name_in_one_module_are_told_apart_by_their_class() -> None:
    assert names_of(("run", "jobs", "jobs:A.run"), ("run", "jobs", "jobs:B.run")) == {
        "jobs:A.run": "A_run",
        "jobs:B.run": "B_run",
    }


def test_a_legal_name_keeps_its_spelling_where_cleaned_ones_meet_it() -> None:
    names = names_of(
        ("read.file", "m", "m:1"),
        ("read/file", "m", "m:2"),
        ("read_file", "m", "m:3"),
    )
    assert names["m:3"] == "read_file"
    assert len(set(names.values())) == 3


def test_a_qualified_name_never_takes_the_name_of_another_tool() -> None:
    names = names_of(
        ("load", "alpha", "alpha:load"),
        ("load", "beta", "beta:load"),
        ("alpha_load", "gamma", "gamma:alpha_load"),
    )
    assert names["gamma:alpha_load"] == "alpha_load"
    assert len(set(names.values())) == 3


def test_command_words_join_without_ambiguity() -> None:
    names = names_of(
        ("app db-up", "", "1"),
        ("app db up", "", "2"),
        ("app db_up", "", "3"),
        ("[ x", "", "4"),
        ("./app.sh", "", "5"),
    )
    assert len(set(names.values())) == 5
    assert all(TOOL.match(name) for name in names.values())


name_parts = st.sampled_from(["load", "lo.ad", "lo_ad", "lo/ad", "a_load", "b_load", "a", "数", "x" * 70])
qualifiers = st.sampled_from(["a", "b", "p.a", "q.a", ""])


@given(st.lists(st.tuples(name_parts, qualifiers), max_size=12), st.randoms(use_true_random=False))
def test_names_are_legal_unique_and_the_same_whatever_the_order(
    parts: list[tuple[str, str]], shuffler: random.Random
) -> None:
    wanted = [(name, qualifier, f"{qualifier}:{name}#{i}") for i, (name, qualifier) in enumerate(parts)]
    shuffled = wanted[:]
    shuffler.shuffle(shuffled)
    names = names_of(*wanted)
    assert names == names_of(*shuffled)
    assert len(set(names.values())) == len(wanted)
    assert all(TOOL.match(name) for name in names.values())
