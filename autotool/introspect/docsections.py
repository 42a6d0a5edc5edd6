"""A docstring cut into the parts that describe parameters and the text that remains.

Styles are told apart by the section, not by the docstring: real ones mix them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from autotool.introspect import doctypes
from autotool.introspect.docitems import (
    ERROR_FIELDS,
    PARAMETER_FIELDS,
    RESULT_FIELDS,
    RESULT_TYPE_FIELDS,
    Entry,
    Field,
    block_end,
    colon_entries,
    dedented,
    field_at,
    field_entry,
    indent_of,
    loose_entry,
    numpy_entries,
)

_HEADING = re.compile(r"(?P<title>[A-Za-z][A-Za-z /-]{1,40}?)\s*:")
_UNDERLINE = re.compile(r"[-=~]{3,}|--")
_PARAMETERS = re.compile(
    r"(?:(?:other|optional|required|positional|keyword|named|additional|input|function|method)\s+)*"
    r"(?:arg(?:ument)?s?|param(?:eter)?s?|kwargs|kwds)",
    re.IGNORECASE,
)
# Headings that stand over parameters only where one of the names below is really a parameter.
_PERHAPS = re.compile(r"inputs?|options|attributes|receives|fields", re.IGNORECASE)
_RESULTS = re.compile(r"returns?|yields?", re.IGNORECASE)
_SECTIONS = re.compile(
    r"returns?|yields?|raises?|exceptions?|warns?|warnings?|notes?|examples?|see also|references?"
    r"|attributes|methods|todo|side effects|usage|important|tip|hint|caution|danger|attention|limitations",
    re.IGNORECASE,
)
_BULLETED = re.compile(r"[-*+•]\s+[`*]*(?P<name>[^\W\d]\w*)[`*]*\s*(?:\([^)]*\)\s*)?(?::|--|–|—)")


@dataclass(slots=True)
class Reading:
    """What was found.

    Attributes:
        parts: the texts that remain, in order.
        has_summary: whether the first of them is no section, so that it begins with the summary.
    """

    parts: list[str] = field(default_factory=list[str])
    entries: list[Entry] = field(default_factory=list[Entry])
    returns_type: str = ""
    has_summary: bool = False


def read(text: str, names: Sequence[str]) -> Reading:
    """Cut a docstring (dedented, without tabs) of a callable whose parameters are `names`."""
    lines = text.split("\n")
    reading = Reading()
    plain: list[str] = []
    at = 0
    reading.has_summary = _special(lines, at, names, Reading(), []) == at
    while at < len(lines):
        end = _special(lines, at, names, reading, plain)
        if end == at:
            plain.append(lines[at])
            end += 1
        at = end
    _flush(plain, reading)
    if not reading.entries:
        reading.entries.extend(_bulleted(lines, names))
    return reading


def _special(lines: Sequence[str], at: int, names: Sequence[str], reading: Reading, plain: list[str]) -> int:
    """Read what begins at a line, if it is more than text; the index after it, or `at`."""
    if not lines[at].strip():
        return at
    for reader in (_numpy_section, _colon_section, _fields, _loose):
        found = Reading()
        end = reader(lines, at, names, found)
        if end > at:
            _flush(plain, reading)
            reading.parts.extend(found.parts)
            reading.entries.extend(found.entries)
            reading.returns_type = reading.returns_type or found.returns_type
            return end
    return at


def _flush(plain: list[str], reading: Reading) -> None:
    text = "\n".join(plain).strip("\n")
    if text.strip():
        reading.parts.append(text)
    plain.clear()


def _numpy_section(lines: Sequence[str], at: int, names: Sequence[str], found: Reading) -> int:
    title = _underlined(lines, at)
    if not title:
        return at
    end = at + 2
    while end < len(lines) and not _underlined(lines, end) and not _leaves(lines[end], indent_of(lines[at])):
        end += 1
    body = lines[at + 2 : end]
    if _is_about_parameters(title, body, names):
        entries, rest = numpy_entries(body)
        found.entries.extend(entries)
        _flush(list(rest), found)
        return end
    if _RESULTS.fullmatch(title):
        found.returns_type = _numpy_result(body)
    found.parts.append(_section_text(title, body))
    return end


def _underlined(lines: Sequence[str], at: int) -> str:
    """The title of a NumPy heading at a line, or "". The underline may be of any length."""
    if at + 1 >= len(lines):
        return ""
    title, underline = lines[at].strip(), lines[at + 1].strip()
    if not 1 < len(title) <= 60 or _UNDERLINE.fullmatch(underline) is None:
        return ""
    title = title.rstrip(" :")
    is_known = _PARAMETERS.fullmatch(title) or _SECTIONS.fullmatch(title)
    return title if is_known or len(underline) * 2 >= len(title) else ""


def _leaves(line: str, indent: int) -> bool:
    return bool(line.strip()) and indent_of(line) < indent


def _colon_section(lines: Sequence[str], at: int, names: Sequence[str], found: Reading) -> int:
    match = _HEADING.fullmatch(lines[at].strip())
    if match is None:
        return at
    title, indent = match["title"], indent_of(lines[at])
    end = block_end(lines, at + 1, indent)
    body = lines[at + 1 : end]
    if end > at + 1 and _is_about_parameters(title, body, names):
        entries, rest = colon_entries(body)
        found.entries.extend(entries)
        _flush(list(rest), found)
        return end
    if end == at + 1 or not _SECTIONS.fullmatch(title):
        return _flush_left_section(lines, at, title, names, found)
    if _RESULTS.fullmatch(title):
        found.returns_type = _colon_result(body)
    found.parts.append(_section_text(title, body))
    return end


def _flush_left_section(lines: Sequence[str], at: int, title: str, names: Sequence[str], found: Reading) -> int:
    """A parameter section whose entries are not indented: it ends at the first blank line after them."""
    if not _PARAMETERS.fullmatch(title):
        return at
    start = at + 1
    while start < len(lines) and not lines[start].strip():
        start += 1
    first, _ = colon_entries(lines[start : start + 1])
    if not any(name in names for entry in first for name in entry.names):
        return at
    end = start
    while end < len(lines) and lines[end].strip():
        end += 1
    entries, rest = colon_entries(lines[start:end])
    found.entries.extend(entries)
    _flush(rest, found)
    return end


def _is_about_parameters(title: str, body: Sequence[str], names: Sequence[str]) -> bool:
    if _PARAMETERS.fullmatch(title):
        return True
    if not _PERHAPS.fullmatch(title):
        return False
    entries, _ = numpy_entries(body)
    documented = {name for entry in entries for name in entry.names}
    return bool(documented) and documented <= set(names)


def _numpy_result(body: Sequence[str]) -> str:
    """The type of a result that has one entry; several entries are a tuple whose kind is not said."""
    margin = indent_of(next((line for line in body if line.strip()), ""))
    heads = [line.strip() for line in body if line.strip() and indent_of(line) == margin]
    if len(heads) != 1:
        return ""
    name, colon, type_text = heads[0].partition(" : ")
    return type_text.strip() if colon else _type_or_nothing(name)


def _colon_result(body: Sequence[str]) -> str:
    head, colon, _ = dedented(body).partition("\n")[0].partition(": ")
    return _type_or_nothing(head.strip().rstrip(":")) if colon or head.endswith(":") else ""


def _type_or_nothing(text: str) -> str:
    return text if doctypes.annotation_of(text) is not doctypes.UNKNOWN else ""


def _section_text(title: str, body: Sequence[str]) -> str:
    text = dedented(body)
    if not text:
        return f"{title}:"
    return f"{title}: {text}" if "\n" not in text else f"{title}:\n{text}"


def _fields(lines: Sequence[str], at: int, _names: Sequence[str], found: Reading) -> int:
    types: dict[str, str] = {}
    texts: list[str] = []
    end = at
    while end < len(lines) and (one := field_at(lines, end)) is not None:
        end = one[1]
        _take_field(one[0], found, types, texts)
        end = _next_field(lines, end)
    found.entries = [_typed(entry, types) for entry in found.entries]
    if texts:
        found.parts.append("\n".join(texts))
    return end


def _next_field(lines: Sequence[str], at: int) -> int:
    """The index of a field that follows after blank lines, or `at`."""
    after = at
    while after < len(lines) and not lines[after].strip():
        after += 1
    return after if after < len(lines) and field_at(lines, after) is not None else at


def _take_field(one: Field, found: Reading, types: dict[str, str], texts: list[str]) -> None:
    entry = field_entry(one) if one.kind in PARAMETER_FIELDS else None
    if entry is not None:
        found.entries.append(entry)
    elif one.kind == "type":
        types[one.args.lstrip("*\\")] = one.text
    elif one.kind in RESULT_TYPE_FIELDS:
        found.returns_type = one.text
    elif one.kind in RESULT_FIELDS:
        found.returns_type = found.returns_type or one.args
        texts.append(f"{'Yields' if one.kind.startswith('yield') else 'Returns'}: {one.text}")
    elif one.kind in ERROR_FIELDS:
        texts.append(f"Raises {one.args}: {one.text}" if one.args else f"Raises: {one.text}")
    elif one.kind == "note":
        texts.append(f"Note: {one.text}")


def _typed(entry: Entry, types: dict[str, str]) -> Entry:
    known = next((types[name] for name in entry.names if name in types), "")
    return replace(entry, type_text=known) if known and not entry.type_text else entry


def _loose(lines: Sequence[str], at: int, names: Sequence[str], found: Reading) -> int:
    entry = loose_entry(lines, at, names) if at > 0 else None
    if entry is None:
        return at
    found.entries.append(entry[0])
    return entry[1]


def _bulleted(lines: Sequence[str], names: Sequence[str]) -> list[Entry]:
    """`- name: text` in running text, which stays, since it may explain the list."""
    found: list[Entry] = []
    for at, line in enumerate(lines):
        match = _BULLETED.match(line.strip())
        if match is not None and match["name"] in names:
            entries, _ = colon_entries(lines[at : block_end(lines, at + 1, indent_of(line))])
            found.extend(entries[:1])
    return found
