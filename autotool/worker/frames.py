"""The messages between the front and a worker: `length, kind, call id, payload`.

The front treats what a worker sends as untrusted: sizes are bounded, and anything malformed ends the worker.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

from autotool.model import Outcome

DESCRIBED = 1
"""Worker to front: a `Description` as JSON."""
FAILED = 2
"""Worker to front: the targets cannot be served; an operator error as JSON."""
FORK = 3
"""Front to zygote: fork a worker onto the socket that comes with this frame."""
FORKED = 4
"""Zygote to front: the pid of the worker with this id, as decimal text; id 0 answers `SERVE`."""
EXITED = 5
"""Zygote to front: the exit code of the worker with this id, as decimal text, negative for a signal."""
SERVE = 6
"""Front to zygote: become the worker yourself, since forking is not safe here."""
CALL = 7
"""Front to worker: an `Invocation` as JSON."""
CANCEL = 8
"""Front to worker: end the call with this id; answered by `CANCELLED` or, if it was too late, `RESULT`."""
CANCELLED = 9
"""Worker to front: the call with this id has ended without a result."""
RESULT = 10
"""Worker to front: an `Outcome`, packed."""
PROGRESS = 11
"""Worker to front: a progress report as JSON."""
STOP = 12
"""Front to worker: finish what runs, run the exit handlers, and end."""

MAX_FRAME_BYTES = 64 * 1024 * 1024

_HEADER = struct.Struct(">IBI")
_OUTCOME = struct.Struct(">BIIH")
_pack_header = _HEADER.pack
_pack_outcome = _OUTCOME.pack

_IS_ERROR, _HAS_STRUCTURED, _TRUNCATED, _ASKS, _RAISED = 1, 2, 4, 8, 16


class MalformedFrame(Exception):
    """The other side sent something that is not a frame."""


def pack(kind: int, call_id: int, payload: bytes = b"") -> bytes:
    """One frame as bytes."""
    return _pack_header(len(payload), kind, call_id) + payload


def pack_outcome(outcome: Outcome) -> bytes:
    """An outcome as the payload of a `RESULT`; its JSON travels as it is."""
    if outcome.asks is not None:
        return _pack_outcome(_ASKS, len(outcome.asks), 0, 0) + outcome.asks
    structured = outcome.structured or b""
    flags = (
        outcome.is_error * _IS_ERROR
        | (outcome.structured is not None) * _HAS_STRUCTURED
        | outcome.truncated * _TRUNCATED
        | outcome.is_raised * _RAISED
    )
    name = outcome.error_type.encode("utf-8", "replace")[:200]
    return _pack_outcome(flags, len(outcome.content), len(structured), len(name)) + outcome.content + structured + name


def unpack_outcome(payload: bytes) -> Outcome:
    """The outcome in the payload of a `RESULT`.

    Raises:
        MalformedFrame: the lengths do not add up.
    """
    try:
        flags, content_size, structured_size, name_size = _OUTCOME.unpack_from(payload)
    except struct.error as error:
        raise MalformedFrame(str(error)) from error
    start = _OUTCOME.size
    middle, end = start + content_size, start + content_size + structured_size
    if end + name_size != len(payload):
        raise MalformedFrame("the lengths of an outcome do not add up")
    if flags & _ASKS:
        return Outcome(False, b"[]", asks=payload[start:middle])
    return Outcome(
        is_error=bool(flags & _IS_ERROR),
        content=payload[start:middle],
        structured=payload[middle:end] if flags & _HAS_STRUCTURED else None,
        truncated=bool(flags & _TRUNCATED),
        error_type=payload[end:].decode("utf-8", "replace"),
        is_raised=bool(flags & _RAISED),
    )


class Splitter:
    """Cuts a stream of bytes into frames."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def feed(self, data: bytes) -> Iterator[tuple[int, int, bytes]]:
        """The frames that `data` completes, as (kind, call id, payload).

        Raises:
            MalformedFrame: a frame says that it is longer than `MAX_FRAME_BYTES`.
        """
        buffer = self._buffer
        buffer += data
        start = 0
        while len(buffer) - start >= _HEADER.size:
            size, kind, call_id = _HEADER.unpack_from(buffer, start)
            if size > MAX_FRAME_BYTES:
                raise MalformedFrame(f"a frame of {size} bytes")
            end = start + _HEADER.size + size
            if len(buffer) < end:
                break
            yield kind, call_id, bytes(buffer[start + _HEADER.size : end])
            start = end
        del buffer[:start]
