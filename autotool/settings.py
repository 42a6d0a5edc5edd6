"""Where settings come from. Without a file, variables or flags there is nothing to read: the defaults stand."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from autotool.config import Config

FILE_NAME = "autotool.toml"


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


def gather(path: Path | None, flags: Mapping[str, Mapping[str, Any]]) -> Config:
    """The settings from the file at `path` (None: no file), the environment and flags, by section and key.

    Raises:
        ConfigError: a setting is unknown, of the wrong type or impossible.
    """
    given = any(value is not None for values in flags.values() for value in values.values())
    if path is None and not given and not any(name.startswith("AUTOTOOL_") for name in os.environ):
        return Config()
    from autotool import config_file

    return config_file.load(path, flags=flags)
