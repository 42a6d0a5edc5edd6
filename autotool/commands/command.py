"""A `[command.*]` section as a tool: read, checked and described."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from autotool.commands import conventions, environment, programs, template
from autotool.commands.dangers import Baked, baked
from autotool.commands.line import CommandLine, build_line
from autotool.commands.programs import ProgramFile
from autotool.config import CommandSection, output_rules
from autotool.errors import ConfigError
from autotool.model import Bounds, Candidate, Evidence, Hints, TypeOrigin, stated
from autotool.schema import naming
from autotool.schema.icons import icons_of

KEY_PREFIX = "command:"
"""By which the keys of commands differ from those of Python functions."""

_SHELL = "/bin/sh"
_SHELL_TOKEN = re.compile(r"\\.|'[^']*'|(?P<quote>\")|\$\{?(?P<name>[A-Za-z_][A-Za-z0-9_]*)", re.DOTALL)
_QUOTED_TOKEN = re.compile(r"\\.|(?P<quote>\")", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Command:
    """One command, ready to be run.

    Attributes:
        line: its words.
        environment: the variables that every call has.
        secrets: those among them that must not come out.
        success_codes: the exit codes that are answers.
    """

    candidate: Candidate
    section: CommandSection
    line: CommandLine
    program: ProgramFile
    environment: Mapping[str, str]
    secrets: Mapping[str, str]
    success_codes: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Told:
    """What is known of a command beside its section: from a program's help.

    Attributes:
        notes: what a person should know, one sentence each.
        own_defaults: what the program takes for what is left out.
    """

    description: str = ""
    origin: TypeOrigin = "config"
    notes: tuple[str, ...] = ()
    own_defaults: Mapping[str, Any] | None = None


def build(name: str, section: CommandSection, variables: Mapping[str, str], told: Told | None = None) -> Command:
    """Read one section.

    Args:
        variables: the server's own environment.

    Raises:
        ConfigError: the section contradicts itself, or bakes in an option that is not allowed; names it.
    """
    told = told or Told()
    subject = f"command.{name}"
    section = _unshelled(section, subject) if section.shell else section
    program = programs.find(_program_word(section, subject), variables.get("PATH"))
    line = build_line(section, subject, program.path or program.word, told.origin, told.own_defaults)
    fixed, secrets = environment.fixed(section, variables, subject)
    words = _words(section)
    notes = [*told.notes, *line.warnings]
    if program.problem:
        notes.append(f"{subject}: {program.problem}; its calls fail until the server is started again")
    candidate = Candidate(
        key=f"{KEY_PREFIX}{name}",
        name=name,
        qualifier="command",
        title=section.title or naming.title(name),
        description=section.description or told.description or f"Run `{_shown(words)}`.",
        input_schema=line.arguments.json_schema,
        output_schema=_output_schema(section),
        parameters=line.arguments.parameters,
        hints=_hints(section, baked(words), subject, is_named=told.origin == "help"),
        is_async=True,
        warnings=tuple(notes),
        tags=("command", *section.tags),
        icons=icons_of(section.icons, f"`[{subject}]`"),
        bounds=Bounds(section.timeout, section.max_output, section.rate_limit, section.concurrency),
        output=output_rules(section),
        approval=section.approval or "",
        implementation=_implementation(section),
    )
    codes = section.success_codes if section.success_codes is not None else conventions.success_codes(words)
    return Command(candidate, section, line, program, fixed, secrets, codes)


def _implementation(section: CommandSection) -> str:
    """A digest of the program's name, its words, and all else by which the config has it run."""
    text = json.dumps(dataclasses.asdict(section), sort_keys=True, default=repr)
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


def _program_word(section: CommandSection, subject: str) -> str:
    if isinstance(section.run, str):
        words = ", ".join(f'"{word}"' for word in section.run.split()[:4])
        raise ConfigError(
            f"{subject}: `run` is one text, and only a shell could tell its words apart",
            hint=f"Write the words as a list: run = [{words}], or say `shell = true`.",
        )
    first = section.run[0] if section.run else None
    if not isinstance(first, str):
        raise ConfigError(f"{subject}: `run` names no program", hint='For example run = ["git", "log"].')
    if template.placeholders_of(first):
        raise ConfigError(
            f"{subject}: the program `{first}` is a placeholder, so a caller could run anything",
            hint="Write one program.",
        )
    return first


def _unshelled(section: CommandSection, subject: str) -> CommandSection:
    """A shell's script as the words that run it; values reach it in variables, which a shell does not read again."""
    script = section.run if isinstance(section.run, str) else ""
    if not script:
        raise ConfigError(f"{subject}: with `shell = true`, `run` is the script as one text")
    places = template.placeholders_of(script)
    if places:
        name = places[0].name
        raise ConfigError(
            f"{subject}: `{{{name}}}` in a shell's script would be read by the shell as commands, so it is refused",
            hint=f'Pass it as a variable: env.{name.upper()} = "{{{name}}}", and write "${name.upper()}" in the script.',
        )
    holders = {key for key, value in section.env.items() if isinstance(value, str) and template.placeholders_of(value)}
    bare = [name for name in _unquoted_variables(script) if name in holders]
    if bare:
        raise ConfigError(
            f"{subject}: the script has ${bare[0]} outside of double quotes, where the shell splits and expands its value",
            hint=f'Write "${bare[0]}".',
        )
    escaped = script.replace("{", "{{").replace("}", "}}")
    return replace(section, run=(_SHELL, "-c", escaped), shell=False, allow_dangerous=(*section.allow_dangerous, "-c"))


def _unquoted_variables(script: str) -> list[str]:
    """The variables of a script that stand outside of double quotes."""
    found: list[str] = []
    at = 0
    is_quoted = False
    while token := (_QUOTED_TOKEN if is_quoted else _SHELL_TOKEN).search(script, at):
        at = token.end()
        if token.group("quote"):
            is_quoted = not is_quoted
        elif not is_quoted and token.group("name"):
            found.append(token.group("name"))
    return found


def _words(section: CommandSection) -> tuple[str, ...]:
    read = template.parse(section.run if isinstance(section.run, tuple) else (), section.params, "")
    return tuple(
        word.literal if word.literal is not None else "".join(_as_written(part) for part in word.parts)
        for word in read.words()
    )


def _as_written(part: str | template.Placeholder) -> str:
    return part if isinstance(part, str) else f"{{{part.name}{'...' if part.spread else ''}}}"


def _shown(words: tuple[str, ...]) -> str:
    text = " ".join(word if "{" in word else shlex.quote(word) for word in words)
    return text if len(text) <= 300 else text[:299] + "…"


def _hints(section: CommandSection, danger: Baked | None, subject: str, *, is_named: bool) -> Hints:
    """The specification's defaults, what the words of the command show, and what the section says.

    Args:
        is_named: whether a person named the program as a whole, and not the words of a section.
    """
    hints = Hints()
    if danger is not None:
        if not is_named and not danger.destroys and danger.option not in section.allow_dangerous:
            raise ConfigError(
                f"{subject}: `{danger.option}` in `run`: {danger.reason}",
                hint=f'If that is wanted, say `allow_dangerous = ["{danger.option}"]`; the tool is then marked destructive.',
            )
        if section.read_only or section.destructive is False:
            raise ConfigError(
                f"{subject}: it cannot be called harmless: `{danger.option}`: {danger.reason}",
                hint="Leave `read_only` and `destructive` out, or take the option out of `run`.",
            )
        return stated(_destroying(f"`{danger.option}`: {danger.reason}"), section, "the config says so")
    if section.read_only is None and section.destructive is None:
        return stated(_destroying("a command that is not declared read-only"), section, "the config says so")
    return stated(hints, section, "the config says so")


def _destroying(reason: str) -> Hints:
    return Hints(evidence=(Evidence("destructive", True, reason),))


def _output_schema(section: CommandSection) -> dict[str, Any]:
    parsed: dict[str, Any] = {
        "text": {"type": "string"},
        "lines": {"type": "array", "items": {"type": "string"}},
        "csv": {"type": "array", "items": {"type": "object", "additionalProperties": {"type": "string"}}},
        "json": {},
    }[section.output]
    described = dict(section.output_schema) if section.output_schema is not None else parsed
    return {
        "type": "object",
        "properties": {
            "exit_code": {"type": "integer"},
            "output": described,
            "stderr": {"type": "string"},
        },
        "required": ["exit_code", "output"],
    }
