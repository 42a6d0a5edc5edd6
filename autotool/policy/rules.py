"""The allowlist: which of the tools exist for callers at all."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from autotool.errors import ConfigError

_GLOB = frozenset("*?[")


@dataclass(frozen=True, slots=True)
class Rules:
    """Globs over tool names. With `allow`, only what it names exists; `deny` wins over it."""

    allow: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()

    def permits(self, name: str) -> bool:
        """Whether the tool exists for callers."""
        if any(fnmatchcase(name, glob) for glob in self.deny):
            return False
        return not self.allow or any(fnmatchcase(name, glob) for glob in self.allow)

    def check(self, names: Sequence[str]) -> None:
        """Find entries that name a tool that does not exist.

        Raises:
            ConfigError: an exact entry of `allow` or `deny` names no tool.
        """
        known = set(names)
        for key, entries in (("allow", self.allow), ("deny", self.deny)):
            for entry in entries:
                if _GLOB.isdisjoint(entry) and entry not in known:
                    close = difflib.get_close_matches(entry, names, n=3)
                    near = " or ".join(f"`{name}`" for name in close)
                    hint = f"Did you mean {near}?" if near else "`autotool list` shows the names."
                    raise ConfigError(f"`tools.{key}` names `{entry}`, but there is no such tool", hint=hint)
