"""Cleaning of text that leaves: what goes, what stays, and what hostile input costs."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autotool.model import Candidate, Parameter
from autotool.policy import sanitize
from autotool.policy.sanitize import clean, clean_candidate, clean_json

FORBIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff"
    "\ud800-\udfff\U000e0000-\U000e0fff]"
)
ESC, BEL, ST = "\x1b", "\x07", "\x1b\\"


@pytest.mark.parametrize(
    ("text", "left"),
    [
        (f"{ESC}[31mred {ESC}[0m", "red "),
        (f"{ESC}]8;;http://evil{BEL}link{ESC}]8;;{BEL}", "link"),
        (f"{ESC}]0;title{ST}x", "x"),
        ("\x9b31mx", "x"),
        ("\x9d0;title\x9cx", "x"),
        (f"{ESC}P1$r0m{ST}x", "x"),
        (f"{ESC}_hidden{ST}x{ESC}^hidden{ST}y{ESC}Xhidden{ST}z", "xyz"),
        ("a\U000e0041\U000e0042b", "ab"),
        ("\u202egnp.exe", "gnp.exe"),
        ("a\u200bb\ufeffc\u2060d\u2066e\u2069", "abcde"),
        ("a\udce9b", "a\ufffdb"),
        ("\ud83c\udf89", "\ufffd\ufffd"),
        ("a\x00b\x7fc\x85d", "abcd"),
        ("a\n\tb", "a\n\tb"),
        ("a\r\nb\rc", "a\nb\nc"),
        (f"{ESC}[8m hidden {ESC}[28m", " hidden "),
        (f"{ESC}[2J{ESC}[H", ""),
        (f"{ESC}(B{ESC}7x{ESC}c{ESC}#8", "x"),
        (f"{ESC}]never ends", "never ends"),
        (f"a{ESC}", "a"),
        (f"a{ESC}\nb", "a\nb"),
        (f"a{ESC}[", "a"),
        ("pass\u200dword pass\u200cword", "password password"),
        ("\u200dx", "x"),
        (f"\u200b\x00{ESC}[31mred\u200b\x9b0m", "red"),
        ("क\u200d\u200d\u200d", "क\u200d"),
        ("☺\ufe0f\ufe0e\ufe0f", "☺\ufe0f"),
    ],
)
def test_what_nobody_sees_is_removed(text: str, left: str) -> None:
    assert clean(text) == left


KEPT = [
    "مرحبا بالعالم",
    "می‌خواهم",
    "क्‍ष और क्‌ष",
    "👩‍👩‍👧‍👦 👩🏽‍🚀 ❤️‍🔥 🏳️‍🌈",
    "größe — “quoted” naïve\tcol\n",
    "数える 🎉",
    "שלום",
    "",
]


@pytest.mark.parametrize("text", KEPT)
def test_text_that_people_write_stays_as_it_is(text: str) -> None:
    assert clean(text) == text
    for data in (json.dumps([text]).encode(), json.dumps([text], ensure_ascii=False).encode()):
        assert json.loads(clean_json(data)) == [text]


hostile = st.text(
    st.one_of(
        st.sampled_from(
            "\x1b\x1b\x1b[]PX^_\\\x07\x9b\x9c\x9d;0m \r\n\u200d\u200c\u200bक👩\ufe0f\u202e\ufeff\U000e0041"
        ),
        st.characters(codec=None),
        st.characters(categories=["Cs", "Cc", "Cf"]),
    ),
    max_size=60,
)


@given(hostile)
def test_cleaned_text_has_nothing_forbidden_never_grew_and_stays(text: str) -> None:
    cleaned = clean(text)
    assert FORBIDDEN.search(cleaned) is None
    assert len(cleaned) <= len(text)
    assert clean(cleaned) == cleaned


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | hostile,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(hostile, inner, max_size=4),
    max_leaves=12,
)


def cleaned_value(value: object) -> object:
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, list):
        return [cleaned_value(item) for item in value]
    if isinstance(value, dict):
        return {clean(key): cleaned_value(item) for key, item in value.items()}
    return value


@given(json_values, st.booleans())
def test_serialised_json_is_cleaned_in_every_string_and_key(value: object, ascii_only: bool) -> None:
    data = json.dumps(value, ensure_ascii=ascii_only).encode("utf-8", "surrogatepass")
    assert json.loads(clean_json(data)) == cleaned_value(value)


@pytest.mark.parametrize(
    "value",
    [{"a": [1, 2.50, "plain"], "b": {"größe": 'line\nline\ttab \\ " /'}}, "🎉", [], 10**30, "C:\\new"],
)
def test_clean_json_returns_the_same_object_when_nothing_is_suspicious(value: object) -> None:
    data = json.dumps(value, ensure_ascii=False).encode()
    assert clean_json(data) is data


def test_what_stands_outside_strings_stays_byte_for_byte() -> None:
    data = b'{ "a\\u200b" : 1.00e5 , "b":[ 12345678901234567890123,\n"\\u001b[31mx" ] , "c":"C:\\\\rest" }'
    expected = b'{ "a" : 1.00e5 , "b":[ 12345678901234567890123,\n"x" ] , "c":"C:\\\\rest" }'
    assert clean_json(data) == expected


def test_broken_bytes_within_a_string_do_not_end_the_cleaning() -> None:
    assert json.loads(clean_json(b'["\xff\xc2\x9b31mx", "\xed\xb3\xa9"]')) == ["\ufffdx", "\ufffd"]


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("\x1b]" + "a" * 1_000_000, 1_000_000),
        ("\x1b[" * 300_000, 0),
        ("\x1b]" * 300_000, 0),
        ("\x1bP" + "\x1b" * 300_000, 0),
        ("\x1b]x" * 300_000, 300_000),
        (("\x1b" + " " * 1_000) * 1_000, 0),
        ("\x1b[" + "1;" * 500_000, 0),
        ("a\u200d" * 500_000, 500_000),
        ("\r" * 1_000_000, 1_000_000),
        ("\udce9" * 1_000_000, 1_000_000),
    ],
)
@pytest.mark.timeout(20)
def test_hostile_text_is_cleaned_in_linear_time(text: str, left: int) -> None:
    assert len(clean(text)) == left
    assert len(json.loads(clean_json(json.dumps(text).encode()))) == left


TIDY = Candidate(
    key="m:tidy",
    name="tidy",
    qualifier="m",
    title="Tidy",
    description="Tidy a text.",
    input_schema={"type": "object", "properties": {"x": {"type": "string", "description": "the text"}}},
    parameters=(Parameter("x", "x", "positional_or_keyword", True, {"type": "string"}, "the text"),),
)


def test_clean_definitions_stay_as_they_are() -> None:
    assert clean_candidate(TIDY) == TIDY


@pytest.mark.parametrize(
    "dirty",
    [
        replace(TIDY, description="Tidy a text.\U000e0073\U000e0065\x1b[8m\u202e"),
        replace(TIDY, title="Ti\u200bdy"),
        replace(
            TIDY,
            input_schema={
                "type": "object",
                "properties": {"x": {"type": "string", "description": "the\u200b text"}},
            },
        ),
        replace(TIDY, parameters=(replace(TIDY.parameters[0], description="the text\x00"),)),
    ],
)
def test_hidden_characters_in_words_are_removed_with_a_warning_that_names_the_tool(dirty: Candidate) -> None:
    cleaned = clean_candidate(dirty)
    assert replace(cleaned, warnings=()) == TIDY
    assert len(cleaned.warnings) == 1
    assert "`tidy`" in cleaned.warnings[0]


def test_a_choice_that_is_not_clean_is_no_longer_offered() -> None:
    schema = {"properties": {"a": {"enum": ["x", "y\u200b"]}, "b": {"enum": ["\u200b"]}, "c": {"const": "z\x00"}}}
    cleaned = clean_candidate(replace(TIDY, input_schema=schema)).input_schema
    assert cleaned == {"properties": {"a": {"enum": ["x"]}, "b": {}, "c": {}}}


def test_long_words_are_cut_between_words_and_say_so() -> None:
    long = replace(
        TIDY,
        title="t" * 500,
        description="word " * 50_000,
        input_schema={"properties": {"description": {"type": "string", "description": "y" * 100_000}}},
    )
    bounded = clean_candidate(long)
    assert len(bounded.title) <= sanitize.MAX_TITLE
    assert len(bounded.description) <= sanitize.MAX_DESCRIPTION
    assert bounded.description.endswith("word … [cut: 250,000 characters]")
    inner = bounded.input_schema["properties"]["description"]["description"]
    assert len(inner) <= sanitize.MAX_PARAMETER_DESCRIPTION
    assert bounded.warnings == ()
