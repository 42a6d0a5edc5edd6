"""Values that a config does not hold, but names: a variable of the server's environment, or a file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from autotool.config import EnvSource
from autotool.errors import ConfigError


def secret_of(source: EnvSource, environment: Mapping[str, str], where: str) -> str:
    """The value that `source` names; `where` is the key of the config, for the error.

    Raises:
        ConfigError: it names nothing, or what it names is not there.
    """
    if bool(source.variable) == bool(source.file):
        raise ConfigError(
            f"{where}: name either a `variable` or a `file`", hint='For example { variable = "API_KEY" }.'
        )
    if source.variable:
        if source.variable not in environment:
            raise ConfigError(
                f"{where}: the variable {source.variable} is not set", hint="Set it before the server starts."
            )
        return environment[source.variable]
    try:
        return Path(source.file).read_text(encoding="utf-8").split("\n", 1)[0].rstrip("\r")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{where}: {source.file} cannot be read: {error}") from None
