"""Masks secrets in what is told of a tool: a default that was read from the environment is published like any other word."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from pydantic_core import to_json

from autotool.model import Candidate, Parameter
from autotool.policy.redact import Redactor

_Mask = Callable[[str], str]

_COMPARED = ("enum", "const", "pattern")
"""What a caller's value is held against: it has to stay as it is, and names no secret by being offered."""


def masked(candidates: Sequence[Candidate], redactor: Redactor) -> list[Candidate]:
    """The candidates with secrets masked in words and defaults; a warning names each tool that had some."""
    words = to_json([[one.title, one.description, one.input_schema, one.output_schema] for one in candidates])
    if redactor.clean_json(words) is words:
        # All at once: there are servers of ten thousand tools, and hardly ever is there anything.
        return list(candidates)
    return [_masked(one, redactor.clean) for one in candidates]


def _masked(candidate: Candidate, mask: _Mask) -> Candidate:
    told = replace(
        candidate,
        title=mask(candidate.title),
        description=mask(candidate.description),
        parameters=tuple(_parameter(parameter, mask) for parameter in candidate.parameters),
        input_schema=_value(candidate.input_schema, mask),
        output_schema=_value(candidate.output_schema, mask),
    )
    if told == candidate:
        return candidate
    note = f"A secret was masked in the words or defaults of `{candidate.name}` ({candidate.key})."
    return replace(told, warnings=(*told.warnings, note))


def _parameter(parameter: Parameter, mask: _Mask) -> Parameter:
    return replace(
        parameter,
        description=mask(parameter.description),
        type_text=mask(parameter.type_text),
        schema=_value(parameter.schema, mask),
    )


def _value(value: Any, mask: _Mask) -> Any:
    if isinstance(value, str):
        return mask(value)
    if isinstance(value, Mapping):
        members = cast("Mapping[str, Any]", value)
        return {key: member if key in _COMPARED else _value(member, mask) for key, member in members.items()}
    if isinstance(value, list | tuple):
        return [_value(item, mask) for item in cast("Iterable[Any]", value)]
    return value
