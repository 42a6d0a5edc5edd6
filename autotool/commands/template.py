"""The words of a command line with placeholders, and how values are written into them.

A placeholder stands alone (`"{file}"`), inside a word (`"--since={since}"`), or expands into one word an item (`"{files...}"`). What
has no value takes its words with it: a word vanishes alone, a group (`["--author", "{author}"]`) as a whole. A word or group
around an array is repeated for each item. Values are put in after the words were told apart, so none is ever parsed again.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from autotool.commands.parameters import is_array, text_of
from autotool.config import ParameterSection
from autotool.errors import ConfigError

_PLACEHOLDER = re.compile(r"\{\{|\}\}|\{([A-Za-z_][A-Za-z0-9_]*)(\.\.\.)?\}")
_SPREAD = "..."


@dataclass(frozen=True, slots=True)
class Placeholder:
    """The place of a parameter's value; `spread`: each item of it is a word of its own."""

    name: str
    spread: bool = False


@dataclass(frozen=True, slots=True)
class Word:
    """One word: texts and placeholders in order. `index` counts the words of a template, groups opened."""

    parts: tuple[str | Placeholder, ...]
    index: int = 0

    @property
    def literal(self) -> str | None:
        """The word itself where it has no placeholder."""
        return "".join(str(part) for part in self.parts) if all(isinstance(p, str) for p in self.parts) else None

    @property
    def alone(self) -> Placeholder | None:
        """The placeholder that is the whole word."""
        first = self.parts[0] if len(self.parts) == 1 else None
        return first if isinstance(first, Placeholder) else None

    @property
    def placeholders(self) -> tuple[Placeholder, ...]:
        """Its placeholders in order."""
        return tuple(part for part in self.parts if isinstance(part, Placeholder))


@dataclass(frozen=True, slots=True)
class Group:
    """Words and groups that are left out together."""

    items: tuple[Word | Group, ...]


@dataclass(frozen=True, slots=True)
class Piece:
    """One word of a finished command line.

    Attributes:
        name: the parameter whose value it has, or "" for the template's own words.
        leads: whether the value is at its beginning, where a dash would make an option of it.
        is_embedded: whether the template has text around the value, other than `--option=` before it.
        index: the word of the template that it came from.
    """

    text: str
    name: str = ""
    leads: bool = False
    is_embedded: bool = False
    index: int = 0


@dataclass(frozen=True, slots=True)
class Template:
    """The words after the program, and which of them stand where only operands can.

    Attributes:
        operands: the indexes of the words at the end that are nothing but values and follow no option.
    """

    items: tuple[Word | Group, ...]
    parameters: Mapping[str, ParameterSection]
    operands: frozenset[int] = frozenset()

    def pieces(self, values: Mapping[str, Any]) -> list[Piece]:
        """The words of a call; a parameter that is missing from `values` was left out."""
        present = {name: value for name, value in values.items() if value is not None and value != []}
        return [piece for item in self.items for piece in self._item(item, present)]

    def _item(self, item: Word | Group, values: Mapping[str, Any]) -> Iterator[Piece]:
        if isinstance(item, Group):
            yield from self._group(item, values)
        else:
            yield from self._word(item, values)

    def _group(self, group: Group, values: Mapping[str, Any]) -> Iterator[Piece]:
        own = [place for item in group.items if isinstance(item, Word) for place in item.placeholders]
        if any(place.name not in values for place in own):
            return
        if not own:
            nested = [piece for item in group.items if isinstance(item, Group) for piece in self._group(item, values)]
            if not nested:
                return
        repeated = next((p.name for p in own if not p.spread and self._is_array(p.name)), "")
        for value in values[repeated] if repeated else [None]:
            inner = {**values, repeated: value} if repeated else values
            for item in group.items:
                yield from self._item(item, inner)

    def _word(self, word: Word, values: Mapping[str, Any]) -> Iterator[Piece]:
        places = word.placeholders
        if any(place.name not in values for place in places):
            return
        if word.alone is not None:
            yield from self._alone(word, word.alone, values[word.alone.name])
            return
        if any(self.parameters[place.name].bare and values[place.name] is False for place in places):
            return
        listed = next((place.name for place in places if isinstance(values[place.name], list)), "")
        for value in values[listed] if listed else [None]:
            yield self._joined(word, {**values, listed: value} if listed else values)

    def _alone(self, word: Word, place: Placeholder, value: Any) -> Iterator[Piece]:
        parameter = self.parameters[place.name]
        if parameter.flag or parameter.off_flag:
            flag = parameter.off_flag if value is False else parameter.flag
            times = value if not isinstance(value, bool) else 1
            yield from (Piece(flag, index=word.index) for _ in range(times if flag else 0))
            return
        for one in value if isinstance(value, list) else [value]:
            yield Piece(text_of(one), place.name, leads=True, index=word.index)

    def _joined(self, word: Word, values: Mapping[str, Any]) -> Piece:
        places = word.placeholders
        if not places:
            return Piece(str(word.literal), index=word.index)
        bare = next((self.parameters[p.name].bare for p in places if self.parameters[p.name].bare), "")
        if bare and any(values[place.name] is True for place in places):
            return Piece(bare, index=word.index)
        text = "".join(part if isinstance(part, str) else text_of(values[part.name]) for part in word.parts)
        before, after = next(iter(word.parts)), word.parts[-1]
        is_option_value = len(word.parts) == 2 and isinstance(before, str) and before.startswith("-")
        leads = isinstance(before, Placeholder)
        embedded = not is_option_value and (isinstance(before, str) or isinstance(after, str) or len(places) > 1)
        return Piece(text, next(place.name for place in places), leads, embedded, word.index)

    def _is_array(self, name: str) -> bool:
        return is_array(self.parameters[name])

    def words(self) -> Iterator[Word]:
        """Every word in order, groups opened."""
        return leaves(self.items)


def parse(run: Sequence[Any], parameters: Mapping[str, ParameterSection], subject: str) -> Template:
    """Read the words after the program. Undeclared placeholders become parameters of their own: text, or a list for `{x...}`.

    Raises:
        ConfigError: a placeholder stands where its parameter cannot.
    """
    known = dict(parameters)
    for place in _all_placeholders(run):
        kind = "array" if place.spread else "string"
        known.setdefault(place.name, ParameterSection(type=kind))
    counter = iter(range(1_000_000))
    items = tuple(_read(item, counter) for item in run)
    template = Template(items, known)
    for word in template.words():
        _check(word, known, subject)
    return Template(items, known, _operands(list(template.words()), known))


def placeholders_of(text: str) -> tuple[Placeholder, ...]:
    """The placeholders of a text, in order."""
    return _parts_of(text, 0).placeholders


def fill(text: str, values: Mapping[str, Any]) -> str | None:
    """A text with its values (for variables and standard input), or None when one of them was left out."""
    word = _parts_of(text, 0)
    if any(values.get(place.name) is None for place in word.placeholders):
        return None
    return "".join(part if isinstance(part, str) else _lines(values[part.name]) for part in word.parts)


def _lines(value: Any) -> str:
    return "\n".join(text_of(item) for item in value) if isinstance(value, list) else text_of(value)


def _read(item: Any, counter: Iterator[int]) -> Word | Group:
    if isinstance(item, str):
        return _parts_of(item, next(counter))
    return Group(tuple(_read(inner, counter) for inner in item))


def _parts_of(text: str, index: int) -> Word:
    parts: list[str | Placeholder] = []
    at = 0
    plain = ""
    for found in _PLACEHOLDER.finditer(text):
        plain += text[at : found.start()]
        at = found.end()
        if not found.group(1):
            plain += found.group(0)[0]
            continue
        if plain:
            parts.append(plain)
        plain = ""
        parts.append(Placeholder(found.group(1), found.group(2) == _SPREAD))
    plain += text[at:]
    if plain or not parts:
        parts.append(plain)
    return Word(tuple(parts), index)


def _all_placeholders(run: Sequence[Any]) -> Iterator[Placeholder]:
    for item in run:
        if isinstance(item, str):
            yield from placeholders_of(item)
        else:
            yield from _all_placeholders(item)


def leaves(items: Sequence[Word | Group]) -> Iterator[Word]:
    """The words of items in order, groups opened."""
    for item in items:
        if isinstance(item, Group):
            yield from leaves(item.items)
        else:
            yield item


def _check(word: Word, parameters: Mapping[str, ParameterSection], subject: str) -> None:
    for place in word.placeholders:
        parameter = parameters[place.name]
        shown = f"`{{{place.name}{_SPREAD if place.spread else ''}}}`"
        if place.spread and not is_array(parameter):
            raise ConfigError(
                f"{subject}: {shown} expands an array, and `{place.name}` is of type {parameter.type}",
                hint=f'Write `params.{place.name} = {{ type = "array" }}`, or `{{{place.name}}}`.',
            )
        if place.spread and word.alone is None:
            raise ConfigError(
                f"{subject}: {shown} must be a word of its own",
                hint=f"`{{{place.name}}}` repeats the word for each item.",
            )
        if (parameter.flag or parameter.off_flag) and word.alone is None:
            raise ConfigError(
                f"{subject}: {shown} stands for the word `{parameter.flag}` and must be a word of its own"
            )
        if parameter.bare and word.alone is not None:
            raise ConfigError(
                f"{subject}: `{place.name}` may be `{parameter.bare}` alone, so its value must be joined to it",
                hint=f'Write "{parameter.bare}={{{place.name}}}".',
            )


def _operands(words: Sequence[Word], parameters: Mapping[str, ParameterSection]) -> frozenset[int]:
    def is_value(word: Word) -> bool:
        return word.alone is not None and not parameters[word.alone.name].flag

    first = len(words)
    while first and is_value(words[first - 1]):
        first -= 1
    before = words[first - 1].literal if first else None
    if before is not None and before.startswith("-") and before not in ("--", "--end-of-options"):
        first += 1  # it may be that option's value
    return frozenset(word.index for word in words[first:])
