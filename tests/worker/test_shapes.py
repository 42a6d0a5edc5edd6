"""What a returned value becomes: the text, and the structured content that agrees with it."""

from __future__ import annotations

import array
import asyncio
import base64
import collections
import dataclasses
import datetime
import decimal
import enum
import fractions
import io
import ipaddress
import json
import math
import os
import pathlib
import re
import subprocess
import types
import uuid
from typing import Any, NamedTuple

import attrs
import numpy
import pandas
import polars
import pydantic
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autotool.model import Outcome
from autotool.schema.conformity import mismatch
from autotool.schema.results import result_type
from autotool.worker import results

ANY = result_type(Any)


class Shade(enum.Enum):
    DARK = "d"


class Pair(NamedTuple):
    x: int
    y: str


@dataclasses.dataclass
class Box:
    w: int
    inner: Pair


@attrs.define
class Crate:
    size: int


class Model(pydantic.BaseModel):
    name: str
    at: datetime.date


class Plain:
    def __init__(self) -> None:
        self.id = 7
        self._secret = "hidden"
        self.method = print


class Spoken:
    def __str__(self) -> str:
        return "spoken"


class Broken:
    def __repr__(self) -> str:
        raise RuntimeError("no repr")


def strict(data: bytes) -> Any:
    def refuse(word: str) -> Any:
        raise ValueError(word)

    return json.loads(data.decode("utf-8"), parse_constant=refuse)


def shaped(value: Any, annotation: Any = Any, **options: Any) -> Outcome:
    settled = asyncio.run(results.settle(value))
    return results.shape(settled, result_type(annotation), **{"max_output_bytes": 256_000, **options})


def text_of(outcome: Outcome) -> str:
    (block,) = [block for block in strict(outcome.content) if block["type"] == "text"]
    return block["text"]


def items(count: int) -> Any:
    yield from range(count)


async def later(count: int) -> Any:
    for number in range(count):
        yield number


AS_DATA = [
    ("text", "text"), ("", ""), (5, 5), (2.5, 2.5), (True, True), (None, None), ([], []), ([1, [2]], [1, [2]]), ({"a": None}, {"a": None}),
    ((1, 2), [1, 2]), ({3, 1, 2}, [1, 2, 3]), (frozenset("ba"), ["a", "b"]), (collections.deque([1]), [1]), (range(3), [0, 1, 2]),
    (Pair(1, "y"), {"x": 1, "y": "y"}), (Box(2, Pair(1, "y")), {"w": 2, "inner": {"x": 1, "y": "y"}}), (Crate(3), {"size": 3}),
    (Model(name="n", at=datetime.date(2024, 5, 1)), {"name": "n", "at": "2024-05-01"}), (Shade.DARK, "d"), (Plain(), {"id": 7}), (Spoken(), "spoken"),
    (datetime.datetime(2024, 5, 1, 10), "2024-05-01T10:00:00"), (datetime.timedelta(minutes=5), "PT5M"), (decimal.Decimal("1.10"), "1.10"),
    (fractions.Fraction(1, 3), "1/3"), (uuid.UUID(int=1), "00000000-0000-0000-0000-000000000001"), (pathlib.PurePosixPath("/a"), "/a"),
    (1 + 2j, "1+2j"), (ipaddress.ip_address("::1"), "::1"), (re.match("(a)b", "ab"), {"match": "ab", "groups": ["a"], "named": {}, "span": [0, 2]}),
    (re.compile("a+"), "a+"), (array.array("i", [1, 2]), [1, 2]), (types.MappingProxyType({"a": 1}), {"a": 1}), (collections.Counter("aab"), {"a": 2, "b": 1}),
    (types.SimpleNamespace(a=1), {"a": 1}), (ValueError("wrong"), "ValueError: wrong"), (int, "builtins.int"), (json, "json"), (len, "builtins.len"),
    ({1: "a", Shade.DARK: 2, (1, 2): 3, None: 4}, {"1": "a", "d": 2, "1,2": 3, "null": 4}),
    ({1: "number", "1": "text"}, {"1": "number", "1_": "text"}), (items(3), [0, 1, 2]), (later(3), [0, 1, 2]), (iter([1]), [1]), ({"a": 1}.keys(), ["a"]),
    (math.nan, None), ([math.inf, 1.5], [None, 1.5]), ("caf\udce9", "caf\ufffd"), ({"\ud800": "\udfff"}, {"\ufffd": "\ufffd"}),
    ({"k": b"\xff\x00"}, {"k": "/wA="}), (b"hello", "hello"), (io.StringIO("in a file"), "in a file"), (io.BytesIO(b"bytes"), "bytes"),
    (numpy.int64(3), 3), (numpy.float64("nan"), None), (numpy.array([[1, 2], [3, 4]]), [[1, 2], [3, 4]]), ({"a": numpy.bool_(True)}, {"a": True}),
    ([numpy.array([1.5])], [[1.5]]), (pandas.Series([1, 2]), [1, 2]), (pandas.Series({"a": 1}), {"a": 1}), (pandas.Timestamp("2024-05-01"), "2024-05-01T00:00:00"),
    (pandas.NaT, None), (polars.Series([1, 2]), [1, 2]), (subprocess.CompletedProcess(["x"], 0, "out"), None), (os.stat_result(range(10)), None),
]  # fmt: skip


@pytest.mark.parametrize(("value", "wanted"), AS_DATA, ids=lambda value: type(value).__name__)
def test_values_as_data(value: Any, wanted: Any) -> None:
    outcome = shaped(value)
    assert not outcome.is_error, outcome.content
    assert outcome.structured is not None
    data = strict(outcome.structured)
    if wanted is not None or value is None or value is pandas.NaT:
        assert data == wanted
    text = text_of(outcome)
    assert text == data if isinstance(data, str) else strict(text.encode()) == data
    assert "0x" not in text


@pytest.mark.parametrize(
    ("value", "kind", "mime"),
    [
        (b"\x89PNG\r\n\x1a\n" + bytes(8), "image", "image/png"), (b"\xff\xd8\xff" + bytes(8), "image", "image/jpeg"),
        (b"RIFF\x00\x00\x00\x00WAVE", "audio", "audio/wav"), (b"\x00\x01\xff", "resource", "application/octet-stream"),
    ],
)  # fmt: skip
def test_bytes_that_are_no_text_travel_as_they_are(value: bytes, kind: str, mime: str) -> None:
    words, block = strict(shaped(value).content)
    assert words["type"] == "text"
    assert block["type"] == kind
    carrier = block["resource"] if kind == "resource" else block
    assert carrier["mimeType"] == mime
    assert base64.b64decode(carrier.get("data") or carrier.get("blob")) == value


def test_pictures_are_png() -> None:
    import matplotlib as mpl
    from PIL import Image

    mpl.use("Agg")
    from matplotlib.figure import Figure

    for picture in (Image.new("RGB", (2, 2)), Image.new("CMYK", (2, 2)), Figure(figsize=(1, 1))):
        _, block = strict(shaped(picture).content)
        assert (block["type"], block["mimeType"]) == ("image", "image/png")
        assert base64.b64decode(block["data"]).startswith(b"\x89PNG")


@pytest.mark.parametrize("library", [pandas, polars])
def test_frames_are_a_bounded_table_and_records(library: Any) -> None:
    outcome = shaped(library.DataFrame({"a": list(range(3000)), "b": ["x"] * 3000}))
    assert text_of(outcome).startswith("3000 rows × 2 columns\n")
    assert len(text_of(outcome)) < 5_000
    assert outcome.truncated
    assert outcome.structured is not None
    assert strict(outcome.structured)[1] == {"a": 1, "b": "x"}


def test_content_that_a_function_made_for_mcp_passes_through() -> None:
    import mcp_types

    made = mcp_types.TextContent(type="text", text="made")
    assert strict(shaped(made).content) == [{"type": "text", "text": "made"}]
    assert strict(shaped([made, made]).content) == [{"type": "text", "text": "made"}] * 2
    whole = shaped(mcp_types.CallToolResult(content=[made], structured_content={"a": 1}, is_error=True))
    assert (whole.is_error, whole.structured) == (True, b'{"a":1}')


def test_an_endless_generator_is_cut_and_says_so() -> None:
    def forever() -> Any:
        while True:
            yield 1

    outcome = shaped(forever())
    assert outcome.truncated
    assert "10000 items were taken" in text_of(outcome)


def test_long_text_keeps_head_and_tail() -> None:
    text = text_of(shaped("\n".join(f"line {n}" for n in range(50_000)), max_output_bytes=10_000))
    assert len(text) < 10_300
    assert text.startswith("line 0\n")
    assert text.endswith("line 49999")
    assert "truncated" in text


def test_a_long_list_is_cut_by_items_and_says_how_many_there_are() -> None:
    outcome = shaped([{"i": i, "pad": "x" * 100} for i in range(50_000)])
    text = text_of(outcome)
    assert len(text) <= 110_000
    assert "of 50000 items" in text
    assert outcome.structured is not None
    assert len(outcome.structured) <= results.MAX_STRUCTURED_BYTES
    kept = strict(outcome.structured)
    assert kept[-1]["i"] == len(kept) - 1


def test_integers_beyond_what_javascript_keeps_are_text_unless_a_schema_promises_numbers() -> None:
    assert strict(shaped({"id": 2**60}).structured or b"") == {"id": str(2**60)}
    outcome = shaped({"id": 2**60}, dict[str, int])
    assert strict(outcome.structured or b"") == {"id": 2**60}
    assert text_of(outcome) == f'{{"id":"{2**60}"}}'


def cycle() -> Any:
    found: dict[str, Any] = {"name": "a"}
    found["self"] = [found]
    return found


def nested() -> Any:
    value: Any = 1
    for _ in range(10_000):
        value = [value]
    return value


@pytest.mark.parametrize(("make", "said"), [(cycle, "$.self[0] refers back to $"), (nested, "nested more than")])
def test_what_has_no_end_is_an_error_that_names_the_place(make: Any, said: str) -> None:
    outcome = shaped(make())
    assert outcome.is_error
    assert said in text_of(outcome)


def test_a_result_that_its_annotation_excludes_is_an_error_with_the_value() -> None:
    outcome = shaped("about 12", int)
    assert outcome.is_error
    assert "about 12" in text_of(outcome)
    assert "integer" in text_of(outcome)


def test_what_was_printed_is_the_answer_of_a_function_that_returns_nothing() -> None:
    assert text_of(shaped(None, type(None), captured="total: 42\n")) == "total: 42\n"
    assert text_of(shaped(None)) == "null"


def test_a_repr_that_fails_costs_nothing_else() -> None:
    assert text_of(shaped([1, Broken()])) == '[1,"<Broken>"]'


class Unspeakable(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no words")


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (ValueError("bad"), "ValueError: bad"), (ValueError(), "ValueError"), (KeyError("7"), "KeyError: '7'"), (Unspeakable(), "Unspeakable: (its message cannot be read)"),
        (SystemExit(3), "sys.exit(3)"), (FileNotFoundError(2, "No such file", "a.txt"), "a.txt"), (ExceptionGroup("two", [ValueError("a"), KeyError("b")]), "  - KeyError: 'b'"),
        (RuntimeError("x" * 100_000), "(cut)"),
    ],
    ids=lambda value: type(value).__name__,
)  # fmt: skip
def test_failures_in_words(error: BaseException, said: str) -> None:
    outcome = results.failure(error)
    assert outcome.is_error
    assert said in text_of(outcome)
    assert "Traceback" not in text_of(outcome)
    assert len(text_of(outcome)) < 10_000


SCHEMAS = [
    (int, {"type": "integer"}), (str, {"type": "string"}), (float, {"anyOf": [{"type": "number"}, {"type": "null"}]}), (list[int], {"type": "array", "items": {"type": "integer"}}),
    (dict[str, bool], {"type": "object", "additionalProperties": {"type": "boolean"}}), (Any, None), (None, None), (bytes, None), (pandas.DataFrame, None),
    (Pair, {"type": "object", "properties": {"x": {"type": "integer"}, "y": {"type": "string"}}, "required": ["x", "y"]}), (Shade, {"enum": ["d"]}), (Plain, None),
]  # fmt: skip


@pytest.mark.parametrize(("annotation", "schema"), SCHEMAS, ids=lambda value: str(value)[:30])
def test_a_schema_is_published_only_where_the_result_keeps_it(annotation: Any, schema: Any) -> None:
    assert result_type(annotation).json_schema == schema


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary(max_size=9) | st.dates() | st.decimals() | st.uuids() | st.complex_numbers(),
    lambda below: st.lists(below, max_size=4) | st.dictionaries(st.text() | st.integers() | st.dates(), below, max_size=4) | st.tuples(below, below),
    max_leaves=12,
)  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(_VALUES)
def test_any_value_is_strict_json_that_agrees_with_its_text(value: Any) -> None:
    outcome = shaped(value)
    content = strict(outcome.content)
    assert content
    if outcome.structured is not None and not outcome.truncated:
        data = strict(outcome.structured)
        text = content[0]["text"]
        assert text == data if isinstance(data, str) else strict(text.encode()) == data or isinstance(data, int)


@settings(max_examples=100, deadline=None)
@given(st.dictionaries(st.text(max_size=3), st.integers() | st.floats(), max_size=4))
def test_structured_content_matches_its_schema(value: dict[str, Any]) -> None:
    promised = result_type(dict[str, float])
    assert promised.json_schema is not None
    outcome = results.shape(value, promised, max_output_bytes=1000)
    assert outcome.structured is not None
    assert mismatch(strict(outcome.structured), promised.json_schema) == ""
