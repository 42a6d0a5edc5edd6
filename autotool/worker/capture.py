"""What a call prints, kept apart from what other calls print and away from the protocol."""

from __future__ import annotations

import contextvars
import io
import sys
from typing import Any, TextIO

MAX_CAPTURED_CHARS = 100_000


class Captured:
    """The text that one call printed, bounded: what comes after `MAX_CAPTURED_CHARS` is only counted."""

    __slots__ = ("_errors", "_parts", "_room", "left_out")

    def __init__(self) -> None:
        self._errors: Captured | None = None
        self._parts: list[str] = []
        self._room = MAX_CAPTURED_CHARS
        self.left_out = 0

    def add(self, text: str) -> None:
        """Keep `text` as far as there is room."""
        kept = text[: self._room]
        if kept:
            self._parts.append(kept)
        self._room -= len(kept)
        self.left_out += len(text) - len(kept)

    @property
    def errors(self) -> Captured:
        """What went to standard error."""
        if self._errors is None:
            self._errors = Captured()
        return self._errors

    @property
    def text(self) -> str:
        """Everything kept, with a note when something was not."""
        joined = "".join(self._parts)
        return f"{joined}\n[{self.left_out} more characters were printed]" if self.left_out else joined


current: contextvars.ContextVar[Captured | None] = contextvars.ContextVar("what the running call printed", default=None)


class Stream(io.TextIOBase):
    """Stands for `sys.stdout` and `sys.stderr`: keeps what a call prints, and passes everything on to the log.

    Args:
        log: where the text goes as well; file descriptor 2 of the process.
        keeps: whether this is standard output, which may be a call's answer; else it is standard error.
    """

    def __init__(self, log: TextIO, *, keeps: bool) -> None:
        super().__init__()
        self._log = log
        self._keeps = keeps

    @property
    def encoding(self) -> str:  # pyright: ignore[reportIncompatibleVariableOverride] - a plain attribute in the base class
        """Always UTF-8."""
        return "utf-8"

    @property
    def errors(self) -> str:  # pyright: ignore[reportIncompatibleVariableOverride] - as above
        """What cannot be encoded is escaped, so that printing never fails."""
        return "backslashreplace"

    @property
    def buffer(self) -> Any:
        """The bytes side, for code that writes bytes."""
        return _Bytes(self)

    def writable(self) -> bool:
        """Always."""
        return True

    def isatty(self) -> bool:
        """Never: what is printed is read by a program."""
        return False

    def fileno(self) -> int:
        """File descriptor 1 or 2, for child processes that inherit it."""
        return 1 if self._keeps else 2

    def write(self, text: str) -> int:
        """Keep and pass on `text`; never raises for what the log cannot take."""
        if not isinstance(text, str):  # pyright: ignore[reportUnnecessaryIsInstance] - foreign callers
            raise TypeError(f"write() argument must be str, not {type(text).__name__}")
        captured = current.get()
        if captured is not None:
            (captured if self._keeps else captured.errors).add(text)
        try:
            self._log.write(text)
            self._log.flush()
        except (OSError, ValueError):
            pass
        return len(text)

    def flush(self) -> None:
        """Nothing is held back."""


class _Bytes(io.RawIOBase):
    def __init__(self, stream: Stream) -> None:
        super().__init__()
        self._stream = stream

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        raw = bytes(data)
        self._stream.write(raw.decode("utf-8", "backslashreplace"))
        return len(raw)


def install(log: TextIO) -> None:
    """Put the capturing streams in the place of the process's own."""
    sys.stdout = sys.__stdout__ = Stream(log, keeps=True)  # type: ignore[misc] - `sys.__stdout__` is final only by convention
    sys.stderr = sys.__stderr__ = Stream(log, keeps=False)  # type: ignore[misc] - as above
