"""Whatever a signature looks like: arguments that its schema admits reach the function, unchanged in value and place."""

from __future__ import annotations

import inspect
import json
from typing import Any, Literal

import jsonschema
from hypothesis import given, settings
from hypothesis import strategies as st

from autotool.errors import ArgumentError
from autotool.sources.functions import bound_tool
from autotool.sources.members import Member
from autotool.worker.binding import bind

_TYPES: list[tuple[Any, Any]] = [
    (int, 3), (str, "x"), (bool, True), (float, 1.5), (list[int], [1]), (list[str], []), (dict[str, int], {"a": 1}), (int | None, None),
    (str | None, "y"), (Literal["a", "b"], "a"), (Literal[1, 2], 2), (int | str, "z"), (list[list[int]], [[1]]), (Any, None), (inspect.Parameter.empty, None),
]  # fmt: skip
_KINDS = [
    inspect.Parameter.POSITIONAL_ONLY,
    inspect.Parameter.POSITIONAL_OR_KEYWORD,
    inspect.Parameter.VAR_POSITIONAL,
    inspect.Parameter.KEYWORD_ONLY,
    inspect.Parameter.VAR_KEYWORD,
]
_NAMES = [
    "a",
    "b",
    "self",
    "cls",
    "ctx",
    "model_config",
    "schema",
    "json",
    "_x",
    "name",
    "arguments",
    "größe",
    "class_",
    "type",
    "properties",
]


_ANYTHING = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=5),
    lambda below: st.lists(below, max_size=3) | st.dictionaries(st.text(max_size=3), below, max_size=3),
    max_leaves=5,
)


def values(schema: Any) -> st.SearchStrategy[Any]:
    """Values that a schema admits."""
    if schema is True or not set(schema) - {"default", "description"}:
        return _ANYTHING
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    if "anyOf" in schema:
        return st.one_of([values(arm) for arm in schema["anyOf"]])
    if schema["type"] == "array":
        return st.lists(values(schema["items"]), max_size=3)
    if schema["type"] == "object":
        return st.dictionaries(st.text(max_size=3), values(schema["additionalProperties"]), max_size=3)
    return {
        "string": st.text(max_size=5),
        "integer": st.integers(-(2**70), 2**70),
        "number": st.floats(allow_nan=False, allow_infinity=False),
        "boolean": st.booleans(),
        "null": st.none(),
    }[schema["type"]]


@st.composite
def arguments(draw: st.DrawFn, schema: dict[str, Any]) -> dict[str, Any]:
    """An object that an input schema admits."""
    required = schema.get("required", [])
    chosen = [name for name in schema["properties"] if name in required or draw(st.booleans())]
    given = {name: draw(values(schema["properties"][name])) for name in chosen}
    if schema["additionalProperties"] is not False:
        for name in draw(st.lists(st.sampled_from(["extra", "more"]), unique=True)):
            given[name] = draw(values(schema["additionalProperties"]))
    return given


@st.composite
def signatures(draw: st.DrawFn) -> inspect.Signature:
    names = draw(st.lists(st.sampled_from(_NAMES), unique=True, max_size=6))
    kinds = sorted(draw(st.lists(st.sampled_from(_KINDS), min_size=len(names), max_size=len(names))))
    parameters: list[inspect.Parameter] = []
    optional = False
    for name, kind in zip(names, kinds, strict=True):
        if kind in (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD) and any(
            p.kind == kind for p in parameters
        ):
            continue
        annotation, example = draw(st.sampled_from(_TYPES))
        default = inspect.Parameter.empty
        if kind in (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD):
            optional = optional or draw(st.booleans())
            default = example if optional else default
        elif kind == inspect.Parameter.KEYWORD_ONLY and draw(st.booleans()):
            default = example
        parameters.append(inspect.Parameter(name, kind, default=default, annotation=annotation))
    return inspect.Signature(parameters)


def tool_for(signature: inspect.Signature) -> Any:
    def function(*args: Any, **kwargs: Any) -> Any:
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        return bound.arguments

    function.__signature__ = signature  # type: ignore[attr-defined]
    function.__annotations__ = {
        p.name: p.annotation for p in signature.parameters.values() if p.annotation is not p.empty
    }
    return bound_tool(Member("function", "here", "function", function))


def expected(signature: inspect.Signature, sent: dict[str, Any], fields: dict[str, str]) -> dict[str, Any]:
    """What the function should see: the value sent, or the default."""
    want: dict[str, Any] = {}
    for parameter in signature.parameters.values():
        wire = fields.get(parameter.name, parameter.name)
        if parameter.kind is parameter.VAR_KEYWORD:
            want[parameter.name] = {name: value for name, value in sent.items() if name not in fields.values()}
        elif parameter.kind is parameter.VAR_POSITIONAL:
            want[parameter.name] = tuple(sent.get(wire, ()))
        else:
            want[parameter.name] = sent.get(wire, parameter.default)
    return want


@settings(max_examples=250, deadline=None)
@given(signatures(), st.data())
def test_what_the_schema_admits_reaches_the_function(signature: inspect.Signature, data: st.DataObject) -> None:
    tool = tool_for(signature)
    schema = tool.candidate.input_schema
    jsonschema.Draft202012Validator.check_schema(schema)
    fields = {field.name: field.wire_name for field in tool.arguments.fields}
    sent = json.loads(json.dumps(data.draw(arguments(schema))))
    bound = bind(tool.arguments, sent)
    seen = dict(tool.function(*bound.args, **bound.kwargs))
    assert seen == expected(signature, sent, fields)


@settings(max_examples=150, deadline=None)
@given(signatures(), st.dictionaries(st.sampled_from([*_NAMES, "other"]), _ANYTHING, max_size=5))
def test_anything_at_all_is_bound_or_refused_in_words(signature: inspect.Signature, sent: dict[str, Any]) -> None:
    tool = tool_for(signature)
    problems: tuple[str, ...] = ()
    try:
        bound = bind(tool.arguments, sent)
    except ArgumentError as error:
        problems = error.problems
    else:
        tool.function(*bound.args, **bound.kwargs)
    assert [problem for problem in problems if not problem.startswith("`")] == []
