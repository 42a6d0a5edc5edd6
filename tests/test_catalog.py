"""The catalog: names, order, look-up, and a version that changes with what clients are told."""

from __future__ import annotations

from dataclasses import replace

import pytest

from autotool.catalog import Catalog
from autotool.model import Candidate, Hints, Refusal


def candidate(name: str, module: str = "m", **more: object) -> Candidate:
    values: dict[str, object] = {
        "title": name,
        "description": f"Does {name}.",
        "input_schema": {"type": "object"},
    }
    return Candidate(key=f"{module}:{name}", name=name, qualifier=module, **(values | more))  # type: ignore[arg-type]


def test_tools_stand_in_the_order_of_the_targets() -> None:
    catalog = Catalog.build([candidate("zeta"), candidate("alpha"), candidate("mid")])
    assert [tool.name for tool in catalog.tools] == ["zeta", "alpha", "mid"]


def test_a_callable_named_by_two_targets_is_offered_once() -> None:
    catalog = Catalog.build([candidate("a"), candidate("b"), candidate("a")])
    assert [tool.name for tool in catalog.tools] == ["a", "b"]


def test_tools_are_found_by_exact_name_only() -> None:
    catalog = Catalog.build([candidate("load", "alpha"), candidate("load", "beta")])
    found = catalog.find("beta_load")
    assert found is not None
    assert found.candidate.key == "beta:load"
    assert catalog.find("load") is None
    assert catalog.find("Beta_load") is None
    assert catalog.find("beta_load ") is None


@pytest.mark.parametrize(
    ("wrong", "first"),
    [
        ("fetch_rwo", "fetch_row"),
        ("FETCH-ROW", "fetch_row"),
        ("fetch_row ", "fetch_row"),
        ("mena", "mean"),
        ("median_lo", "median_low"),
    ],
)
def test_the_nearest_names_begin_with_the_one_that_was_meant(wrong: str, first: str) -> None:
    names = ["mean", "median", "median_low", "median_high", "fetch_row", "drop"]
    assert Catalog.build([candidate(name) for name in names]).nearest(wrong)[0] == first


def test_nothing_is_near_to_nonsense() -> None:
    catalog = Catalog.build([candidate("mean"), candidate("median")])
    assert catalog.nearest("qqqqqqqq") == ()
    assert catalog.nearest("x" * 100_000) == ()
    assert Catalog().nearest("mean") == ()


def test_warnings_name_the_tool_and_the_clashing_names() -> None:
    catalog = Catalog.build(
        [
            candidate("load", "alpha", warnings=("It has no docstring.",)),
            candidate("load", "beta"),
            candidate("save", warnings=("`save` has no docstring.",)),
        ]
    )
    clash, own, other = catalog.warnings
    assert "`load`" in clash
    assert own == "`alpha_load`: It has no docstring."
    assert other == "`save` has no docstring."


def test_a_selection_keeps_names_order_and_refusals() -> None:
    catalog = Catalog.build(
        [candidate("load", "alpha"), candidate("x"), candidate("load", "beta")],
        [Refusal("m:y", "no signature")],
    )
    chosen = catalog.select(lambda tool: tool.candidate.name == "load")
    assert [tool.name for tool in chosen.tools] == ["alpha_load", "beta_load"]
    assert chosen.refusals == catalog.refusals
    assert chosen.find("x") is None
    assert catalog.find("x") is not None


BASE = candidate("a")


@pytest.mark.parametrize(
    "changed",
    [
        replace(BASE, title="A!"),
        replace(BASE, description="Does a!"),
        replace(BASE, input_schema={"type": "object", "properties": {}}),
        replace(BASE, output_schema={"type": "string"}),
        replace(BASE, hints=Hints(read_only=True, destructive=False)),
        replace(BASE, name="b"),
    ],
)
def test_the_version_changes_with_whatever_clients_are_told(changed: Candidate) -> None:
    assert Catalog.build([changed]).version != Catalog.build([BASE]).version


def test_the_version_does_not_depend_on_where_the_code_lies_or_how_schemas_were_written() -> None:
    one = replace(BASE, input_schema={"a": 1, "b": 2}, file="/x/m.py", line=3)
    other = replace(BASE, input_schema={"b": 2, "a": 1}, file="/y/m.py", line=9)
    assert Catalog.build([one]).version == Catalog.build([other]).version


def test_of_many_like_names_the_nearest_is_still_found() -> None:
    catalog = Catalog.build([candidate(f"fetch_row_{number}") for number in range(3_000)])
    assert catalog.nearest("fetch_row_27x1")[0] in {"fetch_row_271", "fetch_row_2711", "fetch_row_2701"}


def test_odd_values_in_schemas_do_not_end_the_version() -> None:
    odd = replace(BASE, input_schema={"default": float("nan"), "title": "\udce9", "x": object})
    assert Catalog.build([odd]).version
