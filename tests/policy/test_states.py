"""States that pass through a client: good for one call of one caller, for a while, and once."""

from __future__ import annotations

import asyncio
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


def dumped(made: States, own: Binding, state: State) -> str:
    return asyncio.run(made.dump(own, state))


def loaded(made: States, text: str, own: Binding) -> State:
    return asyncio.run(made.load(text, own))


@given(arguments=ARGUMENTS, other=ARGUMENTS)
def test_no_approval_is_accepted_for_other_arguments(arguments: object, other: object) -> None:
    made = States(300)
    text = dumped(made, binding(arguments=arguments), State(approved=True))
    if digest(arguments) == digest(other):
        assert loaded(made, text, binding(arguments=other)).approved
    else:
        with pytest.raises(StateRefused, match="other arguments"):
            loaded(made, text, binding(arguments=other))


@given(field=st.sampled_from(["tool", "definition", "caller"]), value=st.text(min_size=1, max_size=6))
def test_no_approval_is_accepted_for_another_tool_or_caller(field: str, value: str) -> None:
    made = States(300)
    own = binding()
    text = dumped(made, own, State(approved=True))
    foreign = dataclasses.replace(own, **{field: getattr(own, field) + value})
    with pytest.raises(StateRefused):
        loaded(made, text, foreign)
    assert loaded(made, text, own).approved


@given(age=st.floats(0, 2000, allow_nan=False), ttl=st.integers(1, 1000))
def test_no_approval_is_accepted_late(age: float, ttl: int) -> None:
    made = States(ttl)
    before = states.clock
    try:
        states.clock = lambda: 1_000_000.0
        text = dumped(made, binding(), State(approved=True))
        states.clock = lambda: 1_000_000.0 + age
        if age > ttl:
            with pytest.raises(StateExpired):
                loaded(made, text, binding())
        else:
            assert loaded(made, text, binding()).approved
    finally:
        states.clock = before


@given(place=st.integers(0, 400), letter=st.sampled_from("Aa0-_."))
def test_no_altered_state_is_accepted(place: int, letter: str) -> None:
    made = States(300)
    text = dumped(made, binding(), State(answers={"a": {"action": "accept"}}, approved=True))
    place %= len(text)
    altered = text[:place] + letter + text[place + 1 :]
    if altered != text:
        with pytest.raises(StateRefused):
            loaded(made, altered, binding())


def test_a_state_counts_once() -> None:
    made = States(300)
    text = dumped(made, binding(), State())
    loaded(made, text, binding())
    with pytest.raises(StateRefused, match="used before"):
        loaded(made, text, binding())


def test_a_used_state_is_not_accepted_after_the_clock_was_set_back() -> None:
    made = States(300)
    before = states.clock
    try:
        states.clock = lambda: 1_000_000.0
        text = dumped(made, binding(), State(approved=True))
        loaded(made, text, binding())
        for moved in (3600.0, -3600.0):
            states.clock = lambda by=moved: 1_000_000.0 + by
            with pytest.raises(StateRefused):
                loaded(made, text, binding())
    finally:
        states.clock = before


def test_a_state_of_another_key_is_refused_and_of_the_same_key_is_not() -> None:
    text = dumped(States(300, b"k" * 32), binding(), State(approved=True))
    assert loaded(States(300, b"k" * 32), text, binding()).approved
    with pytest.raises(StateRefused):
        loaded(States(300, b"l" * 32), text, binding())


def test_the_order_of_names_does_not_matter() -> None:
    assert digest({"a": 1, "b": [1, {"c": 2, "d": 3}]}) == digest({"b": [1, {"d": 3, "c": 2}], "a": 1})
    assert digest({"a": 1}) != digest({"a": True})
    assert digest([1, 2]) != digest([2, 1])
