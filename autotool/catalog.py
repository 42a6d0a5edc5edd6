"""The ordered, immutable set of tools that a server offers."""

from __future__ import annotations

import difflib
import hashlib
import heapq
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from autotool.model import Candidate, Refusal, ToolSpec
from autotool.schema import naming

_NEAR_ENOUGH = 0.6
_LONGEST_COMPARED = 128
_MOST_COMPARED = 500


@dataclass(frozen=True)
class Catalog:
    """Tools under their final names. A reload makes a new one; nothing changes in place.

    Attributes:
        tools: in the order in which the targets and their modules name them.
        refusals: what is not served, with reasons.
        naming_warnings: one sentence for each name that several functions wanted.
        notes: one sentence for each entry of the config that fits nothing.
    """

    tools: tuple[ToolSpec, ...] = ()
    refusals: tuple[Refusal, ...] = ()
    naming_warnings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @classmethod
    def build(cls, candidates: Iterable[Candidate], refusals: Sequence[Refusal] = ()) -> Catalog:
        """Name the candidates. One that several targets name is offered once, where it came first."""
        first: dict[str, Candidate] = {}
        for candidate in candidates:
            first.setdefault(candidate.key, candidate)
        names, warnings = naming.assign([(one.name, one.qualifier, key) for key, one in first.items()])
        tools = tuple(ToolSpec(name, one) for name, one in zip(names, first.values(), strict=True))
        return cls(tools, tuple(refusals), warnings)

    def find(self, name: str) -> ToolSpec | None:
        """The tool with exactly this name, or None."""
        return self._by_name.get(name)

    def nearest(self, name: str) -> tuple[str, ...]:
        """Up to three names that `name` may have been meant for, the likeliest first; may be empty."""
        words = name.strip()[:_LONGEST_COMPARED]
        same = self._by_folded_name.get(_folded(words))
        if same is not None:
            return (same,)
        near = difflib.get_close_matches(words, self._worth_comparing(words), n=3, cutoff=_NEAR_ENOUGH)
        return tuple(near or [other for other in self._by_name if len(words) > 2 and words in other][:3])

    def _worth_comparing(self, words: str) -> list[str]:
        # With thousands of tools an unknown name must not hold up the server: exact ratios are worked out
        # only for names of about this length, and of many such for those that share most pairs of letters.
        room = max(2, len(words) // 3)
        pool = [other for other in self._by_name if abs(len(other) - len(words)) <= room]
        if len(pool) <= _MOST_COMPARED:
            return pool
        pairs = [words[at : at + 2] for at in range(len(words) - 1)]
        return heapq.nlargest(_MOST_COMPARED, pool, key=lambda other: sum(pair in other for pair in pairs))

    def select(self, predicate: Callable[[ToolSpec], bool]) -> Catalog:
        """The catalog of the tools for which `predicate` holds, in the same order, under the same names."""
        kept = tuple(tool for tool in self.tools if predicate(tool))
        return Catalog(kept, self.refusals, self.naming_warnings, self.notes)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a person should know before these tools are served, one sentence each, naming the tool."""
        own = (_told_of(tool, warning) for tool in self.tools for warning in tool.candidate.warnings)
        return (*self.notes, *self.naming_warnings, *own)

    @cached_property
    def version(self) -> str:
        """A digest over all that clients are told of the tools, their order included."""
        digest = hashlib.sha256()
        for tool in self.tools:
            digest.update(_canonical(tool))
            digest.update(b"\n")
        return digest.hexdigest()[:32]

    def digest_of(self, tool: ToolSpec) -> str:
        """A digest over all that clients are told of one tool, and over what runs behind it."""
        found = self._digests.get(tool.name)
        if found is None:
            found = self._digests[tool.name] = hashlib.sha256(
                _canonical(tool) + tool.candidate.implementation.encode()
            ).hexdigest()[:32]
        return found

    @cached_property
    def _digests(self) -> dict[str, str]:
        return {}

    @cached_property
    def _by_name(self) -> dict[str, ToolSpec]:
        return {tool.name: tool for tool in self.tools}

    @cached_property
    def _by_folded_name(self) -> dict[str, str]:
        return {_folded(tool.name): tool.name for tool in reversed(self.tools)}


def _folded(name: str) -> str:
    return name.casefold().replace("-", "_").replace(".", "_")


def _told_of(tool: ToolSpec, warning: str) -> str:
    own = tool.candidate.name
    named = f"`{tool.name}`" in warning or f"`{own}`" in warning or (tool.name == own and warning.startswith(f"{own}:"))
    return warning if named else f"`{tool.name}`: {warning}"


def _canonical(tool: ToolSpec) -> bytes:
    one = tool.candidate
    hints = one.hints
    definition: list[Any] = [
        tool.name,
        one.title,
        one.description,
        one.input_schema,
        one.output_schema,
        [hints.read_only, hints.destructive, hints.idempotent, hints.open_world],
        *one.icons,
    ]
    return json.dumps(definition, sort_keys=True, separators=(",", ":"), default=repr).encode()
