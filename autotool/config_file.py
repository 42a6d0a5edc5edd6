"""`autotool.toml` (or `[tool.autotool]` in `pyproject.toml`), the environment and flags, read into a `Config`.

Later sources win: defaults, then the file, then `AUTOTOOL_<SECTION>_<KEY>` variables, then flags.
"""

from __future__ import annotations

import dataclasses
import difflib
import os
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import pydantic

from autotool.config import (
    ApprovalSection,
    AuditSection,
    AuthSection,
    CommandSection,
    Config,
    DefaultsSection,
    EnvSource,
    IconSection,
    LimitsSection,
    OverrideSection,
    ParameterSection,
    ProgramSection,
    RedactSection,
    ScopeSection,
    ServerSection,
    ToolSection,
    ToolsSection,
    WorkerSection,
    WorkerSetSection,
)
from autotool.errors import ConfigError

ENV_PREFIX = "AUTOTOOL_"
SECTIONS: dict[str, type[Any]] = {
    "server": ServerSection,
    "tools": ToolsSection,
    "defaults": DefaultsSection,
    "limits": LimitsSection,
    "redact": RedactSection,
    "worker": WorkerSection,
    "approval": ApprovalSection,
    "audit": AuditSection,
    "auth": AuthSection,
}
NAMED_SECTIONS: dict[str, type[Any]] = {
    "tool": ToolSection,
    "command": CommandSection,
    "program": ProgramSection,
    "scopes": ScopeSection,
    "workers": WorkerSetSection,
}
"""Sections that stand once for each name: `[tool.NAME]`."""

Flags = Mapping[str, Mapping[str, Any]]

_BRANCHES = ("str", "int", "float", "bool", "EnvSource")

_READER = pydantic.TypeAdapter(Config)


def load(
    path: Path | None,
    *,
    environment: Mapping[str, str] | None = None,
    flags: Mapping[str, Mapping[str, Any]] | None = None,
) -> Config:
    """Merge the file at `path` (None: no file), the environment and flags.

    Args:
        environment: variables; the process's own by default.
        flags: by section and key; a None value was not given.

    Raises:
        ConfigError: the file cannot be read, or a key is unknown, of the wrong type or impossible.
    """
    text, plain = _read(path) if path is not None else ("", {})
    variables = _from_environment(os.environ if environment is None else environment)
    _merge(plain, variables)
    for section, values in (flags or {}).items():
        given = {key: value for key, value in values.items() if value is not None}
        _merge(plain, {section: given} if given else {})
    try:
        return _READER.validate_python(plain)
    except pydantic.ValidationError as error:
        raise _explained(error, path, text, flags or {}, variables) from None


def _read(path: Path) -> tuple[str, dict[str, Any]]:
    try:
        text = path.read_text(encoding="utf-8")
        plain = tomllib.loads(text)
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} is not valid TOML: {error}") from None
    if path.name == "pyproject.toml":
        plain = cast("dict[str, Any]", plain.get("tool", {}).get("autotool", {}))
    return text, plain


def _merge(into: dict[str, Any], values: Mapping[str, Any]) -> None:
    for key, value in values.items():
        present = into.get(key)
        if isinstance(present, dict) and isinstance(value, dict):
            into[key] = {**present, **value}
        else:
            into[key] = value


def _from_environment(environment: Mapping[str, str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for section, cls in SECTIONS.items():
        for setting in dataclasses.fields(cls):
            text = environment.get(f"{ENV_PREFIX}{section}_{setting.name}".upper())
            if text is None:
                continue
            is_list = "tuple" in str(setting.type)
            value = [part.strip() for part in text.split(",") if part.strip()] if is_list else text
            found.setdefault(section, {})[setting.name] = value
    return found


def _explained(
    error: pydantic.ValidationError, path: Path | None, text: str, flags: Flags, variables: Mapping[str, Any]
) -> ConfigError:
    # Of the branches of a union the one that got furthest is the one that was meant.
    first = max(error.errors(include_url=False), key=lambda one: len(one["loc"]))
    location = _without_branches(first["loc"])
    where = _where(location, path, text, flags, variables)
    name = ".".join(location)
    if first["type"] in ("extra_forbidden", "unexpected_keyword_argument"):
        return ConfigError(f"{where}: there is no key `{name}`", hint=_nearest_key(location))
    if first["type"] == "value_error":
        return ConfigError(f"{where}: `{name}`: {first['msg'].removeprefix('Value error, ')}")
    message = first["msg"].replace("Input should be", "it must be", 1)
    return ConfigError(f"{where}: `{name}`: {message}, not {first['input']!r}")


def _without_branches(steps: tuple[int | str, ...]) -> list[str]:
    """A location without the names of types by which pydantic tells the branches of a union apart."""
    found: list[str] = []
    for step in map(str, steps):
        is_name = bool(found) and found[-1] in ("params", "env")
        if is_name or not (step in _BRANCHES or step.startswith("tuple[")):
            found.append(step)
    return found


def _where(location: list[str], path: Path | None, text: str, flags: Flags, variables: Mapping[str, Any]) -> str:
    """The origin of a value: the last of the sources that gave it."""
    section, key = (location[0], location[1]) if len(location) > 1 else ("", location[0])
    if flags.get(section, {}).get(key) is not None:
        return "the command line"
    if key in variables.get(section, {}):
        return f"the variable {ENV_PREFIX}{section}_{key}".upper().replace("THE VARIABLE", "the variable")
    line = _line_of(location, text)
    return f"{path}, line {line}" if line else str(path)


def _nearest_key(location: list[str]) -> str:
    owner = _owner(location)
    known = [setting.name for setting in dataclasses.fields(owner)] if owner is not None else []
    close = difflib.get_close_matches(location[-1], known, n=1, cutoff=0.5)
    if close:
        return f"Did you mean `{close[0]}`?"
    return "There are " + ", ".join(f"`{key}`" for key in known) + "."


def _owner(location: list[str]) -> Any:
    """The section that would have the key at the end of `location`."""
    if len(location) == 1:
        return Config
    if location[0] in NAMED_SECTIONS:
        params = OverrideSection if location[0] == "tool" else ParameterSection
        inner = (
            {"params": params, "env": EnvSource, "icons": IconSection}.get(location[2]) if len(location) == 5 else None
        )
        return inner or NAMED_SECTIONS[location[0]]
    return SECTIONS.get(location[0])


def _line_of(location: list[str], text: str) -> int:
    """The line of a key, found by its section and name: `tomllib` does not say."""
    section = ""
    for number, line in enumerate(text.splitlines(), 1):
        words = line.strip()
        if words.startswith("["):
            section = words.strip("[] ").removeprefix("tool.autotool").strip(".")
            if [section] == location:
                return number
        elif "=" in words and _is_key(words, section, location):
            return number
    return 0


def _is_key(words: str, section: str, location: list[str]) -> bool:
    key = words.partition("=")[0].strip().strip("\"'")
    full = f"{section}.{key}" if section else key
    joined = ".".join(location)
    is_part = joined.startswith(full + ".") or full.startswith(joined + ".")
    return joined == full or is_part or re.sub(r"\.\d+$", "", joined) == full
