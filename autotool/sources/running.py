"""How a program written in Python is run: by calling its function, or as a process of its own."""

from __future__ import annotations

import argparse
import importlib.util
import inspect
import re
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from autotool.introspect import reached
from autotool.introspect.importing import Loaded
from autotool.sources.base import Exited, Subprogram

_GUARD = re.compile(r"""__name__\s*==\s*["']__main__["']|["']__main__["']\s*==\s*__name__""")
_ENTRIES = ("main", "cli", "run", "_main")


def ended(given: Any) -> Exited | Subprogram:
    """How a program ended whose function returned `given`, as `sys.exit(main())` would end it."""
    if isinstance(given, Subprogram):
        return given
    if isinstance(given, bool) or given is None:
        return Exited(0)
    return Exited.by(SystemExit(given)) if isinstance(given, int | str) else Exited(0)


def with_argv(function: Callable[[], Any], name: str) -> Callable[[list[str]], Any]:
    """Call a program's own function, with its words where it looks for them."""

    def run(argv: list[str]) -> Any:
        kept = sys.argv
        sys.argv = [name, *argv]
        try:
            return function()
        finally:
            sys.argv = kept

    return run


def subprogram(*head: str) -> Callable[[list[str]], Any]:
    """Run the words behind `head` as a process of their own."""
    return lambda argv: Subprogram((*head, *argv))


def as_subprogram(loaded: Loaded) -> Callable[[list[str]], Any]:
    """Run the module or file in a Python of its own, as a person would."""
    target = loaded.target
    head = [str(loaded.module.__file__)] if target.is_file else ["-m", target.location]
    return subprogram(sys.executable, *head)


def script_as_subprogram(name: str) -> Callable[[list[str]], Any]:
    """Run a console script of this Python's environment in a Python of its own."""
    code = (
        "import importlib.metadata, sys;"
        f" entry, = list(importlib.metadata.entry_points(group='console_scripts', name={name!r}))[:1];"
        f" sys.argv[0] = {name!r}; sys.exit(entry.load()())"
    )
    return subprogram(sys.executable, "-c", code)


def object_as_subprogram(loaded: Loaded, name: str, function: str = "") -> Callable[[list[str]], Any]:
    """Import a target's object in a Python of its own and call it there; of a parser, the `function` that parsing gives."""
    target = loaded.target
    file = Path(str(loaded.module.__file__))
    folder, module = (str(file.parent), file.stem) if target.is_file else ("", target.location)
    is_made = target.is_factory and not loaded.is_entry
    lines = [
        "import importlib, sys",
        f"sys.path[:1] = [{folder!r}]",
        f"sys.argv[0] = {name!r}",
        f"program = importlib.import_module({module!r}).{loaded.path}{'()' if is_made else ''}",
    ]
    if function:
        lines += ["found = program.parse_args()", f"sys.exit(found.{function}(found))"]
    else:
        lines += ["sys.exit(program())"]
    return subprogram(sys.executable, "-c", "\n".join(lines))


def runs_when_run(loaded: Loaded) -> bool:
    """Whether a module does something when it is run as a program."""
    module = loaded.module
    if hasattr(module, "__path__"):
        return importlib.util.find_spec(f"{module.__name__}.__main__") is not None
    try:
        text = Path(str(module.__file__)).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False
    return bool(_GUARD.search(text))


def main_of(module: ModuleType, parser: argparse.ArgumentParser) -> Callable[[], Any] | None:
    """The function beside a parser that reads its command line with it, or with one that is just like it."""
    for name in _ENTRIES:
        function = vars(module).get(name)
        if not inspect.isfunction(function) or not _needs_nothing(function):
            continue
        try:
            found = reached.run_function(function, module.__name__, ())
        except Exception:
            continue
        if found is not None and (found.value is parser or _spellings(found.value) == _spellings(parser)):
            return function
    return None


def _needs_nothing(function: Callable[..., Any]) -> bool:
    try:
        inspect.signature(function).bind()
    except (TypeError, ValueError):
        return False
    return True


def _spellings(parser: Any) -> list[tuple[str, ...]]:
    actions = parser._actions if isinstance(parser, argparse.ArgumentParser) else []
    return [tuple(action.option_strings) or (action.dest,) for action in actions]
