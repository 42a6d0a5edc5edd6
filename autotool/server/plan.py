"""What is to be served, and what runs it."""

from __future__ import annotations

from dataclasses import dataclass

from autotool.config import Config
from autotool.model import Selection, Target
from autotool.runtime.launch import WorkerSettings
from autotool.runtime.ports import Executor
from autotool.runtime.spawn import Launched, discard


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be served: the settings and the parsed targets.

    Attributes:
        is_configured: whether the targets are the file's own, so that every tool it speaks of must exist.
        reload: whether the tools are read again when a file of theirs changes.
        config_file: the file of settings, or the one that would be read if it were there; "" for none.
    """

    config: Config
    targets: tuple[Target, ...]
    inline: bool = False
    debug: bool = False
    is_configured: bool = True
    reload: bool = False
    config_file: str = ""

    @property
    def selection(self) -> Selection:
        """Which functions of the targets are wanted."""
        tools = self.config.tools
        return Selection(tools.include, tools.exclude, tools.recursive, tools.importable, tools.own_process)

    @property
    def worker(self) -> WorkerSettings:
        """What a worker has to know."""
        return WorkerSettings(self.targets, self.selection, self.config.defaults.threads, self.debug, self.reload)


def executor_for(plan: Plan, launched: Launched | None = None) -> Executor:
    """What runs the tools: a worker or this process for Python, child processes for commands."""
    parts: list[Executor] = []
    if plan.targets:
        parts.append(_python_executor(plan, launched))
    else:
        discard(launched)
    config = plan.config
    if config.command or config.program:
        from autotool.runtime.commands import CommandExecutor
        from autotool.runtime.reading import CommandReader

        reader = CommandReader(config.command, config.program)
        parts.append(CommandExecutor(reader))
    if len(parts) == 1:
        return parts[0]
    from autotool.runtime.router import Router

    return Router(parts)


def _python_executor(plan: Plan, launched: Launched | None) -> Executor:
    if plan.inline:
        from autotool.runtime.inline import InlineExecutor

        return InlineExecutor(plan.targets, plan.selection, threads=plan.config.defaults.threads)
    from autotool.runtime.supervisor import WorkerExecutor

    return WorkerExecutor(plan.worker, launched)
