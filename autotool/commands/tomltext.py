"""A command's section as the TOML that a person would write."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import fields
from typing import Any

from autotool.config import CommandSection, ParameterSection

_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_ESCAPED = {"\u007f": "\\u007f", "\u2028": "\\u2028", "\u2029": "\\u2029"}
_WIDTH = 110


def section_text(name: str, section: CommandSection, notes: tuple[str, ...] = ()) -> str:
    """The `[command.NAME]` block of a section; `notes` stand above it as comments."""
    lines = [f"# {line}" for note in notes for line in note.splitlines()]
    lines.append(f"[command.{_key(name)}]")
    lines.extend(_assignment("run", section.run))
    default = CommandSection()
    for one in fields(CommandSection):
        value = getattr(section, one.name)
        if one.name in ("run", "params") or value == getattr(default, one.name):
            continue
        lines.extend(_assignment(one.name, value))
    lines.extend(f"params.{_key(key)} = {_parameter(parameter)}" for key, parameter in section.params.items())
    return "\n".join(lines) + "\n"


def _assignment(key: str, value: Any) -> Iterator[str]:
    text = _value(value)
    if len(text) + len(key) < _WIDTH or not isinstance(value, tuple):
        yield f"{key} = {text}"
        return
    yield f"{key} = ["
    yield from (f"    {_value(item)}," for item in value)
    yield "]"


def _parameter(parameter: ParameterSection) -> str:
    default = ParameterSection()
    facts = {
        one.name: getattr(parameter, one.name)
        for one in fields(ParameterSection)
        if one.name == "type" or getattr(parameter, one.name) != getattr(default, one.name)
    }
    return _value(facts)


def _key(name: str) -> str:
    return name if _BARE_KEY.fullmatch(name) else _text(name)


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, tuple | list):
        return f"[{', '.join(_value(item) for item in value)}]"
    if isinstance(value, Mapping):
        return f"{{ {', '.join(f'{_key(str(key))} = {_value(item)}' for key, item in value.items())} }}"
    return str(value)


def _text(text: str) -> str:
    """A TOML basic string: JSON's, with the few signs more that TOML wants escaped."""
    return "".join(_ESCAPED.get(sign, sign) for sign in json.dumps(text, ensure_ascii=False))
