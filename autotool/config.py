"""`autotool.toml` (or `[tool.autotool]` in `pyproject.toml`), the environment and flags, as one frozen `Config`.

Later sources win: defaults, then the file, then `AUTOTOOL_<SECTION>_<KEY>` variables, then flags.
"""

from __future__ import annotations

import difflib
import os
import re
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, cast

import pydantic
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from autotool.errors import ConfigError

FILE_NAME = "autotool.toml"
ENV_PREFIX = "AUTOTOOL_"

_DURATION_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_SIZE_UNITS = {"b": 1, "kb": 1000, "mb": 1000**2, "gb": 1000**3, "kib": 1024, "mib": 1024**2, "gib": 1024**3}
_QUANTITY = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([A-Za-z]*)\s*")


def _duration(value: Any) -> Any:
    """Seconds from `"30s"`, `"5m"`, `"1h"`; a bare number is seconds."""
    if not isinstance(value, str):
        return value
    found = _QUANTITY.fullmatch(value)
    unit = (found.group(2).lower() or "s") if found else ""
    if found is None or unit not in _DURATION_UNITS:
        raise ValueError(f"{value!r} is not a duration; write it as '30s', '5m' or '1h'")
    return float(found.group(1)) * _DURATION_UNITS[unit]


def _size(value: Any) -> Any:
    """Bytes from `"256kB"`, `"4MiB"`; a bare number is bytes."""
    if not isinstance(value, str):
        return value
    found = _QUANTITY.fullmatch(value)
    unit = (found.group(2).lower() or "b") if found else ""
    if found is None or unit not in _SIZE_UNITS:
        raise ValueError(f"{value!r} is not a size; write it as '256kB' or '4MiB'")
    return int(float(found.group(1)) * _SIZE_UNITS[unit])


Duration = Annotated[float, BeforeValidator(_duration), Field(ge=0)]
Size = Annotated[int, BeforeValidator(_size), Field(ge=1)]


class _Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class ServerSection(_Section):
    """`[server]`: who the server is and where it listens."""

    name: str = Field(
        "", description="Name told to clients. Default: the wrapped distribution's, or the first target's."
    )
    transport: Literal["auto", "stdio", "http"] = Field(
        "auto", description="auto: stdio when standard input is not a terminal."
    )
    host: str = Field("127.0.0.1", description="Address for HTTP.")
    port: int = Field(8000, ge=0, le=65535, description="Port for HTTP; 0 takes a free one.")
    uds: str = Field("", description="Path of a Unix socket for HTTP, in place of host and port.")
    hosts: tuple[str, ...] = Field((), description="Further names under which HTTP clients may address the server.")
    origins: tuple[str, ...] = Field((), description="Origins of web pages that may call over HTTP.")
    legacy: bool = Field(True, description="Also speak the revisions with a handshake (2025-11-25 and earlier).")
    page_size: int = Field(200, ge=1, le=10_000, description="Tools on a page of tools/list.")
    list_ttl: Duration = Field(300.0, description="How long a client may keep the list.")


class ToolsSection(_Section):
    """`[tools]`: which tools exist. What is not allowed is neither listed nor callable."""

    allow: tuple[str, ...] = Field((), description="Globs over tool names; empty: all that the targets hold.")
    deny: tuple[str, ...] = Field((), description="Globs over tool names; these win over allow.")
    include: tuple[str, ...] = Field((), description="Globs over function names; others are not even read.")
    exclude: tuple[str, ...] = Field((), description="Globs over function names that are not read.")
    recursive: bool = Field(False, description="Also read a package's submodules.")
    importable: tuple[str, ...] = Field(
        (), description="Globs over dotted names that a caller may send for a function."
    )


class DefaultsSection(_Section):
    """`[defaults]`: the bounds of every call."""

    timeout: Duration = Field(60.0, description="Time limit of a call; 0: none.")
    max_output: Size = Field(256_000, description="Most bytes of text in a result.")
    threads: int = Field(8, ge=1, le=256, description="Synchronous calls that run at the same time.")
    in_flight: int = Field(64, ge=1, le=4096, description="Calls that run at the same time.")
    queue: int = Field(256, ge=0, le=100_000, description="Further calls that wait for their turn.")


class ToolSection(_Section):
    """`[tool.NAME]`: what one tool is told by and bounded by, in the place of what its code says."""

    title: str | None = Field(None, description="Short name for people.")
    description: str | None = Field(None, description="What it does, for the model.")
    read_only: bool | None = Field(None, description="It changes nothing.")
    destructive: bool | None = Field(None, description="It may destroy something.")
    idempotent: bool | None = Field(None, description="Calling it twice is like calling it once.")
    open_world: bool | None = Field(None, description="It reaches beyond this machine.")
    timeout: Duration | None = Field(None, description="Time limit of a call.")
    max_output: Size | None = Field(None, description="Most bytes of text in a result.")


class Config(_Section):
    """Everything that can be set."""

    targets: tuple[str, ...] = Field((), description="What is served when the command line names nothing.")
    server: ServerSection = ServerSection.model_validate({})
    tools: ToolsSection = ToolsSection.model_validate({})
    defaults: DefaultsSection = DefaultsSection.model_validate({})
    tool: dict[str, ToolSection] = Field({}, description="Single tools, by name.")


def find_file(start: Path) -> Path | None:
    """The nearest `autotool.toml`, or `pyproject.toml` with `[tool.autotool]`, from `start` upwards."""
    for folder in (start, *start.parents):
        own = folder / FILE_NAME
        if own.is_file():
            return own
        project = folder / "pyproject.toml"
        if project.is_file() and "[tool.autotool" in project.read_text(encoding="utf-8", errors="replace"):
            return project
    return None


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
    _merge(plain, _from_environment(os.environ if environment is None else environment))
    for section, values in (flags or {}).items():
        given = {key: value for key, value in values.items() if value is not None}
        _merge(plain, {section: given} if given else {})
    try:
        return Config.model_validate(plain)
    except pydantic.ValidationError as error:
        raise _explained(error, path, text) from None


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
    for section, field in Config.model_fields.items():
        model = field.annotation
        if not (isinstance(model, type) and issubclass(model, BaseModel)):
            continue
        for key, setting in model.model_fields.items():
            text = environment.get(f"{ENV_PREFIX}{section}_{key}".upper())
            if text is None:
                continue
            is_list = "tuple" in str(setting.annotation)
            found.setdefault(section, {})[key] = (
                [part.strip() for part in text.split(",") if part.strip()] if is_list else text
            )
    return found


def _explained(error: pydantic.ValidationError, path: Path | None, text: str) -> ConfigError:
    first = error.errors(include_url=False)[0]
    location = [str(step) for step in first["loc"]]
    where = f"{path}" if path is not None else "the settings"
    line = _line_of(location, text)
    if line:
        where += f", line {line}"
    name = ".".join(location)
    if first["type"] == "extra_forbidden":
        return ConfigError(f"{where}: there is no key `{name}`", hint=_nearest_key(location))
    message = first["msg"].removeprefix("Value error, ")
    message = message.replace("Input should be", "it must be", 1)
    return ConfigError(f"{where}: `{name}`: {message}, not {first['input']!r}")


def _nearest_key(location: list[str]) -> str:
    model: Any = Config
    for step in location[:-1]:
        field = model.model_fields.get(step)
        if field is None:
            break
        model = field.annotation
    known: Iterable[str] = model.model_fields if isinstance(model, type) and issubclass(model, BaseModel) else ()
    close = difflib.get_close_matches(location[-1], known, n=1, cutoff=0.5)
    if close:
        return f"Did you mean `{close[0]}`?"
    return "There are " + ", ".join(f"`{key}`" for key in known) + "."


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
    return joined == full or joined.startswith(full + ".") or re.sub(r"\.\d+$", "", joined) == full
