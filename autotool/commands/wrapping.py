"""From a program's form to the section of a tool: which options are offered, in how many words, and what is left out."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

from autotool.commands import drafting
from autotool.commands.command import Told
from autotool.commands.form import Form, Option
from autotool.commands.parameters import arguments_of
from autotool.config import CommandSection, ParameterSection, ProgramSection, RunSection

_DESCRIPTION_CHARS = (240, 160, 100, 60, 30, 0)
_FALLBACK_CHARS = 1500
_SENTENCE = re.compile(r"(?<=[.!?])\s")


@dataclass(frozen=True, slots=True)
class Level:
    """One command of a program: its words so far (`git`, `log`), its form, and what was left of the text it came from."""

    words: tuple[str, ...]
    form: Form
    text: str = ""


@dataclass(frozen=True, slots=True)
class Wrapped:
    """A tool made of a program's form, and what a person should know about it."""

    name: str
    section: CommandSection
    told: Told
    left_out: Mapping[str, str] = field(default_factory=dict[str, str])


def wrap(
    name: str, section: ProgramSection, level: Level, above: Sequence[Level] = (), *, is_first: bool = True
) -> Wrapped:
    """The tool of one command of a program.

    Args:
        above: the commands that stand before it on the line, whose options stand before its own word.
        is_first: whether what is left out of `above` is told here; once for all commands is enough.
    """
    subject = f"program.{name}"
    if not level.form.is_confident:
        return _as_list(name, section, level, subject)
    options, shared = _Choice(section), _Choice(section)
    own = options.pick(level.form.options)
    taken = {option.name for option in own} | {operand.name for operand in level.form.operands}
    before = [(other, [o for o in shared.pick(other.form.options) if o.name not in taken]) for other in above]
    own, before, trimmed = _within_budget(section, level, own, before)
    made, defaults = _draft(level, own, before)
    is_risky = any(option.danger for option in [*own, *(option for _, some in before for option in some)])
    made = _as_told(made, section, destructive=True if is_risky else None)
    notes = [f"{subject}: {note}" for note in [*options.notes(shared), *trimmed, *_unread(level.form)]]
    if is_first and shared.left_out:
        notes.append(f"{subject}: of the options before the command, {shared.told()}")
    description = section.description or level.form.summary or f"Run `{' '.join(level.words)}`."
    return Wrapped(name, made, Told(description, "help", tuple(notes), defaults), dict(options.left_out))


def _as_told(made: CommandSection, section: ProgramSection, *, destructive: bool | None) -> CommandSection:
    """The section with what the person says of how the program is run."""
    given = {one.name: getattr(section, one.name) for one in fields(RunSection)}
    if section.destructive is None:
        given["destructive"] = destructive
    if section.end_of_options is None:
        given["end_of_options"] = made.end_of_options
    return replace(made, **given)


class _Choice:
    """Which options are offered: the safe ones, or those that the section names."""

    def __init__(self, section: ProgramSection) -> None:
        self._section = section
        self.left_out: dict[str, str] = {}
        self._seen: set[str] = set()

    def pick(self, options: Iterable[Option]) -> list[Option]:
        return [option for option in options if self._is_wanted(option)]

    def _is_wanted(self, option: Option) -> bool:
        section = self._section
        spellings = {*option.flags, option.name, option.negative}
        self._seen |= spellings
        flag = drafting.preferred(option.flags)
        if option.danger and not spellings & {*section.allow_dangerous, *section.only}:
            self.left_out[flag] = option.danger
            return False
        if spellings & set(section.without):
            return False
        return option.is_required or not section.only or bool(spellings & set(section.only))

    def told(self) -> str:
        """What was left out for its danger, and how to have it."""
        by_reason: dict[str, list[str]] = {}
        for flag, why in self.left_out.items():
            by_reason.setdefault(why, []).append(flag)
        listed = "; ".join(f"{', '.join(flags)} ({why})" for why, flags in by_reason.items())
        return f"not offered, unless `allow_dangerous` names them: {listed}"

    def notes(self, shared: _Choice) -> list[str]:
        """What a person should know of what was left out, and names that no option has, here or in `shared`."""
        said = [self.told()] if self.left_out else []
        wanted = (*self._section.only, *self._section.without, *self._section.allow_dangerous)
        unknown = [flag for flag in wanted if flag not in self._seen | shared._seen]
        if unknown:
            said.append(f"its help has no option {', '.join(unknown)}")
        return said


def _draft(
    level: Level, own: Sequence[Option], before: Sequence[tuple[Level, Sequence[Option]]]
) -> tuple[CommandSection, dict[str, Any]]:
    made = drafting.Draft(run=[level.words[0]])
    at = 1
    for other, options in before:
        made.run.extend(level.words[at : len(other.words)])
        at = len(other.words)
        for option in options:
            made.option(option, other.form.style)
    made.run.extend(level.words[at:])
    section, defaults = drafting.draft(level.form, (), own)
    assert isinstance(section.run, tuple)  # a draft's words are a list
    whole = replace(section, run=(*made.run, *section.run), params={**made.params, **section.params})
    return whole, {**made.own_defaults, **defaults}


def _within_budget(
    section: ProgramSection, level: Level, own: list[Option], before: list[tuple[Level, list[Option]]]
) -> tuple[list[Option], list[tuple[Level, list[Option]]], list[str]]:
    """The options that fit into the budget: first their descriptions are shortened, then the last of them are left out."""
    short, above = own, before
    for most in _DESCRIPTION_CHARS:
        short = [_shortened(option, most) for option in own]
        above = [(other, [_shortened(option, most) for option in options]) for other, options in before]
        if _size(level, short, above) <= section.budget:
            return short, above, []
    flat: list[tuple[int, Option]] = [(-1, option) for option in short]
    flat += [(place, option) for place, (_, options) in enumerate(above) for option in options]
    sizes = _sizes(level, flat)
    room = section.budget - _size(level, [], [])
    kept: list[tuple[int, Option]] = []
    dropped: list[str] = []
    for (place, option), size in sorted(zip(flat, sizes, strict=True), key=lambda one: not one[0][1].is_required):
        if size <= room or option.is_required:
            kept.append((place, option))
            room -= size
        else:
            dropped.append(drafting.preferred(option.flags))
    note = (
        f"its schema would have more than {section.budget} bytes, so {len(dropped)} options are left out"
        f" ({', '.join(dropped[:8])}{', …' if dropped[8:] else ''}); `budget` gives room, `only` chooses"
    )
    order = {id(option): at for at, (_, option) in enumerate(flat)}
    kept.sort(key=lambda one: order[id(one[1])])
    chosen = [(other, [option for place, option in kept if place == at]) for at, (other, _) in enumerate(above)]
    return [option for place, option in kept if place == -1], chosen, [note]


def _size(level: Level, own: Sequence[Option], before: Sequence[tuple[Level, Sequence[Option]]]) -> int:
    section, _ = _draft(level, own, before)
    return len(json.dumps(arguments_of(section.params, "", "help").json_schema, separators=(",", ":")))


def _sizes(level: Level, options: Sequence[tuple[int, Option]]) -> list[int]:
    """About how many bytes each option adds."""
    section, _ = _draft(Level(level.words, replace(level.form, operands=())), [option for _, option in options], [])
    properties = arguments_of(section.params, "", "help").json_schema["properties"]
    return [
        len(json.dumps({option.name: properties[option.name]}, separators=(",", ":")))
        + len(option.name) * option.is_required
        for _, option in options
    ]


def _shortened(option: Option, most: int) -> Option:
    return replace(option, description=shorten(option.description, most))


def shorten(text: str, most: int) -> str:
    """The first sentences of `text` that fit into `most` characters; or its first words."""
    text = " ".join(text.split())
    if len(text) <= most:
        return text
    kept = ""
    for sentence in _SENTENCE.split(text):
        if len(kept) + len(sentence) + 1 > most:
            break
        kept = f"{kept} {sentence}".strip()
    if kept or most < 10:
        return kept
    return text[: most - 1].rsplit(" ", 1)[0].rstrip(",;: ") + "…"


def _unread(form: Form) -> list[str]:
    if not form.unread:
        return []
    shown = "; ".join(repr(line.strip()[:60]) for line in form.unread[:3])
    more = f", and {len(form.unread) - 3} more" if form.unread[3:] else ""
    return [f"lines of its help could not be read and are left out: {shown}{more}"]


def _as_list(name: str, section: ProgramSection, level: Level, subject: str) -> Wrapped:
    """A program whose help says nothing that can be relied on: one list of arguments, and the text."""
    words = " ".join(level.words)
    text = shorten(level.text, _FALLBACK_CHARS) if level.text.count("\n") < 2 else level.text[:_FALLBACK_CHARS]
    description = section.description or f"Run `{words}` with a list of arguments." + (
        f" It says:\n{text}" if text else ""
    )
    parameter = ParameterSection(
        type="array",
        optional=True,
        dash=True,
        description=f"The words after `{words}`, each as it stands; no shell reads them.",
    )
    made = CommandSection(run=(*level.words, "{args...}"), params={"args": parameter})
    made = _as_told(made, section, destructive=True)
    note = f"{subject}: the help of `{words}` could not be read, so it takes one list of arguments"
    return Wrapped(name, made, Told(description, "help", (note,)))
