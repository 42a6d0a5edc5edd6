"""States that pass through a client: good for one call of one caller, for a while, and once."""

from __future__ import annotations

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autotool.policy import states
from autotool.policy.states import Binding, State, StateExpired, StateRefused, States, digest

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)
ARGUMENTS = st.dictionaries(st.text(max_size=4), JSON, max_size=3)


def binding(tool: str = "t", definition: str = "d", caller: str = "c", arguments: object = None) -> Binding:
    return Binding(tool, definition, caller, digest(arguments))


@given(arguments=ARGUMENTS, other=ARGUMENTS)
def test_no_approval_is_accepted_for_other_arguments(arguments: object, other: object) -> None:
    made = States(300)
    text = made.dump(binding(arguments=arguments), State(approved=True))
    if digest(arguments) == digest(other):
        assert made.load(text, binding(arguments=other)).approved
    else:
        with pytest.raises(StateRefused, match="other arguments"):
            made.load(text, binding(arguments=other))


@given(field=st.sampled_from(["tool", "definition", "caller"]), value=st.text(min_size=1, max_size=6))
def test_no_approval_is_accepted_for_another_tool_or_caller(field: str, value: str) -> None:
    made = States(300)
    own = binding()
    text = made.dump(own, State(approved=True))
    foreign = dataclasses.replace(own, **{field: getattr(own, field) + value})
    with pytest.raises(StateRefused):
        made.load(text, foreign)
    assert made.load(text, own).approved


@given(age=st.floats(0, 2000, allow_nan=False), ttl=st.integers(1, 1000))
def test_no_approval_is_accepted_late(age: float, ttl: int) -> None:
    made = States(ttl)
    before = states.clock
    try:
        states.clock = lambda: 1_000_000.0
        text = made.dump(binding(), State(approved=True))
        states.clock = lambda: 1_000_000.0 + age
        if age > ttl:
            with pytest.raises(StateExpired):
                made.load(text, binding())
        else:
            assert made.load(text, binding()).approved
    finally:
        states.clock = before


@given(place=st.integers(0, 400), letter=st.sampled_from("Aa0-_."))
def test_no_altered_state_is_accepted(place: int, letter: str) -> None:
    made = States(300)
    text = made.dump(binding(), State(answers={"a": {"action": "accept"}}, approved=True))
    place %= len(text)
    altered = text[:place] + letter + text[place + 1 :]
    if altered != text:
        with pytest.raises(StateRefused):
            made.load(altered, binding())


def test_a_state_counts_once() -> None:
    made = States(300)
    text = made.dump(binding(), State())
    made.load(text, binding())
    with pytest.raises(StateRefused, match="used before"):
        made.load(text, binding())


def test_a_state_of_another_key_is_refused_and_of_the_same_key_is_not() -> None:
    text = States(300, b"k" * 32).dump(binding(), State(approved=True))
    assert States(300, b"k" * 32).load(text, binding()).approved
    with pytest.raises(StateRefused):
        States(300, b"l" * 32).load(text, binding())


def test_the_order_of_names_does_not_matter() -> None:
    assert digest({"a": 1, "b": [1, {"c": 2, "d": 3}]}) == digest({"b": [1, {"d": 3, "c": 2}], "a": 1})
    assert digest({"a": 1}) != digest({"a": True})
    assert digest([1, 2]) != digest([2, 1])
