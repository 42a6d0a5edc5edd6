"""What is known of widely used programs: which word ends their options, which exit codes are answers, which signs they expand."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath


def _names(words: str) -> frozenset[str]:
    return frozenset(words.split())


_DOUBLE_DASH = _names(
    "awk b2sum base32 base64 basename bzip2 cat chmod chown cksum cmp comm cp csplit curl cut date df diff diff3 dirname du egrep"
    " expand fgrep file fmt fold gawk grep groups gzip head id install join jq less link ln ls mawk md5sum mkdir mkfifo mktemp"
    " more mv nl node numfmt od paste patch pathchk pr ps psql ptx readlink realpath rg rm rmdir rsync sed seq sha1sum sha224sum"
    " sha256sum sha384sum sha512sum shred shuf sort split sqlite3 ssh stat strings sum tac tail tar tee touch tr truncate tsort tty"
    " uname unexpand uniq unlink wc wget which who xargs xz zcat zgrep zip zstd docker kubectl podman helm gh cargo pip fd bat"
)
_PROGRAMS_WITHOUT = _names("echo expr find printf test [ dd true false yes sh bash dash zsh sleep kill")

ANSWERS: dict[str, tuple[int, ...]] = dict.fromkeys(
    ("grep", "egrep", "fgrep", "zgrep", "rg", "ag", "diff", "diff3", "cmp", "test", "[", "pgrep", "which", "expr"),
    (0, 1),
)
"""Exit codes that are an answer and no failure: nothing found, or different (POSIX `grep`, `diff`, `cmp`, `test`)."""

_AT_FILE = _names("curl gcc g++ cc c++ clang clang++ ld javac java http https dig ar")
_PLUS_COMMAND = _names("vi vim nvim view ex less more most nano emacs")


def base_name(program: str) -> str:
    """The name by which a program is known: no folder, no `.exe`, no version."""
    name = PurePath(program.replace("\\", "/")).name.lower()
    for ending in (".exe", ".cmd", ".bat"):
        name = name.removesuffix(ending)
    return name


def end_of_options(words: Sequence[str]) -> str:
    """The word after which `words` (the program and what always follows it) takes nothing for an option; "" when unknown."""
    name = base_name(words[0]) if words else ""
    if name == "git":
        # `--` would make paths of revisions; git 2.24 and newer know this one.
        return "--end-of-options"
    if name in _PROGRAMS_WITHOUT:
        return ""
    return "--" if name in _DOUBLE_DASH else ""


def success_codes(words: Sequence[str]) -> tuple[int, ...]:
    """The exit codes that are answers."""
    name = base_name(words[0]) if words else ""
    if name == "git" and "diff" in words and ("--exit-code" in words or "--quiet" in words):
        return (0, 1)
    return ANSWERS.get(name, (0,))


def expanded_sign(words: Sequence[str], text: str) -> str:
    """The first sign of `text` if this program reads a file or a command behind it, or ""."""
    name = base_name(words[0]) if words else ""
    if text.startswith("@") and name in _AT_FILE:
        return "@"
    return "+" if text.startswith("+") and name in _PLUS_COMMAND else ""
