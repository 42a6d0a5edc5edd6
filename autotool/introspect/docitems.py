"""One documented parameter at a time: the lines under a heading, in any style, as entries.

docstring-parser reads whole docstrings of one pure style and gives up on one odd line. So sections are cut
into entries here, and `docstrings` has docstring-parser read each entry's type, optionality and default.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from autotool.introspect import doctypes

_NAME = r"[`'\"*\\]{0,4}[^\W\d]\w*[`'\"*]{0,2}"
_NAMES = rf"{_NAME}(?:\s*(?:,|/|\band\b|&)\s*(?:{_NAME}|\.{{3}}))*"
_BULLET = re.compile(r"(?:[-+•]|\*(?=\s))\s+")
_NAMED = re.compile(rf"(?P<names>{_NAMES})\s*")
_COLON = re.compile(r"\s*(?::(?!:)|--+|[–—]|-(?=\s))\s*")
_NUMPY = re.compile(rf"(?P<names>{_NAMES})\s*(?::(?P<type>.*))?")
_WORD = re.compile(r"[^\W\d]\w*")
_STARRED = re.compile(r"\*\w[^*]*\Z")
_FIELD = re.compile(
    r"(?P<indent>\s*)[:@](?P<kind>[a-z]+)"
    r"(?P<args>(?:\s++(?:[^:`]|`[^`]*`|:[a-z:]+:`[^`]*`)*)?):(?:\s+|$)(?P<text>.*)"
)


PARAMETER_FIELDS = frozenset({"param", "parameter", "arg", "argument", "key", "keyword", "kwarg", "kwparam"})
RESULT_FIELDS = frozenset({"return", "returns", "yield", "yields"})
RESULT_TYPE_FIELDS = frozenset({"rtype", "ytype"})
ERROR_FIELDS = frozenset({"raise", "raises", "except", "exception"})
FIELD_KINDS = frozenset({"type", "var", "meta", "note"}).union(
    PARAMETER_FIELDS, RESULT_FIELDS, RESULT_TYPE_FIELDS, ERROR_FIELDS
)


@dataclass(frozen=True, slots=True)
class Entry:
    """What a docstring says of parameters: names without stars, the type as written, the words.

    `is_open` says that they stand for any number of values (`**options`, `x1, x2, ...`).
    """

    names: tuple[str, ...]
    type_text: str
    description: str
    is_open: bool = False


HeadReader = Callable[[str, str], Entry | None]
"""Reads the entry that a line begins, given the line after it; None when it begins none."""


@dataclass(frozen=True, slots=True)
class Field:
    """A reST or Epydoc field: `:kind args: text`."""

    kind: str
    args: str
    text: str


def indent_of(line: str) -> int:
    """How many characters of white space a line begins with."""
    return len(line) - len(line.lstrip())


def block_end(lines: Sequence[str], start: int, indent: int) -> int:
    """The index after the lines from `start` indented more than `indent`, blank ones between."""
    end = at = start
    while at < len(lines) and (not lines[at].strip() or indent_of(lines[at]) > indent):
        at += 1
        if lines[at - 1].strip():
            end = at
    return end


def colon_entries(lines: Sequence[str]) -> tuple[list[Entry], list[str]]:
    """Entries such as `name (type): text` and `name -- text`, and the lines that belong to none."""
    return _entries(lines, _colon_head)


def numpy_entries(lines: Sequence[str]) -> tuple[list[Entry], list[str]]:
    """Entries such as `name : type` with the text below, and the lines that belong to none."""
    return _entries(lines, _numpy_head)


def _entries(lines: Sequence[str], head_of: HeadReader) -> tuple[list[Entry], list[str]]:
    entries: list[Entry] = []
    rest: list[str] = []
    base = next((indent_of(line) for line in lines if line.strip()), 0)
    at = 0
    while at < len(lines):
        line = lines[at]
        following = lines[at + 1] if at + 1 < len(lines) else ""
        head = head_of(line, following) if line.strip() and indent_of(line) <= base else None
        if head is None:
            rest.append(line)
            at += 1
            continue
        end = _entry_end(lines, at, head_of)
        entries.append(_completed(head, dedented(lines[at + 1 : end])))
        at = end
    return entries, rest


def _entry_end(lines: Sequence[str], start: int, head_of: HeadReader) -> int:
    """Deeper lines belong to the entry, and so do lines that hang under it without a blank line between."""
    indent = indent_of(lines[start])
    at = start + 1
    while at < len(lines):
        deeper = block_end(lines, at, indent)
        if deeper > at:
            at = deeper
            continue
        line = lines[at]
        if not line.strip() or head_of(line, lines[at + 1] if at + 1 < len(lines) else "") is not None:
            return at
        at += 1
    return at


def _colon_head(line: str, following: str) -> Entry | None:
    text = _BULLET.sub("", line.strip(), count=1) if _BULLET.match(line.strip()) else line.strip()
    match = _NAMED.match(text)
    if match is None:
        return None
    type_text, rest = _parenthesised(text[match.end() :])
    colon = _COLON.match(rest)
    if colon is None:
        is_deeper = bool(following.strip()) and indent_of(following) > indent_of(line)
        return _entry(match["names"], type_text, "") if type_text and not rest and is_deeper else None
    return _entry(match["names"], type_text, rest[colon.end() :].strip())


def _numpy_head(line: str, following: str) -> Entry | None:
    match = _NUMPY.fullmatch(line.strip())
    if match is None:
        return _colon_head(line, following)
    return _entry(match["names"], (match["type"] or "").strip(), "")


def _completed(head: Entry, body: str) -> Entry:
    """Join the lines below; set right a type in the text's place, or a text in the type's."""
    type_text, text = head.type_text, head.description
    if text and body and not type_text and _is_type(text):
        return replace(head, type_text=text, description=body)
    if type_text and not text and not body and not _is_type(type_text) and len(type_text.split()) > 2:
        return replace(head, type_text="", description=type_text)
    return replace(head, description=f"{text}\n{body}".strip())


def _entry(written: str, type_text: str, description: str) -> Entry:
    names = tuple(word for word in _WORD.findall(written) if word != "and")
    if "..." in written:
        names += tuple(dict.fromkeys(name.rstrip("0123456789") for name in names))
    return Entry(names, type_text, description, "..." in written or _STARRED.search(written) is not None)


def _is_type(text: str) -> bool:
    return doctypes.annotation_of(text) is not doctypes.UNKNOWN


def _parenthesised(text: str) -> tuple[str, str]:
    """A leading `(…)` with balanced brackets, and what follows it."""
    if not text.startswith("("):
        return "", text
    depth = 0
    for at, char in enumerate(text):
        depth += (char in "([{") - (char in ")]}")
        if depth == 0:
            return text[1:at].strip(), text[at + 1 :]
    return "", text


def loose_entry(lines: Sequence[str], at: int, names: Sequence[str]) -> tuple[Entry, int] | None:
    """An entry outside any section, recognised by its name, and the index after it.

    These are the lists of Argument Clinic (a name alone on its line, its text deeper) and of PEP 257
    (`name -- text`).
    """
    line = lines[at]
    word = line.strip()
    name, mark, text = word.partition(" -- ")
    if mark and name.strip().strip("*`") in names:
        end = block_end(lines, at + 1, indent_of(line))
        return _entry(name, "", f"{text.strip()}\n{dedented(lines[at + 1 : end])}".strip()), end
    following = lines[at + 1] if at + 1 < len(lines) else ""
    if word in names and following.strip() and indent_of(line) < indent_of(following):
        end = block_end(lines, at + 1, indent_of(line))
        return Entry((word,), "", dedented(lines[at + 1 : end])), end
    return None


def field_at(lines: Sequence[str], at: int) -> tuple[Field, int] | None:
    """The reST or Epydoc field that begins at a line, and the index after it."""
    match = _FIELD.fullmatch(lines[at])
    if match is None or match["kind"] not in FIELD_KINDS:
        return None
    indent = len(match["indent"])
    end = at + 1
    while end < len(lines) and lines[end].strip() and _FIELD.fullmatch(lines[end]) is None:
        end += 1
    end = max(end, block_end(lines, end, indent))
    body = dedented(lines[at + 1 : end])
    return Field(match["kind"], match["args"].strip(), f"{match['text'].strip()}\n{body}".strip()), end


def field_entry(field: Field) -> Entry | None:
    """What `:param type name: text` says; None without a name."""
    words = field.args.split()
    return _entry(words[-1], " ".join(words[:-1]), field.text) if words else None


def dedented(lines: Sequence[str]) -> str:
    """The lines without their common indentation and without blank lines around them."""
    margin = min((indent_of(line) for line in lines if line.strip()), default=0)
    return "\n".join(line[margin:].rstrip() for line in lines).strip("\n")
