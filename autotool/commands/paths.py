"""Paths that callers send: inside their folder, never an address, never an option."""

from __future__ import annotations

import re
from pathlib import Path

from autotool.config import ParameterSection
from autotool.errors import ArgumentError

_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:(//|:)")
"""`https://…`, and `ext::…`, by which git runs a program."""


def resolve(text: str, parameter: ParameterSection, name: str, cwd: str) -> str:
    """The path as the program gets it: with `within`, the real path, symbolic links followed; `~` is a letter like any other.

    Raises:
        ArgumentError: it leaves its folder, does not exist though it must, or is no path.
    """
    problem = _malformed(text)
    if problem:
        raise ArgumentError([f"`{name}`: {problem}"])
    if not parameter.within:
        if parameter.must_exist and not (Path(cwd or ".") / text).exists():
            raise ArgumentError([f"`{name}`: there is no {text!r}"])
        # With its folder written out it is no option, and a shell's `~` neither.
        return f"./{text}" if text[:1] in ("-", "~", "+", "@") else text
    root = Path(cwd or ".", parameter.within).resolve()
    try:
        real = (root / text).resolve()
    except (OSError, RuntimeError):
        raise ArgumentError(
            [f"`{name}`: {text!r} cannot be resolved (a loop of links, or a name that is too long)"]
        ) from None
    if not real.is_relative_to(root):
        raise ArgumentError([f"`{name}`: {text!r} is outside of {root}; name a path inside it"])
    if parameter.must_exist and not real.exists():
        raise ArgumentError([f"`{name}`: there is no {text!r} in {root}"])
    return str(real)


def _malformed(text: str) -> str:
    if not text:
        return "is empty; expected a path"
    if "\0" in text:
        return "has a NUL character, which no path can have"
    if _ADDRESS.match(text) or text.startswith("\\\\"):
        return f"{text!r} is an address, not a path"
    return ""
