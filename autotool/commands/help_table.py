"""Tables of options: one entry an option, its description behind it or below it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from autotool.commands import help_flags
from autotool.commands.help_flags import Head
from autotool.commands.help_values import parameter_name

_SPACES = re.compile(r"\s+")
_OPERAND_ROW = re.compile(r"^\s{1,8}(?P<name>[A-Za-z<][\w<> .=|-]*?)\s{2,}(?P<said>\S.*)$")
_RULE = re.compile(r"\s*-{1,2}(\s|$)|\s*-{3,}")
_PACKED = re.compile(r"\s*(?:-[A-Za-z][\w-]*(?: (?!-[a-z])\S+)*\s*)+")
_PACKED_ONE = re.compile(r"(?P<flag>-[A-Za-z][\w-]*)(?P<values>(?: (?!-[a-z])\S+)*)")


@dataclass
class Entry:
    """An option's entry: its head, the column it begins in, the one its description stands in, and that so far.

    Attributes:
        is_packed: whether it stood on a line with others (`-name PATTERN -newer FILE`, as find shows them).
    """

    head: Head
    indent: int
    column: int
    is_packed: bool = False
    words: list[str] = field(default_factory=list[str])

    @property
    def description(self) -> str:
        """What is said of it, in one line."""
        return _SPACES.sub(" ", " ".join(self.words)).strip()


class Table:
    """Reads lines one after another.

    Attributes:
        entries: the options found.
        unread: lines that look like options and could not be read.
        operands: what is said of operands, by parameter name.
    """

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self.unread: list[str] = []
        self.operands: dict[str, str] = {}
        self._current: Entry | None = None
        self._operand = ""
        self._pending = ""

    def read(self, lines: Sequence[str]) -> Table:
        """Read all `lines`."""
        for line in lines:
            self._line(self._pending + line.lstrip() if self._pending else line)
        return self

    def _line(self, line: str) -> None:
        self._pending = ""
        indent = len(line) - len(line.lstrip())
        if not line.strip():
            self._gap()
        elif self._current is not None and _continues(line, indent, self._current):
            self._current.words.append(line.strip())
        elif line.lstrip().startswith("-"):
            self._option(line, indent)
        else:
            self._current = None
            self._other(line, indent)

    def _gap(self) -> None:
        self._operand = ""
        current = self._current
        # After an empty line only what stands in the description's own column goes on with it.
        if current is not None and current.words and current.column <= current.indent + 6:
            self._current = None

    def _option(self, line: str, indent: int) -> None:
        if line.endswith(",") and len(line) < 60:
            self._pending = line + " "
            return
        self._current = None
        packed = _packed(line)
        head = None if packed else help_flags.read(line)
        self.entries += packed
        if head is not None:
            self._current = Entry(head, indent, head.end if head.end > 0 else -1)
            self.entries.append(self._current)
            if head.end > 0:
                self._current.words.append(line[head.end :].strip())
        elif not packed and not _RULE.match(line):
            self.unread.append(line)

    def _other(self, line: str, indent: int) -> None:
        row = _OPERAND_ROW.match(line)
        if row:
            # Behind its name a box has its type (`name TEXT`).
            self._operand = parameter_name(re.sub(r"\s+[A-Z]{3,}.*$", "", row.group("name")))
            self.operands[self._operand] = row.group("said")
        elif self._operand and indent > 8:
            self.operands[self._operand] += " " + line.strip()


def _continues(line: str, indent: int, entry: Entry) -> bool:
    is_option = line.lstrip().startswith("-")
    if entry.column > 0:
        # Descriptions stand in their column, or a little beside it; an option never does.
        near = indent >= min(entry.column, entry.indent + 8) - 1
        return near and not (is_option and indent < entry.column - 1 and help_flags.read(line) is not None)
    if indent > entry.indent + 1 and not (is_option and indent < entry.indent + 8):
        entry.column = indent if not entry.words else entry.column
        return True
    return False


def _packed(line: str) -> list[Entry]:
    """Several options on one line, without descriptions."""
    body = line.strip()
    flags = re.findall(r"(?:^|\s)-[a-z][\w-]*", body)
    if len(flags) < 2 or "  " in body or not _PACKED.fullmatch(line) or body.startswith("--"):
        return []
    found: list[Entry] = []
    for one in _PACKED_ONE.finditer(body):
        values = one.group("values").split()
        is_plain = all(re.fullmatch(r"[A-Z]+|\[\S+\]\S*|\S*[A-Z]\S*", value) for value in values)
        if not is_plain and not set(values) & {";", "+", "{}"}:
            return []
        flag = one.group("flag")
        metavar = " ".join(value for value in values if value not in (";", "{}", "+"))
        found.append(Entry(Head([flag], metavar=metavar, joints={flag: " "}), 0, 0, is_packed=True))
    return found
