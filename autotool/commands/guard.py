"""The one place that every finished command line passes: no value may become an option, and none may be unfit to pass."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from autotool.commands.conventions import expanded_sign
from autotool.commands.dangers import dangerous_word
from autotool.commands.template import Piece, Template
from autotool.config import ParameterSection
from autotool.errors import ArgumentError

MAX_WORD_BYTES = 131_071
"""The longest word that Linux passes to a program (`MAX_ARG_STRLEN`, less its closing NUL)."""

STOPS = ("--", "--end-of-options")

_BATCH = (".bat", ".cmd")
_READ_BY_CMD = set('"%&|<>^!\n\r')


@dataclass(frozen=True, slots=True)
class Guard:
    """What is known of the program that a command line is for.

    Attributes:
        program: its path.
        words: its name and the words that always follow it.
        stop: the word that ends its options, put in where a value needs it; "" where it knows none.
        file_signs: signs behind which the program reads a file of words.
        allowed: dangerous options that a caller may send where any option may be sent.
    """

    program: str
    words: tuple[str, ...]
    stop: str = ""
    allowed: tuple[str, ...] = ()
    file_signs: str = ""

    def argv(self, pieces: Sequence[Piece], template: Template) -> list[str]:
        """The words after the program.

        Raises:
            ArgumentError: a value cannot be passed, or would be taken for an option.
        """
        problems: list[str] = []
        written: list[str] = []
        stopped = False
        last = -1
        first = next((at for at, piece in enumerate(pieces) if piece.index in template.operands), len(pieces))
        for at, piece in enumerate(pieces):
            problem = self._unfit(piece) or ("" if stopped else self._dangerous(piece))
            if problem:
                problems.append(problem)
            follows = bool(written) and (written[-1].startswith("-") or piece.index == last)
            last = piece.index
            if not stopped and _is_option(piece, template.parameters, follows_option=follows):
                if self.stop and at >= first:
                    # In front of all operands: behind the first of them it could be an operand itself.
                    written.insert(first, self.stop)
                    stopped = True
                else:
                    problems.append(self._would_be_option(piece))
            if not piece.name and piece.text in STOPS:
                stopped = True
            written.append(piece.text)
        if problems:
            raise ArgumentError(list(dict.fromkeys(problems)))
        return written

    def _would_be_option(self, piece: Piece) -> str:
        return (
            f"`{piece.name}`: {_shown(piece.text)} begins with `-`, and `{self.words[0]}` would take it for an option;"
            " send a value that does not (a file can be written as `./-name`)"
        )

    def _dangerous(self, piece: Piece) -> str:
        """Where a caller may send options, those that run programs or write anywhere are still refused."""
        found = dangerous_word(self.words[0], self.words[1:], piece.text) if piece.leads else None
        if found is None or found[0] in self.allowed:
            return ""
        return f"`{piece.name}`: {_shown(piece.text)} is not allowed: {found[1]} (`{found[0]}`)"

    def _unfit(self, piece: Piece) -> str:
        name, text = piece.name, piece.text
        if not name:
            return ""
        sign = expanded_sign(self.words, text) if piece.leads else ""
        if self.file_signs and text[:1] in self.file_signs:
            sign = text[:1]
        if sign:
            return f"`{name}`: begins with `{sign}`, behind which `{self.words[0]}` would read a file or a command"
        if piece.is_embedded and ("\n" in text or "\r" in text):
            return f"`{name}`: may not have line breaks here, where it is a part of a longer word"
        return unfit(name, text) or self._batch(piece)

    def _batch(self, piece: Piece) -> str:
        """Batch files are run by `cmd.exe`, which reads its arguments again."""
        if not self.program.lower().endswith(_BATCH):
            return ""
        bad = sorted(_READ_BY_CMD.intersection(piece.text))
        if not bad:
            return ""
        signs = " ".join("a line break" if sign in "\n\r" else f"`{sign}`" for sign in bad)
        base = self.program.replace("\\", "/").rpartition("/")[2]
        return f"`{piece.name}`: {base} is a batch file, which would read {signs} again; send a value without"


def _is_option(piece: Piece, parameters: Mapping[str, ParameterSection], *, follows_option: bool) -> bool:
    if not piece.leads or not piece.text.startswith("-"):
        return False
    parameter = parameters[piece.name]
    if parameter.dash:
        return False
    kind = parameter.items if parameter.type == "array" else parameter.type
    # A negative number behind an option is that option's value.
    return not (kind in ("integer", "number") and follows_option)


def unfit(name: str, text: str) -> str:
    """Why the system cannot pass `text` to a program, or ""."""
    if "\0" in text:
        return f"`{name}`: has a NUL character, which no program can be passed"
    try:
        size = len(text.encode("utf-8"))
    except UnicodeEncodeError:
        return f"`{name}`: is not valid Unicode (a lone surrogate)"
    if size > MAX_WORD_BYTES:
        return f"`{name}`: has {size} bytes, and a program can be passed {MAX_WORD_BYTES} at once; send less"
    return ""


def _shown(text: str) -> str:
    return repr(text if len(text) <= 60 else text[:57] + "…")
