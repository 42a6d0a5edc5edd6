"""The exceptions that autotool raises.

    AutotoolError
    ├── OperatorError          what the person who runs autotool can mend (exit 2, shown in one line)
    │   ├── ConfigError        a setting or a file of settings is wrong
    │   ├── TargetError        a target does not exist, does not import, or holds nothing to serve
    │   ├── LockError          a definition is not as it was locked (exit 1)
    │   └── TransportError     a port is taken, an address is not allowed
    ├── SignatureError         one callable cannot become a tool (always caught, becomes a `Refusal`)
    ├── ArgumentError          a caller's arguments do not fit (a tool error)
    ├── ExecutionError         a call could not be run to its end (a tool error)
    │   ├── DeadlineExceeded   it ran longer than it may
    │   ├── WorkerDied         the process that ran it ended
    │   └── Overloaded         there was no room to start it
    │       └── SwitchedOff    its tool ends the processes it runs in
    ├── StorageDown            what replicas share cannot be reached (always caught)
    ├── ToolError              a tool that a program called failed (only from `autotool.load`)
    └── ProtocolError          a message breaks the protocol (a JSON-RPC error)
        ├── InsufficientScope  the caller's scopes do not open the tool
        └── Throttled          the caller has to wait, whatever it asks for

Each plane is mapped to its reader once: operator errors in `cli`, protocol errors in
`protocol.dispatcher`, tool errors in `runtime.service`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any


class AutotoolError(Exception):
    """Base of everything that autotool raises on purpose."""


class OperatorError(AutotoolError):
    """A mistake that the person who runs autotool can mend.

    Attributes:
        message: what is wrong, with which thing.
        hint: what to do next; may be empty.
        files: the person's own files that had been read when it happened, where that is known.
    """

    exit_code = 2
    files: tuple[str, ...] = ()

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class ConfigError(OperatorError):
    """A setting is unknown, of the wrong type, or impossible beside another one."""


class TargetError(OperatorError):
    """A target does not exist, does not import, or holds nothing to serve."""


class LockError(OperatorError):
    """The tools are not as `autotool.lock` pins them; the message shows each difference, on lines of its own."""

    exit_code = 1


class TransportError(OperatorError):
    """The server cannot listen where it was told to."""


class SignatureError(AutotoolError):
    """One callable cannot be served. Caught by the source, which makes a `Refusal` of it.

    Attributes:
        reason: one sentence that names the callable and the parameter.
        hint: what the person can do about it; may be empty.
    """

    def __init__(self, reason: str, *, hint: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.hint = hint


class ArgumentError(AutotoolError):
    """The arguments of a call do not fit the tool's schema.

    Attributes:
        problems: one sentence a problem, each naming the argument, what was expected and what came.
    """

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = tuple(problems)


class ExecutionError(AutotoolError):
    """A call could not be run to its end. The text is for the model that called."""


class DeadlineExceeded(ExecutionError):
    """The call ran longer than its time limit and was stopped."""


class WorkerDied(ExecutionError):
    """The process that ran the call ended before it answered."""


class Overloaded(ExecutionError):
    """There is no room to start the call now; it may be tried again.

    Attributes:
        retry_after_s: seconds after which there may be room; 0 where nothing is known.
    """

    def __init__(self, text: str, retry_after_s: float = 0.0) -> None:
        super().__init__(text)
        self.retry_after_s = retry_after_s


class SwitchedOff(Overloaded):
    """The tool has ended the processes that it runs in, and is not run for a while."""


class StorageDown(AutotoolError):
    """The storage that replicas share does not answer, or cannot be written."""


class ToolError(AutotoolError):
    """A tool that a program called through `autotool.load` failed. The text is what a model would read."""


class ProtocolError(AutotoolError):
    """A message that breaks JSON-RPC 2.0 or the Model Context Protocol.

    Attributes:
        code: the JSON-RPC error code.
        data: what the error carries beside its message, or None.
        http_status: the status with which HTTP answers it.
    """

    def __init__(self, code: int, message: str, *, data: Any = None, http_status: int = 400) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data
        self.http_status = http_status


class InsufficientScope(ProtocolError):
    """The caller's scopes do not open what was called.

    Attributes:
        scopes: those of which one would.
    """

    def __init__(self, code: int, message: str, scopes: Sequence[str]) -> None:
        super().__init__(code, message, http_status=403)
        self.scopes = tuple(scopes)


class Throttled(ProtocolError):
    """The caller has to wait, whatever it asks for. Where the transport has no status for it, a call gets a tool error.

    Attributes:
        retry_after_s: seconds after which a request will be taken.
    """

    def __init__(self, message: str, retry_after_s: float, *, http_status: int = 429) -> None:
        data = {"retryAfterMs": math.ceil(retry_after_s * 1000)}
        super().__init__(BUSY, message, data=data, http_status=http_status)
        self.retry_after_s = retry_after_s


BUSY = -31999
"""Outside the ranges that JSON-RPC 2.0 and the protocol reserve."""
