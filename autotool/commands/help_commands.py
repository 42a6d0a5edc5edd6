"""The lists of subcommands in a help text."""

from __future__ import annotations

import re
from collections.abc import Sequence

from autotool.commands.form import Subcommand

_HEADING = re.compile(r"^(?P<indent>\s{0,4})(?P<title>\S.*?)(?P<colon>:?)\s*$")
_ABOUT_COMMANDS = re.compile(r"\b(sub)?commands?\b", re.IGNORECASE)
_ENTRY = re.compile(
    r"^\s{1,8}(?P<name>[a-z][a-z0-9_.:-]*)(?:, ?[a-z][\w-]*)*(?:\s{2,}|\s+-\s+|\t)(?P<said>\S.*)$", re.IGNORECASE
)
_CHOICES = re.compile(r"^\s{1,4}\{(?P<names>[a-z][\w,-]*)\}(?:\s|$)")
_LISTED = re.compile(r"^\s+(?:[a-z][\w-]*,\s+)+[a-z][\w-]*,?$|^\s+(?:[a-z][\w-]*,\s*){2,}$")
_NEVER = frozenset({"help"})


def subcommands_of(lines: Sequence[str], *, has_commands: bool) -> tuple[Subcommand, ...]:
    """The subcommands that a page lists, in its order; none where neither a heading nor the usage speaks of commands."""
    found: dict[str, str] = {}
    inside = False
    indent = 0
    last = ""
    for line in lines:
        heading = _heading(line)
        if heading is not None:
            inside = _is_about_commands(
                heading, inside=inside, has_commands=has_commands, ends_in_colon=line.endswith(":")
            )
            last = ""
            continue
        if not inside or not line.strip():
            continue
        choices = _CHOICES.match(line)
        if choices:
            found.update(
                {name: found.get(name, "") for name in choices.group("names").split(",") if name not in _NEVER}
            )
            continue
        if _LISTED.match(line):
            found.update({name: found.get(name, "") for name in re.findall(r"[a-z][\w-]*", line) if name not in _NEVER})
            continue
        entry = _ENTRY.match(line)
        at = len(line) - len(line.lstrip())
        if entry and (not last or at <= indent + 1):
            last, indent = entry.group("name"), at
            if last not in _NEVER:
                found[last] = entry.group("said").strip()
        elif last in found and at > indent + 2:
            found[last] += " " + line.strip()
    return tuple(Subcommand(name, said) for name, said in found.items())


def _heading(line: str) -> str | None:
    """A line that stands at the margin and says what follows."""
    found = _HEADING.match(line)
    if found is None or line.lstrip().startswith(("-", "{")):
        return None
    if len(found.group("indent")) == 0:
        return found.group("title")
    return found.group("title") if found.group("colon") and len(line.split()) < 6 else None


def _is_about_commands(title: str, *, inside: bool, has_commands: bool, ends_in_colon: bool) -> bool:
    is_title = ends_in_colon or len(title.split()) < 5 or title.isupper()
    if is_title and _ABOUT_COMMANDS.search(title) and not re.search(r"option|argument|example", title, re.IGNORECASE):
        return True
    if is_title and title.lower() == "positional arguments" and has_commands:
        return True
    # Groups inside a list of commands have titles of their own (git): lower case, no colon.
    return inside and not ends_in_colon and title[:1].islower() and not re.search(r"[.;]$|^(usage|see|run)\b", title)
