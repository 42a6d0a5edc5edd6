"""Descriptions, invocations and errors as the JSON that crosses the link, and back."""

from __future__ import annotations

from typing import Any, cast

from pydantic_core import from_json, to_json

from autotool import errors
from autotool.errors import OperatorError
from autotool.model import (
    Bounds,
    Candidate,
    Description,
    Evidence,
    Hints,
    Invocation,
    OutputRules,
    Parameter,
    Progress,
    Refusal,
    SourceFile,
)

_OPERATOR_ERRORS: dict[str, type[OperatorError]] = {
    cls.__name__: cls for cls in (errors.OperatorError, errors.ConfigError, errors.TargetError, errors.TransportError)
}


def dump_description(description: Description, *, forkable: bool) -> bytes:
    """A `Description`, and whether the process that made it can be forked."""
    return to_json({"description": description, "forkable": forkable})


def load_description(data: bytes) -> tuple[Description, bool]:
    """What `dump_description` wrote."""
    parsed: dict[str, Any] = from_json(data)
    plain = parsed["description"]
    name, version, summary = plain["package"]
    candidates = tuple(_candidate(item) for item in plain["candidates"])
    refusals = tuple(Refusal(**item) for item in plain["refusals"])
    files = tuple(SourceFile(**item) for item in plain["files"])
    return Description(candidates, refusals, (name, version, summary), files=files), bool(parsed["forkable"])


def _candidate(plain: dict[str, Any]) -> Candidate:
    hints: dict[str, Any] = plain["hints"]
    evidence = tuple(Evidence(**item) for item in hints["evidence"])
    stated: dict[str, Any] = {**hints, "evidence": evidence}
    known: dict[str, Any] = {
        **plain,
        "parameters": tuple(Parameter(**item) for item in plain["parameters"]),
        "hints": Hints(**stated),
        "warnings": tuple(plain["warnings"]),
        "tags": tuple(plain["tags"]),
        "bounds": Bounds(**plain["bounds"]),
        "icons": tuple(plain["icons"]),
        "output": OutputRules(**plain["output"]),
    }
    return Candidate(**known)


def dump_error(error: OperatorError) -> bytes:
    """An operator error that happened in a worker."""
    return to_json({"class": type(error).__name__, "message": error.message, "hint": error.hint, "files": error.files})


def load_error(data: bytes) -> OperatorError:
    """The same operator error, for the front to raise."""
    plain: dict[str, Any] = from_json(data)
    cls = _OPERATOR_ERRORS.get(str(plain.get("class")), OperatorError)
    found = cls(str(plain.get("message")), hint=str(plain.get("hint", "")))
    found.files = tuple(map(str, plain.get("files", ())))
    return found


def dump_invocation(invocation: Invocation) -> bytes:
    """An `Invocation` for the worker."""
    return to_json(
        [
            invocation.key,
            invocation.arguments,
            invocation.timeout_s,
            invocation.max_output_bytes,
            invocation.wants_progress,
            invocation.answers,
            invocation.abilities,
        ]
    )


def load_invocation(data: bytes) -> Invocation:
    """What `dump_invocation` wrote."""
    return Invocation(*from_json(data))


def dump_progress(progress: Progress) -> bytes:
    """A progress report."""
    return to_json([progress.done, progress.total, progress.message])


def load_progress(data: bytes) -> Progress:
    """What `dump_progress` wrote; anything else reads as no progress."""
    plain = from_json(data)
    if not isinstance(plain, list) or len(cast("list[Any]", plain)) != 3:
        return Progress(0.0)
    done, total, message = cast("list[Any]", plain)
    return Progress(float(done), None if total is None else float(total), str(message))
