"""`autotool.lock`: the definitions that somebody has looked at, and what has become of them since.

One block for each tool, sorted by name and written line by line, so that git shows and merges what changed. Each pins a SHA-256 over the
canonical JSON (RFC 8785) of all that clients are told of the tool, and of what runs behind it.
"""

from __future__ import annotations

import difflib
import hashlib
import json
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import rfc8785

from autotool.catalog import Catalog
from autotool.errors import ConfigError, LockError
from autotool.model import ToolSpec

FILE_NAME = "autotool.lock"
_FORMAT = 1
_LARGEST_EXACT = 2**53 - 1
_PARTS = ("title", "description", "input_schema", "output_schema", "annotations", "icons", "implementation")
_MOST_SHOWN = 30
"""Tools of which a refusal shows the difference."""

Definition = Mapping[str, Any]
"""A tool's parts by name, as JSON values; `digest` stands beside them."""


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing that is not as it was locked.

    Attributes:
        tool: its name.
        part: what of it, or "" for the tool itself.
        before, after: as text of one or more lines; "" for nothing.
    """

    tool: str
    part: str
    before: str
    after: str

    @property
    def text(self) -> str:
        """For a person: which tool, which part, before and after."""
        if not self.part:
            return (
                f"`{self.tool}` is new: it is not locked" if self.after else f"`{self.tool}` is locked and is missing"
            )
        lines = "\n".join(_changed_lines(self.before, self.after))
        return f"`{self.tool}`, {self.part.replace('_', ' ')}:\n{lines}"


def definition_of(tool: ToolSpec) -> Definition:
    """What is pinned of a tool."""
    one = tool.candidate
    hints = one.hints
    parts: dict[str, Any] = {
        "title": one.title,
        "description": one.description,
        "input_schema": one.input_schema,
        "output_schema": one.output_schema,
        "annotations": {
            "readOnlyHint": hints.read_only,
            "destructiveHint": hints.destructive,
            "idempotentHint": hints.idempotent,
            "openWorldHint": hints.open_world,
        },
        "icons": list(one.icons),
        "implementation": f"{one.key} {one.implementation}".strip(),
    }
    return {"digest": _digest(tool.name, parts), **parts}


def locked_of(catalog: Catalog) -> dict[str, Definition]:
    """The definitions of all tools, by name."""
    return {tool.name: definition_of(tool) for tool in catalog.tools}


def dump(definitions: Mapping[str, Definition]) -> str:
    """The text of a lock file; the same for the same definitions, whatever their order."""
    head = "# Written by `autotool lock`, and not by hand: `autotool serve --locked` and `autotool verify` hold the tools against it.\n"
    blocks = [_block(name, definitions[name]) for name in sorted(definitions)]
    return "\n".join([f"{head}version = {_FORMAT}\n", *blocks])


def _block(name: str, definition: Definition) -> str:
    lines = [f"[tool.{_string(name)}]", f"digest = {_string(definition['digest'])}"]
    for part in _PARTS:
        value = definition[part]
        if isinstance(value, str):
            lines.append(f"{part} = {_string(value)}")
        elif value not in (None, []):
            # JSON in a literal text of several lines: no quote of TOML's can stand in it.
            text = json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False)
            lines.append(f"{part} = '''\n{_escaped(text).replace(chr(39), chr(92) + 'u0027')}'''")
    return "\n".join(lines) + "\n"


def _string(text: str) -> str:
    return _escaped(json.dumps(text, ensure_ascii=False))


def _escaped(text: str) -> str:
    """JSON whose strings TOML reads as JSON does: it takes neither DEL nor halves of characters."""
    return "".join(
        f"\\u{ord(letter):04x}" if letter == "\x7f" or 0x80 <= ord(letter) < 0xA0 else letter for letter in text
    )


def load(path: Path) -> dict[str, Definition]:
    """The definitions in a lock file, by name.

    Raises:
        ConfigError: it is not there, or is not one.
    """
    try:
        plain = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ConfigError(f"there is no {path}", hint="`autotool lock` writes it, once somebody has looked.") from None
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ConfigError(f"{path} cannot be read: {error}", hint="`autotool lock` writes it anew.") from None
    if plain.get("version") != _FORMAT:
        raise ConfigError(f"{path}: `version` is not {_FORMAT}", hint="`autotool lock` writes it anew.")
    try:
        return {name: _definition(block) for name, block in plain.get("tool", {}).items()}
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise ConfigError(
            f"{path} is not as it was written: {error!r}", hint="`autotool lock` writes it anew."
        ) from None


def _definition(block: Mapping[str, Any]) -> Definition:
    found: dict[str, Any] = {"digest": str(block["digest"])}
    for part in _PARTS:
        value = block.get(part)
        is_text = part in ("title", "description", "implementation")
        found[part] = value if is_text or value is None else json.loads(value)
    found["icons"] = found["icons"] or []
    return found


def differences(locked: Mapping[str, Definition], catalog: Catalog) -> list[Difference]:
    """What of the tools is not as it was locked, sorted by name; empty when nothing differs."""
    now = locked_of(catalog)
    found: list[Difference] = []
    for name in sorted({*locked, *now}):
        before, after = locked.get(name), now.get(name)
        if before is None or after is None:
            found.append(Difference(name, "", "" if before is None else "locked", "" if after is None else "served"))
        elif before["digest"] != after["digest"]:
            found.extend(_parts(name, before, after))
    return found


def _parts(name: str, before: Definition, after: Definition) -> Iterator[Difference]:
    changed = [part for part in _PARTS if before[part] != after[part]]
    for part in changed:
        yield Difference(name, part, _shown(before[part]), _shown(after[part]))
    if not changed:
        yield Difference(name, "digest", str(before["digest"]), str(after["digest"]))


def check(path: Path, catalog: Catalog) -> None:
    """Hold the tools against a lock file.

    Raises:
        LockError: one differs, is missing or is new; the message shows each difference.
        ConfigError: the file cannot be read.
    """
    found = differences(load(path), catalog)
    if found:
        raise LockError(refusal(path, found), hint="If that is as it should be, `autotool lock` pins it.")


def refusal(path: Path, found: Sequence[Difference]) -> str:
    """What a person reads when something differs."""
    names = len({one.tool for one in found})
    shown = [one.text for one in found[:_MOST_SHOWN]]
    if len(found) > _MOST_SHOWN:
        shown.append(f"and {len(found) - _MOST_SHOWN} more differences")
    return "\n".join([f"{names} {'tool is' if names == 1 else 'tools are'} not as in {path}:", *shown])


def _digest(name: str, parts: Mapping[str, Any]) -> str:
    return f"sha256:{hashlib.sha256(rfc8785.dumps(_exact({'name': name, **parts}))).hexdigest()}"


def _exact(value: Any) -> Any:
    """The value with integers that JSON's numbers cannot hold as text (RFC 8785, 3.1 and appendix D)."""
    if isinstance(value, Mapping):
        return {str(key): _exact(item) for key, item in cast("Mapping[Any, Any]", value).items()}
    if isinstance(value, list | tuple):
        return [_exact(item) for item in cast("Sequence[Any]", value)]
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) > _LARGEST_EXACT:
        return str(value)
    return value


def _shown(value: Any) -> str:
    if value in (None, []):
        return ""
    return value if isinstance(value, str) else json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False)


def _changed_lines(before: str, after: str) -> Iterator[str]:
    """The lines that differ, each with a line around it, as `- before` and `+ after`."""
    for line in difflib.unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=1):
        if not line.startswith(("---", "+++", "@@")):
            # Invisible characters are what a lock is to show.
            words = "".join(letter if letter.isprintable() else f"\\u{ord(letter):04x}" for letter in line[1:])
            yield f"  {line[0]} {words}"
