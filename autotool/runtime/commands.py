"""Runs commands: from the arguments of a call to a process, and from what it printed to the outcome."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from autotool.commands import environment
from autotool.commands.command import Command
from autotool.commands.template import fill
from autotool.errors import ArgumentError, Overloaded
from autotool.model import Description, Invocation, Outcome, Progress
from autotool.runtime.command_results import shape
from autotool.runtime.keepers import Request
from autotool.runtime.process import Finished, ProcessRunner
from autotool.worker.binding import bind
from autotool.worker.outcomes import error_outcome

_log = logging.getLogger("autotool.commands")

Read = Callable[[ProcessRunner], Awaitable[tuple[Sequence[Command], Description]]]
"""Gives the commands, and the description of them (with what could not be read), with a runner to ask programs with."""


class CommandExecutor:
    """Runs commands as child processes of a keeper.

    Args:
        read: reads the commands when the executor starts.
    """

    def __init__(self, read: Read) -> None:
        self._read = read
        self._processes = ProcessRunner()
        self._commands: dict[str, Command] = {}
        self._stopping = False

    async def start(self) -> Description:
        """Read the commands.

        Raises:
            OperatorError: a command contradicts itself.
        """
        try:
            commands, description = await self._read(self._processes)
        except BaseException:
            await self._processes.stop()
            raise
        self._commands = {command.candidate.key: command for command in commands}
        return description

    async def run(self, invocation: Invocation, report: Callable[[Progress], None] | None = None) -> Outcome:
        """Run one call; cancelling it ends the program and all that it started.

        Raises:
            Overloaded: the server is shutting down.
        """
        command = self._commands.get(invocation.key)
        if command is None or self._stopping:
            raise Overloaded("The server is shutting down." if command else f"`{invocation.key}` is not served here.")
        try:
            return await self._run(command, invocation)
        except ArgumentError as error:
            return error_outcome("\n".join(error.problems), error_type="ArgumentError")

    async def _run(self, command: Command, invocation: Invocation) -> Outcome:
        settled = command.line.settle(bind(command.line.arguments, invocation.arguments).kwargs)
        words = command.line.words(settled)
        problem = _unrunnable(command)
        if problem:
            return error_outcome(problem, error_type="ProgramNotFound")
        request = Request(
            command.program.path,
            [command.program.word, *words],
            {**command.environment, **environment.filled(command.section, settled)},
            command.section.cwd,
        )
        try:
            finished = await self._processes.run(
                request,
                stdin=_stdin(command, settled),
                timeout_s=invocation.timeout_s or None,
                max_output=invocation.max_output_bytes,
            )
        except OSError as error:
            return error_outcome(
                f"`{command.program.word}` could not be started: {error.strerror}", error_type="NotStarted"
            )
        _report(command, finished)
        return shape(finished, command, invocation)

    async def stop(self, grace_s: float = 0.0) -> None:
        """Let commands finish for `grace_s` seconds, then end them and all that they started."""
        self._stopping = True
        await self._processes.stop(grace_s)


def _unrunnable(command: Command) -> str:
    program = command.program
    if program.problem:
        return f"{program.problem}. Nothing was run."
    if command.section.pin_program and program.has_changed:
        return (
            f"`{program.word}` ({program.path}) is not the program that it was when the server started, so it was not run."
            " Whoever runs the server can start it again to accept the new one."
        )
    return ""


def _stdin(command: Command, settled: Mapping[str, Any]) -> bytes:
    text = fill(command.section.stdin, settled) if command.section.stdin else None
    try:
        return (text or "").encode("utf-8")
    except UnicodeEncodeError:
        raise ArgumentError(["what goes to standard input is not valid Unicode (a lone surrogate)"]) from None


def _report(command: Command, finished: Finished) -> None:
    if finished.stopped:
        _log.warning("`%s` was ended: %s", command.candidate.name, finished.stopped)
    elif finished.errno is not None:
        _log.warning(
            "`%s` could not be started: errno %d (%s)", command.candidate.name, finished.errno, finished.failed_at
        )
