"""What a source gives: live tools for the worker, and refusals for the person."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from autotool.model import Candidate, Refusal
from autotool.schema.arguments import Arguments
from autotool.schema.results import ResultType


@dataclass(frozen=True, slots=True)
class BoundTool:
    """A candidate with the live function behind it. Never leaves the worker's process.

    Attributes:
        candidate: the plain description.
        function: what is called.
        arguments: checks the values of a call and places them.
        result: what the function promises to return.
        serial: calls whose `serial` is the same object run one after another (the instance of a bound
            method, whose author did not write for threads); None means that calls may overlap.
    """

    candidate: Candidate
    function: Callable[..., Any]
    arguments: Arguments
    result: ResultType
    serial: object | None = None


@dataclass(frozen=True, slots=True)
class Discovery:
    """What was found behind targets: `tools` in a stable order, and what was left out and why."""

    tools: tuple[BoundTool, ...]
    refusals: tuple[Refusal, ...] = ()
    package: tuple[str, str, str] = ("", "", "")
