"""The allowlist: which of the tools exist for callers at all."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from autotool.errors import ConfigError
from autotool.model import ToolSpec

_GLOB = frozenset("*?[")
FACTS = ("read_only", "destructive", "idempotent", "open_world")
"""Hints by which an entry can name tools; a tool of such a name is meant by `name:read_only`."""
_KINDS = ("name", "source", "tag")


@dataclass(frozen=True, slots=True)
class Rules:
    """Entries that name tools. With `allow`, only what it names exists; `deny` wins over it.

    An entry is a glob over names (`billing_*`), over modules and functions (`source:acme.*`), over tags (`tag:ops`), or a
    hint that holds (`read_only`).
    """

    allow: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()

    def permits(self, tool: ToolSpec) -> bool:
        """Whether the tool exists for callers."""
        if any(_names(entry, tool) for entry in self.deny):
            return False
        return not self.allow or any(_names(entry, tool) for entry in self.allow)

    def check(self, tools: Sequence[ToolSpec]) -> tuple[str, ...]:
        """Find entries that name no tool: a sentence for each glob that does not.

        Raises:
            ConfigError: an exact entry of `allow` or `deny` names no tool.
        """
        notes: list[str] = []
        for key, entries in (("allow", self.allow), ("deny", self.deny)):
            for entry in entries:
                kind, value = _parts(entry)
                if kind == "fact" or any(_names(entry, tool) for tool in tools):
                    continue
                if not _GLOB.isdisjoint(value):
                    notes.append(f"`tools.{key}` has `{entry}`, which fits no tool")
                    continue
                known = sorted({word for tool in tools for word in _words(kind, tool)})
                near = " or ".join(f"`{word}`" for word in difflib.get_close_matches(value, known, n=3))
                what = "tool" if kind == "name" else f"tool with this {kind}"
                hint = f"Did you mean {near}?" if near else "`autotool list` shows the names."
                raise ConfigError(f"`tools.{key}` names `{entry}`, but there is no such {what}", hint=hint)
        return tuple(notes)


def _parts(entry: str) -> tuple[str, str]:
    kind, colon, value = entry.partition(":")
    if colon and kind in _KINDS:
        return kind, value
    return ("fact", entry) if entry in FACTS else ("name", entry)


def _names(entry: str, tool: ToolSpec) -> bool:
    kind, value = _parts(entry)
    if kind == "fact":
        return bool(getattr(tool.candidate.hints, value))
    return any(fnmatchcase(word, value) for word in _words(kind, tool))


def _words(kind: str, tool: ToolSpec) -> tuple[str, ...]:
    if kind == "name":
        return (tool.name,)
    if kind == "tag":
        return tool.candidate.tags
    # A module's name names all of it.
    module, _, path = tool.candidate.key.partition(":")
    return (module, f"{module}.{path}", tool.candidate.key)
