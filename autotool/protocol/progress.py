"""Progress notifications of one call: strictly increasing, and never too many."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any

from autotool.model import Progress
from autotool.protocol.messages import Request, notification_message

MIN_INTERVAL_S = 0.05
"""The shortest time between two reports of one call; what comes faster is left out, the last one excepted."""


class ProgressReporter:
    """Turns the reports of a call into `notifications/progress` (2026-07-28, patterns, progress)."""

    def __init__(self, token: str | int, emit: Callable[[bytes], None]) -> None:
        self._token = token
        self._emit = emit
        self._last = float("-inf")
        self._sent_at = float("-inf")

    @classmethod
    def for_request(cls, request: Request, emit: Callable[[bytes], None] | None) -> ProgressReporter | None:
        """A reporter where the client gave a token and the transport can send, else None: then reports cost nothing."""
        token = request.meta.get("progressToken")
        if emit is None or isinstance(token, bool) or not isinstance(token, str | int):
            return None
        return cls(token, emit)

    def report(self, progress: Progress) -> None:
        """Send one report, unless it is no number, goes backwards or follows the last one too closely."""
        now = time.monotonic()
        is_last = progress.total is not None and progress.done >= progress.total
        if (
            not math.isfinite(progress.done)
            or progress.done <= self._last
            or (now - self._sent_at < MIN_INTERVAL_S and not is_last)
        ):
            return
        self._last, self._sent_at = progress.done, now
        params: dict[str, Any] = {"progressToken": self._token, "progress": progress.done}
        if progress.total is not None and math.isfinite(progress.total):
            params["total"] = progress.total
        if progress.message:
            params["message"] = progress.message
        self._emit(notification_message("notifications/progress", params))
