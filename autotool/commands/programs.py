"""Which file a command runs: found once, when the server starts, and the same one ever after."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class ProgramFile:
    """A program by the word that names it.

    Attributes:
        path: its absolute path; "" when there is no such program.
        identity: device, inode, size and time of the last change of the file's contents or name.
        problem: why it cannot be run, or "".
    """

    word: str
    path: str = ""
    identity: tuple[int, int, int, int] | None = None
    problem: str = ""

    @property
    def has_changed(self) -> bool:
        """Whether the file is another one than when it was found."""
        return self.identity is not None and _identity(self.path) != self.identity


def find(word: str, search: str | None = None) -> ProgramFile:
    """The program behind the first word of a command line: a path, or a name on `search` (default: `PATH`)."""
    if os.sep in word or (os.altsep and os.altsep in word):
        path = Path(word).absolute()
        if not path.exists():
            return ProgramFile(word, problem=f"`{word}` was not found: there is no file {path}")
        if path.is_dir():
            return ProgramFile(word, problem=f"`{word}` is a folder, not a program")
        if not os.access(path, os.X_OK):
            return ProgramFile(word, problem=f"`{word}` is not executable; `chmod +x {word}` makes it so")
        return ProgramFile(word, str(path), _identity(str(path)))
    found = shutil.which(word, path=search)
    if found is None:
        return ProgramFile(word, problem=f"`{word}` was not found on the server's PATH; install it, or write its path")
    path = os.path.abspath(found)  # noqa: PTH100 - a link keeps its own name, by which many programs know what to do
    return ProgramFile(word, path, _identity(path))


def _identity(path: str) -> tuple[int, int, int, int] | None:
    try:
        facts = Path(path).stat()
    except OSError:
        return None
    return (facts.st_dev, facts.st_ino, facts.st_size, facts.st_ctime_ns)
