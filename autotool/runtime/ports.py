"""The ports between the front and whatever runs the tools."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from autotool.model import Description, Invocation, Outcome, Progress


class Executor(Protocol):
    """Runs tools. Implemented in-process by `runtime.inline` and by a worker in `runtime.supervisor`."""

    async def start(self) -> Description:
        """Read the targets and become ready to run calls.

        Raises:
            OperatorError: a target cannot be served; the message and hint are for the person.
        """
        ...

    async def run(self, invocation: Invocation, report: Callable[[Progress], None] | None = None) -> Outcome:
        """Run one call. Cancelling the awaiting task cancels the call.

        What the function raises comes back as an error `Outcome`, never as an exception.

        Raises:
            ExecutionError: the call could not be run to its end; the text is for the model.
        """
        ...

    async def stop(self, grace_s: float = 0.0) -> None:
        """Let calls in flight finish for `grace_s` seconds, then end everything that was started."""
        ...
