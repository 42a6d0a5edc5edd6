"""Reads the commands and programs that the settings name into tools."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from autotool.commands import help_page, programs
from autotool.commands.command import Command, build
from autotool.commands.form import Form
from autotool.commands.programs import ProgramFile
from autotool.commands.wrapping import Level, Wrapped, wrap
from autotool.config import CommandSection, ProgramSection
from autotool.errors import ConfigError, TargetError
from autotool.introspect.touched import fingerprint
from autotool.model import Description, Refusal, SourceFile
from autotool.runtime.asking import help_of
from autotool.runtime.process import ProcessRunner

_ASKED_AT_ONCE = 4
_MAX_SUBCOMMANDS = 200


class CommandReader:
    """What `CommandExecutor` reads when it starts.

    Args:
        commands: sections of command lines, by name.
        programs: sections of programs that are read by their help, by name.
    """

    def __init__(self, commands: Mapping[str, CommandSection], programs: Mapping[str, ProgramSection]) -> None:
        self._commands = commands
        self._programs = programs

    async def __call__(self, runner: ProcessRunner) -> tuple[Sequence[Command], Description]:
        """Read all of them.

        Raises:
            ConfigError: a section contradicts itself.
            TargetError: none can be served.
        """
        found = [build(name, section, os.environ) for name, section in self._commands.items()]
        refusals: list[Refusal] = []
        for name, section in self._programs.items():
            for wrapped in await wrapped_of(runner, name, section, refusals):
                found.append(build(wrapped.name, wrapped.section, os.environ, wrapped.told))
        if not found:
            first = refusals[0] if refusals else Refusal("", "no command is named")
            raise TargetError(f"nothing can be served: {first.reason}", hint=first.hint)
        secrets = tuple(secret for command in found for secret in command.secrets.items())
        candidates = tuple(command.candidate for command in found)
        return found, Description(candidates, tuple(refusals), secrets=secrets, files=self._files(found))

    def _files(self, found: Sequence[Command]) -> tuple[SourceFile, ...]:
        """The programs that are named by a path, and the files with help texts."""
        paths = {command.program.path for command in found if os.sep in command.program.word and command.program.path}
        paths |= {str(Path(section.help_file).absolute()) for section in self._programs.values() if section.help_file}
        return tuple(fingerprint(path) for path in sorted(paths))


async def wrapped_of(
    runner: ProcessRunner, name: str, section: ProgramSection, refusals: list[Refusal]
) -> list[Wrapped]:
    """The tools of one program: itself, or its subcommands where it has some; what cannot be served goes to `refusals`.

    Raises:
        ConfigError: the section names no program, or a help file that cannot be read.
    """
    if not section.run:
        raise ConfigError(f'program.{name}: `run` names no program; for example run = ["jq"]')
    program = programs.find(section.run[0], os.environ.get("PATH"))
    if program.problem:
        refusals.append(Refusal(f"program.{name}", program.problem))
        return []
    if section.help_file:
        text = _file(section.help_file, name)
        level = Level(section.run, help_page.parse(text, section.run), text)
        return [wrap(name, section, level)]
    asker = _Asker(runner, program, section, refusals)
    return await asker.tools(name, section.run, (), section.depth)


def _file(path: str, name: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise ConfigError(f"program.{name}: help_file {path} cannot be read: {error.strerror}") from None


class _Asker:
    """Asks one program and its subcommands, a few at a time."""

    def __init__(
        self, runner: ProcessRunner, program: ProgramFile, section: ProgramSection, refusals: list[Refusal]
    ) -> None:
        self._runner = runner
        self._program = program
        self._section = section
        self._refusals = refusals
        self._turns = asyncio.Semaphore(_ASKED_AT_ONCE)

    async def tools(
        self, name: str, words: tuple[str, ...], above: tuple[Level, ...], depth: int, *, is_first: bool = True
    ) -> list[Wrapped]:
        """The tool of `words`, or those of its subcommands."""
        async with self._turns:
            form, text = await help_of(self._runner, self._program, words)
        if above and not form.is_confident:
            reason = f"the help of `{' '.join(words)}` could not be read"
            self._refusals.append(Refusal(f"program.{name}", reason, "Write it as a [command.*] of your own."))
            return []
        level = Level(words, form, text)
        wanted = self._wanted(form, words) if depth else []
        if not wanted:
            return [wrap(name, self._section, level, above, is_first=is_first)]
        found = await asyncio.gather(
            *(
                self.tools(
                    f"{name}_{word}", (*words, word), (*above, level), depth - 1, is_first=is_first and not place
                )
                for place, word in enumerate(wanted)
            )
        )
        return [one for some in found for one in some]

    def _wanted(self, form: Form, words: tuple[str, ...]) -> list[str]:
        names = [command.name for command in form.subcommands][:_MAX_SUBCOMMANDS]
        globs = self._section.commands
        if not globs or len(words) > len(self._section.run):
            return names
        return [name for name in names if any(fnmatchcase(name, glob) for glob in globs)]
