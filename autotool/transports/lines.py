"""Cuts a stream into lines, with a bound on their length."""

from __future__ import annotations

from collections.abc import Iterator

TOO_LONG: bytes | None = None
"""Stands for a line that was longer than it may be; its bytes have been thrown away."""


class LineSplitter:
    """Lines of at most `max_bytes` bytes out of arbitrary chunks, in memory bounded by that length."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._buffer = bytearray()
        self._discarding = False

    def feed(self, data: bytes) -> Iterator[bytes | None]:
        """The lines that `data` completes, without their ends; `TOO_LONG` once for each line over the bound."""
        start = 0
        while (end := data.find(b"\n", start)) >= 0:
            yield from self._complete(data[start:end])
            start = end + 1
        yield from self._keep(data[start:])

    def _complete(self, tail: bytes) -> Iterator[bytes | None]:
        if self._discarding:
            self._discarding = False
            return
        if len(self._buffer) + len(tail) > self._max_bytes:
            self._buffer.clear()
            yield TOO_LONG
            return
        line = bytes(self._buffer) + tail if self._buffer else tail
        self._buffer.clear()
        yield line

    def _keep(self, tail: bytes) -> Iterator[bytes | None]:
        if self._discarding:
            return
        if len(self._buffer) + len(tail) > self._max_bytes:
            self._buffer.clear()
            self._discarding = True
            yield TOO_LONG
            return
        self._buffer += tail

    def rest(self) -> bytes:
        """What came after the last line end; the last line of a stream need not have one."""
        rest = b"" if self._discarding else bytes(self._buffer)
        self._buffer.clear()
        return rest
