"""Several executors as one: each call goes to the one that holds its tool."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from autotool.errors import Overloaded
from autotool.model import Description, Invocation, Outcome, Progress
from autotool.runtime.ports import Executor


class Router:
    """Offers the tools of all its executors, in their order."""

    def __init__(self, executors: Sequence[Executor]) -> None:
        self._executors = tuple(executors)
        self._homes: dict[str, Executor] = {}

    async def start(self) -> Description:
        """Start all of them at once.

        Raises:
            OperatorError: one of them cannot be served.
        """
        found = await asyncio.gather(*(executor.start() for executor in self._executors))
        for executor, description in zip(self._executors, found, strict=True):
            self._homes.update({candidate.key: executor for candidate in description.candidates})
        return Description(
            tuple(candidate for one in found for candidate in one.candidates),
            tuple(refusal for one in found for refusal in one.refusals),
            next((one.package for one in found if one.package[0]), ("", "", "")),
            tuple(secret for one in found for secret in one.secrets),
            tuple(file for one in found for file in one.files),
        )

    async def run(self, invocation: Invocation, report: Callable[[Progress], None] | None = None) -> Outcome:
        """Run a call where its tool lives.

        Raises:
            ExecutionError: it could not be run to its end.
        """
        home = self._homes.get(invocation.key)
        if home is None:
            raise Overloaded(f"`{invocation.key}` is not served here.")
        return await home.run(invocation, report)

    async def stop(self, grace_s: float = 0.0) -> None:
        """Stop all of them at once."""
        await asyncio.gather(*(executor.stop(grace_s) for executor in self._executors))
