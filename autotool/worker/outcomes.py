"""Outcomes of text, for whoever has something to say to the caller."""

from __future__ import annotations

from pydantic_core import to_json

from autotool.model import Outcome


def error_outcome(
    text: str, *, error_type: str = "", retry_after_s: float | None = None, is_raised: bool = False
) -> Outcome:
    """A tool error with `text` as its one block."""
    content = to_json([{"type": "text", "text": text}])
    return Outcome(True, content, error_type=error_type, retry_after_s=retry_after_s, is_raised=is_raised)


def text_outcome(text: str, structured: bytes | None = None, *, truncated: bool = False) -> Outcome:
    """A success with `text` as its one block."""
    return Outcome(False, to_json([{"type": "text", "text": text}]), structured, truncated)
