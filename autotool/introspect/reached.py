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
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, SupportsIndex, overload

_READERS = ("parse_args", "parse_known_args", "parse_intermixed_args", "parse_known_intermixed_args")
_HELPS = ("print_help", "print_usage")
"""What a program may do in the place of reading no words."""
LIBRARIES = ("click", "typer", "fire")
"""Packages that read command lines, beside the standard library's argparse."""


class Reached(BaseException):
    """Code was about to read its command line with `value`: an argparse parser, a click command, a Typer app, or a component."""

    def __init__(self, value: Any, kind: str) -> None:
        super().__init__(kind)
        self.value = value
        self.kind = kind


@dataclass
class Watch:
    """What was reached, also where the code catches everything and goes on.

    Attributes:
        first: what would have read the command line.
        before: a parser that read a first option or two.
    """

    first: Reached | None = None
    before: Reached | None = None

    @property
    def found(self) -> Reached | None:
        """The one that is meant."""
        return self.first or self.before


class _Words(list[str]):
    """A command line that is known again in a slice of it, `parse_args(sys.argv[1:])`."""

    @overload
    def __getitem__(self, at: SupportsIndex) -> str: ...
    @overload
    def __getitem__(self, at: slice) -> _Words: ...
    def __getitem__(self, at: Any) -> Any:
        found = super().__getitem__(at)
        return _Words(found) if isinstance(at, slice) else found


def run_module(name: str, libraries: Sequence[str] = LIBRARIES) -> Reached | None:
    """Run the module `name` as `python -m` does; None when it ends without reading a command line."""
    return _reach(lambda: runpy.run_module(name, run_name="__main__", alter_sys=True), name, libraries)


def run_file(path: str, libraries: Sequence[str] = LIBRARIES) -> Reached | None:
    """Run a script as `python file.py` does; None when it ends without reading a command line."""
    return _reach(lambda: runpy.run_path(path, run_name="__main__"), path, libraries)


def run_function(function: Callable[[], Any], name: str, libraries: Sequence[str] = LIBRARIES) -> Reached | None:
    """Call a program's entry function; None when it ends without reading a command line."""
    return _reach(function, name, libraries)


def _reach(work: Callable[[], Any], name: str, libraries: Sequence[str]) -> Reached | None:
    watch = Watch()
    try:
        with command_line(name), intercepted(libraries, watch, is_run=True):
            work()
    except Reached as reached:
        return reached
    except SystemExit:
        return watch.found
    except Exception:
        if watch.found is None:
            raise
    return watch.found


@contextmanager
def command_line(name: str) -> Generator[None]:
    """Have `sys.argv` be that of a program that is called without arguments."""
    kept = sys.argv
    sys.argv = _Words([name])
    try:
        yield
    finally:
        sys.argv = kept


@contextmanager
def intercepted(
    libraries: Sequence[str] = LIBRARIES, watch: Watch | None = None, *, is_run: bool = False
) -> Generator[None]:
    """Have whatever reads a command line raise `Reached` instead.

    Args:
        libraries: packages that are imported for it; those that are loaded are watched as well.
        watch: where the first is kept.
        is_run: code is run as a program is, and whatever it reads is its command line. Where code is only imported or called,
            a parser that is given words of its own just reads them.
    """
    seen = watch or Watch()
    replaced: list[tuple[Any, str, Any]] = []
    try:
        for owner, name, kind in _places(libraries):
            before = vars(owner)[name]
            replaced.append((owner, name, before))
            setattr(owner, name, _reader(kind, name, before, seen, is_run=is_run))
        yield
    finally:
        for owner, name, before in reversed(replaced):
            setattr(owner, name, before)


def _reader(kind: str, name: str, before: Any, watch: Watch, *, is_run: bool) -> Callable[..., Any]:
    def reach(value: Any) -> Reached:
        found = Reached(value, kind)
        watch.first = watch.first or found
        return found

    def read(value: Any = None, *_: Any, **__: Any) -> Any:
        raise reach(value)

    def parse(parser: Any, *args: Any, **kwargs: Any) -> Any:
        given = args[0] if args else kwargs.get("args")
        if not is_run and given is not None and not isinstance(given, _Words):
            return before(parser, *args, **kwargs)
        if name == "parse_known_args" and not parser.add_help:
            # A parser without help of its own reads a first option or two; the one that is meant comes after it.
            watch.before = watch.before or Reached(parser, kind)
            with suppress(SystemExit, Reached):
                found, rest = before(
                    parser, [], *args[1:], **{key: one for key, one in kwargs.items() if key != "args"}
                )
                return found, _Words(rest)
        raise reach(parser)

    return parse if name in _READERS else read


def _places(libraries: Sequence[str]) -> Iterator[tuple[Any, str, str]]:
    for name in (*_READERS, *_HELPS):
        yield argparse.ArgumentParser, name, "argparse"
    for library in libraries:
        try:
            importlib.import_module(library)
        except Exception:
            continue
    for name, module in list(sys.modules.items()):
        # Typer carries a click of its own.
        if name == "click.core" or name.endswith("._click.core"):
            for base in (vars(module).get("BaseCommand"), vars(module).get("Command")):
                if isinstance(base, type):
                    yield from _click_places(base)
        elif name == "typer.main" and "__call__" in vars(module.Typer):
            yield module.Typer, "__call__", "typer"
        elif name in ("fire", "fire.core") and "Fire" in vars(module):
            yield module, "Fire", "fire"


def _click_places(base: type) -> Iterator[tuple[Any, str, str]]:
    """`main`, and what every `main` calls: a subclass may have one of its own (Typer's groups and rich-click's do)."""
    for name in ("main", "make_context"):
        if name in vars(base):
            yield base, name, "click"
