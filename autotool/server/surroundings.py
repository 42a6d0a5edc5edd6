"""The environment that workers get: the person's, less what belongs to the server, or an allowlist of it."""

from __future__ import annotations

from collections.abc import Mapping
from fnmatch import fnmatchcase

from autotool.commands.secrets import secret_of
from autotool.config import Config, EnvSource, WorkerSection
from autotool.runtime.spawn import SERVER_SECRETS

_FOR_PYTHON = ("PYTHON*", "VIRTUAL_ENV", "LD_LIBRARY_PATH", "SYSTEMROOT")
"""What an interpreter needs to start as the person would have started it."""


def server_variables(config: Config) -> set[str]:
    """The variables in which the config says that the server's own secrets are."""
    named = (config.server.key, config.server.storage, config.approval.key)
    return {one.variable for one in named if isinstance(one, EnvSource) and one.variable}


def environment_of(
    section: WorkerSection, config: Config, environment: Mapping[str, str], subject: str
) -> tuple[dict[str, str] | None, dict[str, str]]:
    """The variables of a worker, None for all that are not the server's by their names, and those that are secret.

    Args:
        subject: the section's name, for errors.

    Raises:
        ConfigError: a variable or file that the section names is not there.
    """
    own = server_variables(config) & set(environment)
    if section.pass_env is None and not section.env and not own:
        return None, {}
    from autotool.commands.environment import PASSED, PASSED_PREFIX

    wanted = ("*",) if section.pass_env is None else (*PASSED, f"{PASSED_PREFIX}*", *_FOR_PYTHON, *section.pass_env)
    found = {
        name: value
        for name, value in environment.items()
        if name not in own and not name.startswith(SERVER_SECRETS) and any(fnmatchcase(name, glob) for glob in wanted)
    }
    secrets: dict[str, str] = {}
    for name, value in section.env.items():
        if isinstance(value, EnvSource):
            secrets[name] = secret_of(value, environment, f"{subject} env.{name}")
        else:
            found[name] = value
    return {**found, **secrets}, secrets
