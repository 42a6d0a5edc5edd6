"""What is to be served, and what runs it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass

from autotool.config import Config, WorkerSection
from autotool.errors import ConfigError
from autotool.introspect.targets import parse_target
from autotool.model import Selection, Target
from autotool.runtime.launch import WorkerSettings
from autotool.runtime.ports import Executor
from autotool.runtime.spawn import Launched, discard
from autotool.server.surroundings import environment_of
from autotool.worker.bounds import ProcessBounds


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

    def worker(self, section: WorkerSection, targets: Sequence[Target], subject: str) -> WorkerSettings:
        """What the workers of one set of targets have to know; `subject` is the section's name.

        Raises:
            ConfigError: a variable or file that the section names is not there.
        """
        environment, secrets = environment_of(section, self.config, os.environ, subject)
        return WorkerSettings(
            targets,
            self.selection,
            self.config.defaults.threads,
            self.debug,
            self.reload,
            ProcessBounds(section.memory, section.cpu, section.open_files, section.processes),
            environment,
            secrets,
        )


def executor_for(plan: Plan, launched: Launched | None = None) -> Executor:
    """What runs the tools: workers or this process for Python, child processes for commands.

    Raises:
        ConfigError: a setting of workers cannot be followed.
    """
    parts: list[Executor] = []
    config = plan.config
    sets = [("`[worker]`", config.worker, plan.targets)] if plan.targets else []
    for name, one in config.workers.items():
        if not one.targets:
            raise ConfigError(
                f"`[workers.{name}]` has no targets", hint='Name what it runs: targets = ["./plugins.py"].'
            )
        sets.append((f"`[workers.{name}]`", one, tuple(parse_target(text) for text in one.targets)))
    for subject, section, targets in sets:
        parts.append(_python_executor(plan, section, targets, subject, launched))
        launched = None
    discard(launched)
    if config.command or config.program:
        from autotool.runtime.commands import CommandExecutor
        from autotool.runtime.reading import CommandReader

        reader = CommandReader(config.command, config.program)
        parts.append(CommandExecutor(reader))
    if len(parts) == 1:
        return parts[0]
    from autotool.runtime.router import Router

    return Router(parts)


def _python_executor(
    plan: Plan, section: WorkerSection, targets: Sequence[Target], subject: str, launched: Launched | None
) -> Executor:
    if plan.inline:
        from autotool.runtime.inline import InlineExecutor

        return InlineExecutor(targets, plan.selection, threads=plan.config.defaults.threads)
    from autotool.runtime.breaker import Breaker
    from autotool.runtime.supervisor import WorkerExecutor

    return WorkerExecutor(
        plan.worker(section, targets, subject),
        launched,
        workers=section.workers,
        spare=section.spare,
        grace_s=section.grace,
        breaker=Breaker(section.deaths, section.pause),
    )
