"""Counting in memory: exact, by a clock that is not set back, and bounded."""

from __future__ import annotations

import asyncio
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from limits import parse

from autotool.errors import ConfigError
from autotool.policy.limits import RateLimits, Rates, rate
from autotool.policy.windows import MemoryWindows


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def hit(windows: MemoryWindows, words: str = "10/minute", key: str = "k") -> float:
    return asyncio.run(windows.hit(parse(words), key))


@given(steps=st.lists(st.tuples(st.integers(0, 40), st.integers(1, 8)), max_size=30))
def test_a_window_of_any_place_holds_no_more_than_the_limit(steps: list[tuple[int, int]]) -> None:
    clock = Clock()
    windows = MemoryWindows(clock=clock)
    admitted: list[float] = []
    for later, calls in steps:
        clock.now += later
        for _ in range(calls):
            wait_s = hit(windows, "5/minute")
            lately = [one for one in admitted if one > clock.now - 60]
            assert (wait_s == 0.0) == (len(lately) < 5)
            if wait_s:
                assert wait_s == lately[-5] + 60 - clock.now
            else:
                admitted.append(clock.now)


def test_after_the_wait_that_was_told_one_more_is_admitted() -> None:
    clock = Clock()
    windows = MemoryWindows(clock=clock)
    for _ in range(10):
        assert hit(windows) == 0.0
        clock.now += 1
    clock.now += hit(windows)
    assert [hit(windows) == 0.0 for _ in range(2)] == [True, False]


def test_many_keys_take_bounded_memory() -> None:
    """S39: 1e5 keys."""
    windows = MemoryWindows()
    limit = parse("600/minute")

    async def fill() -> None:
        for number in range(100_000):
            await windows.hit(limit, f"caller {number}")

    asyncio.run(fill())
    kept = windows._windows
    assert len(kept) == 50_000
    per_key = sum(sys.getsizeof(one) + sys.getsizeof(one.times) for one in list(kept.values())[:100]) / 100
    assert per_key < 300


def test_a_long_run_keeps_only_what_the_window_holds() -> None:
    clock = Clock()
    windows = MemoryWindows(clock=clock)
    for _ in range(20_000):
        clock.now += 1
        hit(windows, "50/minute")
    assert len(windows._windows["k"].times) < 300


def test_what_is_refused_for_its_tool_takes_nothing_from_the_others() -> None:
    async def counted() -> list[bool]:
        limits = RateLimits(Rates("2/minute", "", "3/minute"))
        return [await limits.tool_wait_s(*one) == 0.0 for one in [("a", "t")] * 9 + [("b", "t")] * 2]

    assert asyncio.run(counted()) == [True, True] + [False] * 7 + [True, False]


@pytest.mark.parametrize("words", ["fast", "10", "10/fortnight", "-1/minute"])
def test_what_is_no_rate_is_refused(words: str) -> None:
    with pytest.raises(ConfigError, match="is not a rate"):
        rate(words)
