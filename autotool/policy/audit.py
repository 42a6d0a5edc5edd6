"""The audit trail: one JSON line for each call, appended whole, chained by digests, rotated by size.

A call that may destroy is written down before it runs as well, so that none runs that could not be recorded.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import logging
import os
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from autotool.errors import ConfigError

_log = logging.getLogger("autotool.audit")

_STDERR = ("-", "stderr")
_KEPT_FILES = 5
_MAX_LINE_BYTES = 16_384
_RETRY_WORDS = "the audit trail cannot be written"


class AuditUnavailable(Exception):
    """A call that must be recorded cannot be."""


@dataclass
class Record:
    """What is known of one call; filled in on its way.

    Attributes:
        caller: who called.
        tool: the name that was called, whether it exists or not.
        definition: a digest of the tool's definition, "" where there is no such tool.
        arguments: a digest of the canonical arguments, or the arguments with secrets masked.
        decisions: what each step of the policy decided: `access`, `rate`, `approval`, and `output` where steps are off.
        outcome: `ok`, `error`, `refused`, `asked`, `cancelled`.
        size: bytes of the result.
        trace: the `traceparent` that came with the call, "" for none.
        incident: the number by which a caller can ask for an error that was not shown, "" for none.
    """

    caller: str
    tool: str
    definition: str = ""
    arguments: Any = ""
    decisions: dict[str, str] = field(default_factory=dict[str, str])
    outcome: str = ""
    error: str = ""
    size: int = 0
    trace: str = ""
    incident: str = ""
    began: float = field(default_factory=time.perf_counter)


class AuditTrail:
    """Writes records.

    Args:
        path: a file, or "stderr".
        max_bytes: the size at which the file is put aside; 0 for never.
        must_record: whether a call that may destroy is refused when it cannot be recorded.

    Raises:
        ConfigError: the file cannot be opened at all.
    """

    def __init__(self, path: str, *, max_bytes: int = 0, must_record: bool = True) -> None:
        self._path = path
        self._max_bytes = max_bytes
        self.must_record = must_record
        self._chain = "0" * 16
        self._number = 0
        self._lost = 0
        self._is_failing = False
        self._fd = self._open()

    def _open(self) -> int:
        if self._path in _STDERR:
            return 2
        try:
            return os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise ConfigError(f"`audit.path`: {self._path} cannot be opened: {error.strerror}") from None

    def begin(self, record: Record) -> None:
        """Write down that a call that may destroy is about to run.

        Raises:
            AuditUnavailable: it could not be written, and must be.
        """
        if not self._write("start", record) and self.must_record:
            raise AuditUnavailable(f"{_RETRY_WORDS}, so a call that may destroy is not run; reading calls go on")

    def end(self, record: Record) -> None:
        """Write down how a call ended; what cannot be written is counted and told."""
        self._write("call", record)

    def _write(self, event: str, record: Record) -> bool:
        self._number += 1
        plain: dict[str, Any] = {
            "time": _timestamp(),
            "event": event,
            "number": self._number,
            "caller": record.caller,
            "tool": record.tool,
            "definition": record.definition,
            "arguments": record.arguments,
            "decisions": record.decisions,
        }
        if event == "call":
            took = (time.perf_counter() - record.began) * 1000
            plain |= {"outcome": record.outcome, "error": record.error, "ms": round(took, 2), "bytes": record.size}
        if record.trace:
            plain["traceparent"] = record.trace
        if record.incident:
            plain["incident"] = record.incident
        if self._lost:
            plain["lost_before"] = self._lost
        return self._append(plain)

    def _append(self, plain: dict[str, Any]) -> bool:
        chain = hashlib.sha256(f"{self._chain}{json.dumps(plain, sort_keys=True)}".encode()).hexdigest()[:16]
        line = json.dumps({**plain, "chain": chain}, ensure_ascii=True, separators=(",", ":")).encode()
        if len(line) > _MAX_LINE_BYTES:
            plain["arguments"] = "(too long)"
            return self._append(plain)
        try:
            self._rotate()
            written = os.write(self._fd, line + b"\n")
            if written != len(line) + 1:
                with contextlib.suppress(OSError):
                    os.write(self._fd, b"\n")  # what was cut off stays a line of its own
                raise OSError(28, "only a part could be written")
        except OSError as error:
            self._failed(error)
            return False
        if self._is_failing:
            _log.warning("the audit trail is written again; %d records were lost", self._lost)
        self._chain, self._lost, self._is_failing = chain, 0, False
        return True

    def _failed(self, error: OSError) -> None:
        self._lost += 1
        if not self._is_failing:
            self._is_failing = True
            _log.error("%s: %s", _RETRY_WORDS, error.strerror)

    def _rotate(self) -> None:
        if not self._max_bytes or self._fd == 2 or os.fstat(self._fd).st_size < self._max_bytes:
            return
        path = Path(self._path)
        for number in range(_KEPT_FILES - 1, 0, -1):
            older = path.with_name(f"{path.name}.{number}")
            if older.exists():
                older.replace(path.with_name(f"{path.name}.{number + 1}"))
        path.replace(path.with_name(f"{path.name}.1"))
        os.close(self._fd)
        self._fd = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)


def _timestamp() -> str:
    now = time.time()
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(now)) + f".{int(now % 1 * 1000):03d}Z"


def verify(lines: list[str]) -> int:
    """How many first lines of a trail are unaltered, by their chain; a lost record breaks nothing."""
    chain = "0" * 16
    for count, line in enumerate(lines):
        try:
            plain: Mapping[str, Any] = json.loads(line)
        except ValueError:
            return count
        body = {key: value for key, value in plain.items() if key != "chain"}
        wanted = hashlib.sha256(f"{chain}{json.dumps(body, sort_keys=True)}".encode()).hexdigest()[:16]
        if plain.get("chain") != wanted:
            return count
        chain = wanted
    return len(lines)
