"""A help text as plain lines: no colours, no overstrike, no boxes, one column."""

from __future__ import annotations

import re
from collections import Counter

_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")
_OVERSTRIKE = re.compile(r".\x08")
_BOX_TITLE = re.compile(r"^\s*[╭┌┏+][─━-]+\s*(?P<title>[^─━╮┐┓]*?)\s*[─━-]*[╮┐┓+]?\s*$")
_BOX_ROW = re.compile(r"^\s*[│┃|] ?(?P<inside>.*?)\s*[│┃|]\s*$")
_BOX_END = re.compile(r"^\s*[╰└┗][─━]+[╯┘┛]?\s*$")
_BOX_RULE = re.compile(r"^\s*[├┠┡][─━┼╇]+[┤┨┩]?\s*$")
_CELLS = re.compile(r"\S+(?: \S+)*")
_SECOND_COLUMN = re.compile(r"(?<=\s{2})-\S{1,2}(?=\s{2}\S)")
_LEADERS = re.compile(r"(?<=\S)\s+\.+\s+(?=-)")

_MOST_LINES = 5_000


def lines_of(text: str) -> list[str]:
    """The lines of a help text, cleaned."""
    plain = _OVERSTRIKE.sub("", _ESCAPES.sub("", text)).replace("\r\n", "\n").replace("\r", "\n").expandtabs(8)
    lines = [line.rstrip() for line in plain.split("\n")[:_MOST_LINES]]
    return [_LEADERS.sub(", ", line) for line in _one_column(_unboxed(lines))]


def _unboxed(lines: list[str]) -> list[str]:
    """Rows of boxes (rich, Typer) as an ordinary table under an ordinary heading."""
    if not any("│" in line or "┃" in line for line in lines):
        return lines
    found: list[str] = []
    rows: list[str] = []
    for line in lines:
        if _BOX_END.match(line):
            found.extend(_table(rows))
            found.append("")
            rows = []
        elif _BOX_RULE.match(line):
            continue
        elif (row := _BOX_ROW.match(line)) and not line.strip().startswith("|"):
            rows.append(row.group("inside"))
        elif (title := _BOX_TITLE.match(line)) and not line.strip().startswith("+"):
            found.append(f"{title.group('title')}:" if title.group("title") else "")
        else:
            found.append(line)
    return found + _table(rows)


def _table(rows: list[str]) -> list[str]:
    """Box rows with their flags and value names in one column, and what is said of them in another."""
    found: list[str] = []
    marked = any(row.startswith("*") for row in rows)
    starts = _help_column(rows)
    for row in rows:
        required = row.startswith("*")
        inside = " " + row[1:] if required else row
        head, said = (inside[:starts], inside[starts:]) if starts else (inside, "")
        cells = _CELLS.findall(head)
        if not cells:
            found.append(" " * 40 + said.strip())
            continue
        is_continued = not _begins_entry(head, marked=marked)
        if is_continued and found:
            before, gap, after = found[-1].partition("  \x00")
            found[-1] = f"{before} {' '.join(cells)}{gap}{after} {said.strip()}"
            continue
        flags = [cell for cell in cells if cell.startswith("-")]
        others = [cell for cell in cells if not cell.startswith("-")]
        note = " [required]" if required and "[required]" not in said else ""
        found.append(f"  {' '.join([', '.join(flags), *others]).strip()}  \x00{said.strip()}{note}")
    return [line.replace("\x00", "") for line in found]


def _begins_entry(head: str, *, marked: bool) -> bool:
    indent = len(head) - len(head.lstrip())
    return head.lstrip().startswith("-") or indent <= (5 if marked else 2)


def _help_column(rows: list[str]) -> int:
    """The column at which the descriptions of a box begin: the last one in which many cells begin."""
    begins: Counter[int] = Counter()
    for row in rows:
        cells = [found.start() for found in _CELLS.finditer(row)]
        if len(cells) > 1:
            begins[cells[-1]] += 1
    common = [column for column, times in begins.items() if times >= max(1, len(rows) // 4)]
    return max(common, default=0)


def _one_column(lines: list[str]) -> list[str]:
    """Options that stand beside each other (unzip) under each other."""
    columns = Counter(
        found.start() for line in lines for found in _SECOND_COLUMN.finditer(line) if line[: found.start()].strip()
    )
    column, times = max(columns.items(), key=lambda one: one[1], default=(0, 0))
    if times < 3:
        return lines
    left: list[str] = []
    right: list[str] = []
    found: list[str] = []
    for line in lines:
        if line[column : column + 1] == "-" and line[column - 2 : column] == "  ":
            left.append(line[:column].rstrip())
            right.append("  " + line[column:])
            continue
        found.extend([*left, *right, line])
        left, right = [], []
    return [*found, *left, *right]
