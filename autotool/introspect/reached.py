"""Runs code up to the moment at which it reads its command line, and gives what it would read it with.

A parser that is made inside a function, or when a script is run, is no object that a target could name. So the functions that read a
command line are replaced for that moment, and the first of them that is called ends the run with what it was called on.
"""

from __future__ import annotations

import argparse
import importlib
import runpy
import sys
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

_READERS = ("parse_args", "parse_known_args", "parse_intermixed_args", "parse_known_intermixed_args")
LIBRARIES = ("click", "typer", "fire")
"""Packages that read command lines, beside the standard library's argparse."""


class Reached(BaseException):
    """Code was about to read its command line with `value`: an argparse parser, a click command, a Typer app, or a component."""

    def __init__(self, value: Any, kind: str) -> None:
        super().__init__(kind)
        self.value = value
        self.kind = kind


def run_module(name: str) -> Reached | None:
    """Run the module `name` as `python -m` does; None when it ends without reading a command line."""
    return _reach(lambda: runpy.run_module(name, run_name="__main__", alter_sys=True), [name])


def run_file(path: str) -> Reached | None:
    """Run a script as `python file.py` does; None when it ends without reading a command line."""
    return _reach(lambda: runpy.run_path(path, run_name="__main__"), [path])


def run_function(function: Callable[[], Any], name: str) -> Reached | None:
    """Call a program's entry function; None when it ends without reading a command line."""
    return _reach(function, [name])


def _reach(work: Callable[[], Any], argv: Sequence[str]) -> Reached | None:
    kept = sys.argv
    sys.argv = list(argv)
    try:
        with intercepted():
            work()
    except Reached as reached:
        return reached
    except SystemExit:
        return None
    finally:
        sys.argv = kept
    return None


@contextmanager
def intercepted(libraries: Sequence[str] = LIBRARIES) -> Generator[None]:
    """Have whatever reads a command line raise `Reached` instead."""
    replaced: list[tuple[Any, str, Any]] = []
    try:
        for owner, name, kind in _places(libraries):
            replaced.append((owner, name, vars(owner)[name]))
            setattr(owner, name, _raiser(kind))
        yield
    finally:
        for owner, name, before in reversed(replaced):
            setattr(owner, name, before)


def _raiser(kind: str) -> Callable[..., Any]:
    def read(value: Any = None, *_: Any, **__: Any) -> Any:
        raise Reached(value, kind)

    return read


def _places(libraries: Sequence[str]) -> Iterator[tuple[Any, str, str]]:
    for name in _READERS:
        yield argparse.ArgumentParser, name, "argparse"
    for library in libraries:
        try:
            importlib.import_module(library)
        except Exception:
            continue
    for name, module in list(sys.modules.items()):
        # Typer carries a click of its own.
        if name == "click.core" or name.endswith("._click.core"):
            for cls in (getattr(module, "BaseCommand", None), getattr(module, "Command", None)):
                if isinstance(cls, type) and "main" in vars(cls):
                    yield cls, "main", "click"
        elif name == "typer.main" and "__call__" in vars(module.Typer):
            yield module.Typer, "__call__", "typer"
        elif name in ("fire", "fire.core") and "Fire" in vars(module):
            yield module, "Fire", "fire"
