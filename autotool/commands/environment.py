"""What a command sees of the environment: a short allowlist, what its section lists, and words for a machine that reads."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from autotool.commands.guard import unfit
from autotool.commands.secrets import secret_of
from autotool.commands.template import fill, placeholders_of
from autotool.config import EnvSource, RunSection
from autotool.errors import ArgumentError

PASSED = ("PATH", "HOME", "LANG", "TZ", "TMPDIR", "USER")
PASSED_PREFIX = "LC_"

FOR_MACHINES = {
    "NO_COLOR": "1",
    "TERM": "dumb",
    "PAGER": "cat",
    "GIT_PAGER": "cat",
    "MANPAGER": "cat",
    "GIT_TERMINAL_PROMPT": "0",
    "PYTHONIOENCODING": "utf-8",
}
"""No colours, no pager that waits for a key, no question at a terminal (https://no-color.org, git-config(1))."""


def base(environment: Mapping[str, str]) -> dict[str, str]:
    """What every command gets of the server's `environment`."""
    passed = {name: value for name, value in environment.items() if name in PASSED or name.startswith(PASSED_PREFIX)}
    return {**passed, **FOR_MACHINES}


def fixed(section: RunSection, environment: Mapping[str, str], subject: str) -> tuple[dict[str, str], dict[str, str]]:
    """The variables that are the same for every call, and those among them that are secret.

    Raises:
        ConfigError: a variable or file that the section names is not there.
    """
    found = base(environment)
    secrets: dict[str, str] = {}
    for name in section.pass_env:
        if name in environment:
            found[name] = environment[name]
    for name, value in section.env.items():
        if isinstance(value, EnvSource):
            found[name] = secret_of(value, environment, f"{subject}: env.{name}")
            secrets[name] = found[name]
        elif not placeholders_of(value):
            found[name] = fill(value, {}) or ""
    return found, secrets


def filled(section: RunSection, values: Mapping[str, Any]) -> dict[str, str]:
    """The variables that hold values of a call; one whose value was left out is not set.

    Raises:
        ArgumentError: a value cannot be a variable.
    """
    found: dict[str, str] = {}
    for name, value in section.env.items():
        places = placeholders_of(value) if isinstance(value, str) else ()
        text = fill(value, values) if isinstance(value, str) else None
        if text is None or not places:
            continue
        problem = unfit(places[0].name, text)
        if problem:
            raise ArgumentError([problem])
        found[name] = text
    return found
