"""The words a person types for what they want served, taken apart."""

from __future__ import annotations

import re

from autotool.errors import TargetError
from autotool.model import Target

_SCRIPT = re.compile(r"script:(?P<name>[\w.+-]+)|(?P<bare>\w+(?:-\w+)+)")
"""A console script; a name with a dash can be nothing else."""
_DOTTED = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*")


def parse_target(text: str) -> Target:
    """Read `pkg.mod`, `pkg.mod:name`, `pkg.mod:make()`, `./file.py`, `./file.py:name` or `script:name`.

    Raises:
        TargetError: the text is none of these.
    """
    words = text.strip()
    script = _SCRIPT.fullmatch(words)
    if script is not None:
        return Target(text, script.group("name") or script.group("bare"), is_script=True)
    location, colon, attribute = words.rpartition(":") if _has_attribute(words) else (words, "", "")
    is_factory = attribute.endswith("()")
    attribute = attribute.removesuffix("()").strip()
    if not location or (colon and not _DOTTED.fullmatch(attribute)):
        raise _not_a_target(text)
    if location.endswith(".py") or "/" in location or "\\" in location:
        return Target(text, location, is_file=True, attribute=attribute, is_factory=is_factory)
    if not _DOTTED.fullmatch(location):
        raise _not_a_target(text)
    return Target(text, location, attribute=attribute, is_factory=is_factory)


def _has_attribute(words: str) -> bool:
    # A Windows drive (`C:\tools\a.py`) is not an attribute.
    head, colon, tail = words.rpartition(":")
    return bool(colon) and not (len(head) == 1 and tail[:1] in ("\\", "/"))


def _not_a_target(text: str) -> TargetError:
    return TargetError(
        f"`{text}` is not a target",
        hint="Name a module (`pkg.mod`), something in it (`pkg.mod:name`), a file (`./file.py`) or a console script (`script:name`).",
    )
