"""Approvals that somebody at the server gives, out of the client's hands: `autotool approvals` over a Unix socket of the server's."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import secrets
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from autotool.errors import TransportError
from autotool.policy.approval import Verdict

_log = logging.getLogger("autotool.approval")

_MAX_REQUEST_BYTES = 4_096


def run_folder() -> Path:
    """Where the sockets of a user's servers are: a folder that nobody else may enter."""
    base = os.environ.get("XDG_RUNTIME_DIR")
    return Path(base) / "autotool" if base else Path(tempfile.gettempdir()) / f"autotool-{os.getuid()}"


@dataclass
class Pending:
    """One call that waits; `since` in seconds since 1970."""

    id: str
    tool: str
    text: str
    caller: str
    since: float
    decision: asyncio.Future[Verdict]


class OperatorDesk:
    """The calls that wait for an operator, and the socket at which they are decided.

    Args:
        path: the socket; "" for one named after this process in the user's run folder.

    Attributes:
        watch: is called whenever a call begins or ends to wait.
    """

    def __init__(self, path: str = "") -> None:
        self.path = Path(path) if path else run_folder() / f"approvals-{os.getpid()}.sock"
        self._is_own_folder = not path
        self._pending: dict[str, Pending] = {}
        self._server: asyncio.Server | None = None
        self.watch: Callable[[], None] = lambda: None

    def __len__(self) -> int:
        return len(self._pending)

    def oldest(self) -> Pending | None:
        """The call that has waited longest, or None."""
        return next(iter(self._pending.values()), None)

    def settle(self, call_id: str, *, approve: bool) -> bool:
        """Decide a call; False when nothing with this id waits any more."""
        waiting = self._pending.get(call_id)
        if waiting is None or waiting.decision.done():
            return False
        waiting.decision.set_result(Verdict(approve, "" if approve else "an operator denied it"))
        return True

    async def open(self) -> None:
        """Listen, so that operators can decide.

        Raises:
            TransportError: the socket cannot be made.
        """
        if self._server is not None:
            return
        try:
            if self._is_own_folder:
                self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                if self.path.parent.stat().st_uid != os.getuid():
                    raise PermissionError(1, "the folder is another user's")
            self.path.unlink(missing_ok=True)
            before = os.umask(0o177)
            try:
                self._server = await asyncio.start_unix_server(self._serve, self.path)
            finally:
                os.umask(before)
        except OSError as error:
            raise TransportError(
                f"the socket for approvals {self.path} cannot be made: {error.strerror}",
                hint="`[approval] socket` names another place.",
            ) from None

    async def close(self) -> None:
        """Listen no longer; what waits is denied."""
        for waiting in list(self._pending.values()):
            if not waiting.decision.done():
                waiting.decision.set_result(Verdict(False, "the server is shutting down"))
        if self._server is not None:
            self._server.close()
            with contextlib.suppress(OSError):
                self.path.unlink(missing_ok=True)
            self._server = None

    async def decide(self, tool: str, text: str, caller: str, timeout_s: float) -> Verdict:
        """Wait for an operator's decision about one call, `timeout_s` seconds at most (0: any time)."""
        await self.open()
        waiting = Pending(
            secrets.token_hex(4), tool, text, caller, time.time(), asyncio.get_running_loop().create_future()
        )
        self._pending[waiting.id] = waiting
        _log.warning("a call of `%s` waits for an operator: autotool approvals approve %s", tool, waiting.id)
        self.watch()
        try:
            async with asyncio.timeout(timeout_s or None):
                return await waiting.decision
        except TimeoutError:
            return Verdict(False, f"no operator decided within {timeout_s:g} s")
        finally:
            del self._pending[waiting.id]
            self.watch()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            line = await asyncio.wait_for(reader.readuntil(b"\n"), 5.0)
            answer = self._answer(json.loads(line[:_MAX_REQUEST_BYTES]))
        except (ValueError, TypeError, TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            answer = {"error": "the request could not be read"}
        with contextlib.suppress(OSError):
            writer.write(json.dumps(answer).encode() + b"\n")
            await writer.drain()
        writer.close()

    def _answer(self, request: Any) -> dict[str, Any]:
        plain = cast("dict[str, Any]", request) if isinstance(request, dict) else {}
        if plain.get("op") == "list":
            return {"pending": [_described(waiting) for waiting in self._pending.values()]}
        waiting = self._pending.get(str(plain.get("id")))
        if waiting is None:
            return {"error": "nothing with this id waits; it was decided, or it has given up"}
        if plain.get("op") == "decide":
            self.settle(waiting.id, approve=plain.get("approve") is True)
        return {"pending": [_described(waiting)]}


def _described(waiting: Pending) -> dict[str, Any]:
    return {
        "id": waiting.id,
        "tool": waiting.tool,
        "caller": waiting.caller,
        "seconds": round(time.time() - waiting.since),
        "text": waiting.text,
    }
