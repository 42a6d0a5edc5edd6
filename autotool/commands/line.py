"""A command line as a tool has it: what a caller may send, and the words that are made of it."""

from __future__ import annotations

import dataclasses
import itertools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from autotool.commands import conventions, drafting, template
from autotool.commands.form import Form
from autotool.commands.guard import Guard
from autotool.commands.parameters import arguments_of
from autotool.commands.paths import resolve
from autotool.commands.template import Template
from autotool.config import CommandSection, ParameterSection
from autotool.errors import ArgumentError, ConfigError
from autotool.model import TypeOrigin
from autotool.schema.arguments import Arguments


@dataclass(frozen=True, slots=True)
class CommandLine:
    """The words after a program.

    Attributes:
        arguments: what a call may send; `worker.binding.bind` checks it.
        guard: what is known of the program.
        exclusive: parameters of which at most one may be given; of those in `one_required`, one must be.
        cwd: the folder from which relative paths count; "" for the process's own.
    """

    arguments: Arguments
    template: Template
    guard: Guard
    exclusive: tuple[tuple[str, ...], ...] = ()
    one_required: tuple[tuple[str, ...], ...] = ()
    cwd: str = ""
    elsewhere: frozenset[str] = field(default_factory=frozenset[str])
    """Parameters that reach the program in other ways than on its command line."""

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a person should know, one sentence each."""
        return self.arguments.warnings

    @property
    def parameters(self) -> Mapping[str, ParameterSection]:
        """The parameters by name."""
        return self.template.parameters

    def settle(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """The values of a call, with the defaults that are sent and paths resolved.

        Raises:
            ArgumentError: values exclude each other, one is missing, or a path is not allowed.
        """
        problems = [*self._excluded(values)]
        settled: dict[str, Any] = {}
        for name, parameter in self.parameters.items():
            value = values.get(name, parameter.default)
            if value is None:
                continue
            value = list(value) if isinstance(value, tuple) else value
            try:
                settled[name] = self._resolved(name, parameter, value)
            except ArgumentError as error:
                problems.extend(error.problems)
        if problems:
            raise ArgumentError(problems)
        return settled

    def write(self, values: Mapping[str, Any]) -> list[str]:
        """The words after the program for the values of a call, as `bind` gives them.

        Raises:
            ArgumentError: they cannot be written; each problem names its parameter.
        """
        return self.words(self.settle(values))

    def words(self, settled: Mapping[str, Any]) -> list[str]:
        """The words for values that `settle` gave.

        Raises:
            ArgumentError: as for `write`.
        """
        pieces = self.template.pieces(settled)
        written = {piece.index for piece in pieces}
        dropped = [
            word
            for word in self.template.words()
            if word.index not in written
            and any(self._is_given(place.name, settled.get(place.name)) for place in word.placeholders)
        ]
        if dropped:
            raise ArgumentError([self._lonely(word, settled) for word in dropped])
        return self.guard.argv(pieces, self.template)

    def _is_given(self, name: str, value: Any) -> bool:
        return _is_given(value) and not (value == 0 and bool(self.parameters[name].flag))

    def _lonely(self, word: template.Word, settled: Mapping[str, Any]) -> str:
        given = next(place.name for place in word.placeholders if _is_given(settled.get(place.name)))
        missing = [name for name in _companions(self.template.items, given) if not _is_given(settled.get(name))]
        names = " and ".join(f"`{name}`" for name in missing)
        return f"`{given}`: can only be given together with {names}"

    def _resolved(self, name: str, parameter: ParameterSection, value: Any) -> Any:
        if parameter.type == "path" and isinstance(value, str):
            return resolve(value, parameter, name, self.cwd)
        if parameter.type == "array" and parameter.items == "path":
            return [resolve(item, parameter, f"{name}[{place}]", self.cwd) for place, item in enumerate(value)]
        return value

    def _excluded(self, values: Mapping[str, Any]) -> list[str]:
        problems: list[str] = []
        for group in self.exclusive:
            given = [name for name in group if _is_given(values.get(name))]
            if len(given) > 1:
                problems.append(f"{_listed(given)} exclude each other: give only one of {_listed(group)}")
        for group in self.one_required:
            if not any(_is_given(values.get(name)) for name in group):
                problems.append(f"one of {_listed(group)} is required and none was given")
        return problems


def _listed(names: Sequence[str]) -> str:
    quoted = [f"`{name}`" for name in names]
    return quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} and {quoted[-1]}"


def _is_given(value: Any) -> bool:
    return value is not None and value is not False and value != []


def _companions(items: Sequence[template.Word | template.Group], name: str) -> list[str]:
    """The parameters that share a vanishing group with `name`, or hold one of its groups."""
    for item in items:
        if not isinstance(item, template.Group):
            continue
        own = [place.name for word in item.items if isinstance(word, template.Word) for place in word.placeholders]
        if name in own:
            return [other for other in own if other != name]
        inner = _companions(item.items, name)
        if inner or any(name in [p.name for p in word.placeholders] for word in template.leaves(item.items)):
            return [*own, *inner]
    return []


def build_line(
    section: CommandSection,
    subject: str,
    program: str,
    origin: TypeOrigin = "config",
    own_defaults: Mapping[str, Any] | None = None,
) -> CommandLine:
    """The command line of a section whose `run` is a list; `program` is the path behind its first word.

    Raises:
        ConfigError: the section contradicts itself.
    """
    run = section.run if isinstance(section.run, tuple) else ()
    name = next((word for word in run if isinstance(word, str)), program)
    read = template.parse(run[1:], section.params, subject)
    elsewhere = _used_elsewhere(section)
    parameters = {**read.parameters, **{name: ParameterSection() for name in elsewhere - set(read.parameters)}}
    used = {place.name for word in read.words() for place in word.placeholders} | elsewhere
    arguments = arguments_of(parameters, subject, origin, own_defaults)
    for unused in set(section.params) - used:
        raise ConfigError(
            f"{subject}: params.{unused} is never used",
            hint=f'Put `"{{{unused}}}"` into `run`, or leave the parameter out.',
        )
    fixed = (name, *(word for word in run[1:] if isinstance(word, str) and not template.placeholders_of(word)))
    stop = section.end_of_options if section.end_of_options is not None else conventions.end_of_options(fixed)
    return CommandLine(
        arguments,
        template.Template(read.items, parameters, read.operands),
        Guard(program, fixed, stop, section.allow_dangerous),
        section.exclusive,
        section.one_required,
        section.cwd,
        frozenset(elsewhere),
    )


def line_of(levels: Sequence[tuple[str, Form]], subject: str) -> CommandLine:
    """The words after a program's name, for one of its commands, all options offered.

    Args:
        levels: the program's name and its form, then each word of the command with its form, whose options stand behind it.

    Raises:
        ConfigError: a form contradicts itself.
    """
    made = drafting.Draft(run=[levels[0][0]])
    exclusive: list[tuple[str, ...]] = []
    needed: list[tuple[str, ...]] = []
    last = levels[-1][1]
    taken = {one.name for one in (*last.options, *last.operands)}
    for place, (word, form) in enumerate(levels):
        if place:
            made.run.append(word.replace("{", "{{").replace("}", "}}"))
        names = {one.name: one.name for one in (*form.options, *form.operands)}
        if form is not last:
            names = {name: _own_name(name, word, taken) for name in names}
        for option in form.options:
            made.option(dataclasses.replace(option, name=names[option.name]), form.style)
        if form is not last:
            made.inner_operands([dataclasses.replace(one, name=names[one.name]) for one in form.operands])
        exclusive.extend(tuple(names[name] for name in group) for group in form.exclusive)
        needed.extend(tuple(names[name] for name in group) for group in form.one_required)
    made.operands(last.operands, last.style)
    section = CommandSection(
        run=tuple(made.run),
        params=made.params,
        end_of_options=drafting.STOPS[last.style],
        exclusive=tuple(exclusive),
        one_required=tuple(needed),
    )
    line = build_line(section, subject, subject, "program", made.own_defaults)
    return dataclasses.replace(line, guard=dataclasses.replace(line.guard, file_signs=last.file_signs))


def _own_name(name: str, word: str, taken: set[str]) -> str:
    """A name for a parameter of a command above the last, where another has its own; it is taken then."""
    prefix = re.sub(r"[^A-Za-z0-9]+", "_", word).strip("_")
    prefix = f"cmd_{prefix}" if not prefix or prefix[0].isdigit() else prefix
    names = itertools.chain([name, f"{prefix}_{name}"], (f"{prefix}_{name}_{number}" for number in itertools.count(2)))
    own = next(one for one in names if one not in taken)
    taken.add(own)
    return own


def _used_elsewhere(section: CommandSection) -> set[str]:
    """The parameters that standard input and variables take."""
    texts = [section.stdin, *(value for value in section.env.values() if isinstance(value, str))]
    return {place.name for text in texts for place in template.placeholders_of(text)}
