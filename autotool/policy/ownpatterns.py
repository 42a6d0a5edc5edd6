"""Secrets that a person describes by regular expressions of their own.

Such an expression can take forever on some text. `regex` can be told when to stop; what was not searched to its end is
withheld, since nobody knows what is in it.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from autotool.errors import ConfigError

if TYPE_CHECKING:
    import regex

MARK = "[redacted: "
"""How every mask begins; the kind of what it hides follows."""

WITHHELD = f"{MARK}not searched in time, so withheld]"
_MASK = f"{MARK}configured pattern]"
_BUDGET_S = 0.5
"""What the search of one result may take, over all of its texts."""


class OwnPatterns:
    """The expressions of `[redact] patterns`; false where there are none.

    Raises:
        ConfigError: one is not a regular expression, or matches the empty text.
    """

    def __init__(self, patterns: Sequence[str]) -> None:
        self._compiled = tuple(_compiled(pattern) for pattern in patterns)

    def __bool__(self) -> bool:
        return bool(self._compiled)

    def begin(self) -> Search:
        """The search of one result."""
        return Search(self._compiled)


class Search:
    """Masks what the expressions match, in all texts of one result together within a bounded time."""

    def __init__(self, patterns: Sequence[regex.Pattern[str]]) -> None:
        self._patterns = patterns
        self._until = time.monotonic() + _BUDGET_S

    def masked(self, text: str) -> str:
        """The text with every match masked, or a mark in its place where the time was up."""
        for pattern in self._patterns:
            left = self._until - time.monotonic()
            try:
                text = pattern.sub(_MASK, text, timeout=left) if left > 0 else WITHHELD
            except TimeoutError:
                return WITHHELD
        return text


def _compiled(pattern: str) -> regex.Pattern[str]:
    import regex

    try:
        compiled = regex.compile(pattern)
    except regex.error as error:
        raise ConfigError(
            f"The redaction pattern {pattern!r} is not a regular expression: {error}.",
            hint="Mend it under `[redact] patterns`.",
        ) from error
    if compiled.search("") is not None:
        raise ConfigError(
            f"The redaction pattern {pattern!r} matches the empty text.",
            hint="Give `[redact] patterns` only patterns that need at least one character.",
        )
    return compiled
