"""The way in. `serve` as clients start it needs no help pages, and Typer brings pydantic: a fifth of a second.

A command line of targets and known options of `serve` is read here; everything else, every mistake included, is Typer's.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Sequence
from typing import Any

from autotool.cli.plans import Flags, plan_for
from autotool.errors import OperatorError

_SWITCHES = {
    "--stdio": "stdio",
    "--http": "http",
    "--recursive": "recursive",
    "--inline": "inline",
    "--debug": "debug",
    "--no-auth": "no_auth",
    "--read-only": "read_only",
    "--reload": "reload",
    "--locked": "locked",
}
_VALUES = {
    "--host": "host",
    "--port": "port",
    "--uds": "uds",
    "--timeout": "timeout",
    "--config": "config",
    "--budget": "budget",
}
_LISTS = {"--include": "include", "--exclude": "exclude", "--command": "commands"}


def read_serve(arguments: Sequence[str]) -> tuple[Flags, bool, bool] | None:
    """The flags of `serve`, and whether `--stdio` and `--http` were given; None for what only Typer can judge."""
    found: dict[str, Any] = {}
    targets: list[str] = []
    words = iter(arguments)
    for word in words:
        name, equals, value = word.partition("=")
        if not word.startswith("-"):
            targets.append(word)
        elif word in _SWITCHES:
            found[_SWITCHES[word]] = True
        elif name in _VALUES or name in _LISTS:
            value = value if equals else next(words, "")
            if not value or value.startswith("-"):
                return None
            if name in _LISTS:
                found.setdefault(_LISTS[name], []).append(value)
            else:
                found[_VALUES[name]] = value
        else:
            return None
    port = found.get("port")
    if port is not None:
        if not port.isdigit() or int(port) > 65535:
            return None
        found["port"] = int(port)
    stdio, http = found.pop("stdio", False), found.pop("http", False)
    return Flags(targets, **found), stdio, http


def run(arguments: Sequence[str]) -> None:
    """Run the command line; an operator's mistake is one line and exit code 2."""
    read = read_serve(arguments[1:]) if arguments[:1] == ["serve"] else None
    if read is None:
        from autotool.cli.app import app

        guarded(app)
    else:
        from autotool.cli import serve

        flags, stdio, http = read
        guarded(lambda: serve.run(lambda: plan_for(flags), stdio=stdio, http=http))


def guarded(work: Callable[[], Any]) -> None:
    """Run `work`; the one place where an operator's mistake becomes words and an exit code."""
    try:
        work()
    except OperatorError as error:
        _say(f"autotool: {error.message}")
        if error.hint:
            _say(f"  {error.hint}")
        if "--debug" in sys.argv:
            raise
        _exit(error.exit_code)
    except KeyboardInterrupt:
        _exit(130)
    finally:
        _discard_early()


def _say(text: str) -> None:
    sys.stderr.buffer.write((text + "\n").encode("utf-8", "backslashreplace"))
    sys.stderr.flush()


def _discard_early() -> None:
    from autotool.runtime import spawn

    spawn.discard(spawn.take_early())


def _exit(code: int) -> None:
    """End without waiting for threads in which a person's code may still run."""
    _discard_early()
    with contextlib.suppress(OSError, ValueError):
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(code)
