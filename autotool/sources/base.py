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


@dataclass(frozen=True, slots=True)
class Exited:
    """A program in this process has ended. What it printed was captured.

    Attributes:
        said: what `sys.exit()` was given, where that was words.
    """

    code: int
    said: str = ""

    @classmethod
    def by(cls, error: SystemExit) -> Exited:
        """The end by `sys.exit()`: nothing is 0, a number itself, and words are 1 (as Python does)."""
        if error.code is None:
            return cls(0)
        return cls(error.code) if isinstance(error.code, int) else cls(1, str(error.code))


@dataclass(frozen=True, slots=True)
class Subprogram:
    """A program that is to be run as a process of its own; the worker does it."""

    argv: tuple[str, ...]
