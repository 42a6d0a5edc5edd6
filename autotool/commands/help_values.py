"""What a program calls the values of its options (`FILE`, `<n>`, `{a,b}`, `uint16`), read for what they may be.

Only what is sure becomes more than text: a number that a program does not insist on would refuse honest values such as `10K` or `+5`.
"""

from __future__ import annotations

import re

from autotool.commands.form import Value, ValueType

_INTEGERS = frozenset(
    [
        "n",
        "num",
        "number",
        "int",
        "integer",
        "int8",
        "int16",
        "int32",
        "int64",
        "uint",
        "uint8",
        "uint16",
        "uint32",
        "uint64",
    ]
)
_NUMBERS = frozenset(["float", "float32", "float64", "decimal", "double"])
_REPEATED = frozenset(
    ["list", "map", "strings", "stringarray", "stringslice", "stringtostring", "ints", "intslice", "filter-list"]
)
_BRACES = re.compile(r"\{([^{}\s]+(?:,\s?[^{},\s]+)*)\}")
_BARS = re.compile(r"[<\[(]?([A-Za-z0-9_.+-]+(?:\|[A-Za-z0-9_.+-]+)+)[>\])]?")
_POSSIBLE = re.compile(r"\[possible values: ([^\]]+)\]")
_RANGE = re.compile(
    r"\[(?:(-?[\d.]+)\s*<(=?)\s*)?x(?:\s*<(=?)\s*(-?[\d.]+)|\s*>(=?)\s*(-?[\d.]+))?\]|\[x\s*>=\s*(-?[\d.]+)\]"
)
_SUFFIXED = re.compile(r"multiplier suffix|multiplicative suffix|can be \+N or -N|may be followed by", re.IGNORECASE)


def value_of(metavar: str, description: str, page: str = "") -> Value:
    """What a value named `metavar` may be.

    Args:
        page: the whole text; it may say that numbers have suffixes.
    """
    name = metavar.strip()
    choices = _choices(name) or _possible(description)
    if choices:
        return Value("string", choices, metavar=name)
    bare = re.sub(r"\s*\[[^\]]*\]$", "", name).strip("<>[]. ").lower()
    words = bare.split()
    first = words[0] if words else ""
    if first == "boolean":
        return Value("boolean", metavar=name)
    kind: ValueType = "string"
    if (bare in _INTEGERS or (first in _INTEGERS and "range" in words)) and not _SUFFIXED.search(page):
        kind = "integer"
    elif bare in _NUMBERS or (first in _NUMBERS and "range" in words):
        kind = "number"
    low, high = _bounds(name + " " + description) if "range" in words else (None, None)
    return Value(kind, (), low, high, name)


def is_repeated_type(metavar: str) -> bool:
    """Whether a type says by itself that its option may be repeated (cobra's `list`)."""
    name = metavar.strip("<>").lower()
    return name in _REPEATED or name.startswith("list[")


def _choices(name: str) -> tuple[str, ...]:
    braces = _BRACES.fullmatch(name)
    if braces and "," in braces.group(1):
        return tuple(part.strip() for part in braces.group(1).split(","))
    if braces and "," not in braces.group(1) and "|" not in braces.group(1):
        return (braces.group(1),)
    inner = name[1:-1] if name[:1] == "{" and name[-1:] == "}" else name
    bars = _BARS.fullmatch(inner)
    if bars is None:
        return ()
    parts = tuple(bars.group(1).split("|"))
    # `FILE|DIR` and `path|url` name kinds of values; `always|never` are values.
    kinds = {"file", "dir", "path", "url", "name", "id", "filename", "data", "host", "port", "string", "directory"}
    named = any(part.isupper() and len(part) > 1 for part in parts) or kinds & {part.lower() for part in parts}
    return () if named and not inner.startswith("[") else parts


def _possible(description: str) -> tuple[str, ...]:
    found = _POSSIBLE.search(description)
    return tuple(part.strip() for part in found.group(1).split(",")) if found else ()


def _bounds(text: str) -> tuple[float | None, float | None]:
    found = _RANGE.search(text)
    if found is None:
        return None, None
    low, low_closed, high_closed, high, low_closed_2, low_2, low_3 = found.groups()
    least = (
        float(low)
        if low and low_closed
        else float(low_2)
        if low_2 and low_closed_2
        else float(low_3)
        if low_3
        else None
    )
    return least, float(high) if high and high_closed else None


def parameter_name(text: str) -> str:
    """The name of a parameter after how a program calls it: lower case, `_` between words."""
    name = re.sub(r"[^A-Za-z0-9]+", "_", text).strip("_").lower()
    return name if name and not name[0].isdigit() else f"arg_{name}".rstrip("_")
