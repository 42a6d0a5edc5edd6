"""The files that a process has read for the person's code, by which a reload knows what to watch."""

from __future__ import annotations

import os
import sys
import sysconfig
from collections.abc import Iterable
from pathlib import Path

from autotool.model import SourceFile

_FOREIGN = ("site-packages", "dist-packages")


def imported_files(further: Iterable[str] = ()) -> tuple[SourceFile, ...]:
    """The person's own modules that were imported so far, with the stub files beside them, and `further` files; sorted by path.

    What is installed, and Python's own library, is left out. Each comes as it was now.
    """
    roots = _library_roots()
    names = [str(getattr(module, "__file__", None) or "") for module in list(sys.modules.values())]
    own = {str(Path(name).absolute()) for name in (*names, *further) if name and _is_own(name, roots)}
    stubs = {path + "i" for path in own if path.endswith(".py")}
    return tuple(fingerprint(path) for path in sorted(own | {stub for stub in stubs if Path(stub).is_file()}))


def fingerprint(path: str) -> SourceFile:
    """What a file looks like from outside; all zero for one that is not there."""
    try:
        found = os.stat(path)  # noqa: PTH116 - asked of every file several times a minute
    except OSError:
        return SourceFile(path)
    return SourceFile(path, found.st_mtime_ns, found.st_size, found.st_ino)


def _library_roots() -> tuple[str, ...]:
    paths = sysconfig.get_paths()
    found = {paths[name] for name in ("stdlib", "platstdlib", "purelib", "platlib")}
    found.add(str(Path(__file__).parent.parent))
    return tuple(f"{os.path.realpath(path)}{os.sep}" for path in found)


def _is_own(name: str, roots: tuple[str, ...]) -> bool:
    path = os.path.realpath(name)
    return not path.startswith(roots) and not any(part in _FOREIGN for part in Path(path).parts)
