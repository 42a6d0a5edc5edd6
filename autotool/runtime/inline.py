"""Runs tools in this very process: for `list`, `show`, `call`, `--inline`, and tests."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from autotool.errors import DeadlineExceeded, Overloaded
from autotool.model import Description, Invocation, Outcome, Progress, Selection, Target
from autotool.sources.python import discover
from autotool.worker.calls import Runner


class InlineExecutor:
    """The same running code as a worker's, without the walls: what a tool does to the process, it does to this one."""

    def __init__(self, targets: Sequence[Target], selection: Selection, *, threads: int = 8) -> None:
        self._targets = targets
        self._selection = selection
        self._threads = threads
        self._runner: Runner | None = None

    def describe(self) -> Description:
        """Import the targets and read them.

        Raises:
            OperatorError: a target cannot be served.
        """
        if any(not target.is_file for target in self._targets) and str(Path.cwd()) not in sys.path:
            sys.path.insert(0, str(Path.cwd()))
        found = discover(self._targets, self._selection)
        self._runner = Runner({tool.candidate.key: tool for tool in found.tools}, threads=self._threads)
        return Description(tuple(tool.candidate for tool in found.tools), found.refusals, found.package)

    async def start(self) -> Description:
        """As `describe`."""
        return self.describe()

    async def run(self, invocation: Invocation, report: Callable[[Progress], None] | None = None) -> Outcome:
        """Run one call. A synchronous function that overruns is left behind in its thread.

        Raises:
            DeadlineExceeded: it did not end in time.
        """
        if self._runner is None:
            raise Overloaded("The tools have not been read yet.")
        try:
            async with asyncio.timeout(invocation.timeout_s or None):
                return await self._runner.run(invocation, report)
        except TimeoutError:
            raise DeadlineExceeded(
                f"Stopped waiting: the call ran into its time limit of {invocation.timeout_s:g} s. Ask for less at once."
            ) from None

    async def stop(self, grace_s: float = 0.0) -> None:
        """Nothing was started that has to be ended."""
