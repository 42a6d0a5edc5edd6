"""`autotool lock` and `autotool verify`."""

from __future__ import annotations

import sys
from pathlib import Path

from autotool.cli import console
from autotool.errors import ConfigError
from autotool.policy import lock
from autotool.server import Plan, close, describe


def write(plan: Plan, file: str | None) -> None:
    """Pin the definitions of all tools of `plan`.

    Raises:
        OperatorError: a target cannot be read, or the file cannot be written.
    """
    path = Path(file or plan.config.tools.lock)
    out = console.take_stdout()
    application, loop = describe(plan)
    text = lock.dump(lock.locked_of(application.catalog))
    before = path.read_text(encoding="utf-8") if path.is_file() else ""
    try:
        if text != before:
            path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"{path} cannot be written: {error.strerror}") from None
    count = len(application.catalog.tools)
    changed = "as before" if text == before else "written"
    out.write(f"{path}: {count} {'tool' if count == 1 else 'tools'}, {changed}\n")
    out.flush()
    close(application, loop)


def verify(plan: Plan, file: str | None) -> None:
    """Hold the tools of `plan` against the lock file; what differs goes to standard output, and the exit code is 1.

    Raises:
        OperatorError: a target or the lock file cannot be read.
    """
    path = Path(file or plan.config.tools.lock)
    out = console.take_stdout()
    locked = lock.load(path)
    application, loop = describe(plan)
    found = lock.differences(locked, application.catalog)
    out.write(lock.refusal(path, found) + "\n" if found else f"{path}: {len(locked)} tools, none differs\n")
    out.flush()
    close(application, loop)
    if found:
        sys.exit(1)
