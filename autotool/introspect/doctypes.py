"""The type words of docstrings (`list of str`, `{'a', 'b'}`, `int or None`) as typing objects.

People write types for people. What is read here is what has one meaning; of anything else nothing is claimed,
since a wrong type refuses calls that would have worked.
"""

from __future__ import annotations

import collections.abc
import functools
import re
from collections.abc import Iterator, Sequence
from typing import Any, Literal, Union, get_args, get_origin

from autotool.introspect.typewords import NOTHING, container, lookup


class Unknown:
    """The kind of `UNKNOWN`."""

    def __repr__(self) -> str:
        return "UNKNOWN"


UNKNOWN = Unknown()
"""What `annotation_of` returns where the words have no single known meaning."""

_LONGEST = 300
_DEEPEST = 6
_MOST_CHOICES = 100

_ROLE = re.compile(r":(?:py:)?[a-z]+:`[~!]?([^`<]*?)(?:\s*<[^`>]*>)?`")
_ANGLES = re.compile(r"\b(list|array|sequence|dict|tuple|set|iterable)<([^<>]*)>", re.IGNORECASE)
# What says something of the value beside its type: its default, whether it may be left out, shape and bounds.
_SHAPE = (
    r",?\s*\(?\b(?:of|with)?\s*(?:the\s+)?(?:same\s+)?(?:shape|length|size)\b\s*=?\s*"
    r"(?:\([^()]*\)|\[[^\[\]]*\]|[\w.*+-]+)(?:\s*(?:or|,)\s*\([^()]*\))*\)?"
)
_OPTIONAL = r"\s*[,;(]?\s*(?<!['\"\w.-])(?:optional|required|keyword[- ]only|positional[- ]only)\b(?!['\"\[])[)]?,?"
_ASIDES = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"\s*[,;(]?\s*(?<!['\"\w-])(?:by\s+)?defaults?\b(?!['\"]).*",
        _OPTIONAL,
        _SHAPE,
        r"^\([^()]*\)\s*(?=(?:array|ndarray|matrix)\b|array_like)",
        r",?\s*\bin\s+(?:the\s+)?(?:range\s+|interval\s+)?[\[(][^\[\]()]*[\])]",
        r",?\s*\bbetween\s+-?[\d.]+\s+and\s+-?[\d.]+",
        r",?\s*\(?(?:[<>]=?|!=|≥|≤)\s*-?[\d.]+\)?",
    )
)
# Quoted texts, brackets, and what stands between the members of a union or a list.
_MARKS = re.compile(
    r"(?P<text>'[^']*'|\"[^\"]*\")|(?P<open>[\[({])|(?P<close>[\])}])"
    r"|(?P<or>,?\s+or\s+|\s*\|\s*)|(?P<comma>,\s*)"
)
_ONE_OF = re.compile(r"(?:one of|any of|either|can be|must be)\s*:?\s+", re.IGNORECASE)
_NUMBER = re.compile(r"[+-]?\d+")
_FLOAT = re.compile(r"[+-]?\d*\.\d+(?:[eE][+-]?\d+)?")
_CHOICES = re.compile(r"(?P<type>[\w ]+?)\s*(?P<choices>\{.*\}|\(\s*['\"].*\)|['\"].*)")
_OF = re.compile(r"(?P<many>[\w.\- ]+?)\s+(?:of|mapping|from)\s+(?P<one>.+)", re.IGNORECASE)
_COUNTED = re.compile(r"(?P<count>\d|two|three|four)[ -](?P<rest>.+)", re.IGNORECASE)
_SUBSCRIPT = re.compile(r"(?P<name>[\w.]+)\s*(?:\[(?P<square>.*)\]|\((?P<round>.*)\))")
_PAIR = re.compile(r"(?P<key>[^:{}]+?)\s*(?::|\bto\b|->)\s*(?P<value>.+)")
_COUNTS = {"two": 2, "three": 3, "four": 4}
_WORD_VALUES = {"true": True, "false": False, "none": None}


class _NoMeaningError(Exception):
    """The words are not a type that is known for sure."""


def annotation_of(type_text: str) -> Any:
    """The typing object that `type_text` means, or `UNKNOWN`. Never raises.

    Alternatives are a `Union`; listed choices are a `Literal`; `array_like` is `list`; `callable` is
    `collections.abc.Callable`; types of numpy and pandas are met only where those are already imported.
    Whether a parameter is optional, its default, its shape and its bounds are no part of its type.
    """
    if not type_text or len(type_text) > _LONGEST:
        return UNKNOWN
    text = _plain(type_text)
    try:
        return _union(text, 0)
    except _NoMeaningError:
        return UNKNOWN


def _plain(text: str) -> str:
    text = _ROLE.sub(r"\1", text).replace("`", "").replace("~", "").replace("“", '"').replace("”", '"')
    text = _ANGLES.sub(r"\1[\2]", " ".join(text.split()))
    for aside in _ASIDES:
        text = aside.sub("", text)
    return text.strip(" .,;")


def _split(text: str, *, at_or: bool) -> Iterator[tuple[str, str]]:
    """The parts of a text between top-level commas (and "or"s), each with what stood before it."""
    depth, start, before = 0, 0, ""
    for match in _MARKS.finditer(text):
        kind = match.lastgroup
        depth += (kind == "open") - (kind == "close")
        if depth == 0 and (kind == "comma" or (kind == "or" and at_or)):
            yield before, text[start : match.start()].strip()
            start, before = match.end(), kind
    if depth != 0:
        raise _NoMeaningError
    yield before, text[start:].strip()


def _union(text: str, depth: int) -> Any:
    """`A or B`, `A | B`, `A, B or C`."""
    if not text or depth > _DEEPEST:
        raise _NoMeaningError
    parts = list(_split(_ONE_OF.sub("", text) if _ONE_OF.match(text) else text, at_or=True))
    if len(parts) == 1:
        return _part(parts[0][1], depth)
    found = [_with_followers(parts[at:], depth) for at in range(len(parts))]
    if parts[1][0] == "comma" and found[0] in {str, int} and all(map(_is_choice, found[1:])):
        found = found[1:]  # `str, {'a', 'b'}` says what kind the choices are of.
    return _united(found)


def _with_followers(parts: Sequence[tuple[str, str]], depth: int) -> Any:
    """The first part. `list of int or str` can be read in two ways: the list then admits both."""
    text = _ONE_OF.sub("", parts[0][1], count=1) if _ONE_OF.match(parts[0][1]) else parts[0][1]
    match = _OF.fullmatch(text)
    if match is None:
        return _part(text, depth)
    followers: list[str] = []
    for before, other in parts[1:]:
        if before != "or" or other.lower() in {"none", "null"} or _OF.fullmatch(other) or _SUBSCRIPT.fullmatch(other):
            break
        followers.append(other)
    return _of(match["many"], match["one"], depth, followers)


def _part(text: str, depth: int) -> Any:
    """One type without alternatives at its top level."""
    if _is_value(text):
        return Literal[_value(text)]
    if _FLOAT.fullmatch(text):
        return float
    if text.startswith("{") and text.endswith("}"):
        return _braces(text[1:-1].strip(), depth)
    if text.startswith("(") and text.endswith(")"):
        return _group(text[1:-1].strip(), depth)
    if text.startswith("[") and text.endswith("]"):
        return list[_union(text[1:-1].strip(), depth + 1)]
    return _phrase(text, depth)


def _phrase(text: str, depth: int) -> Any:
    """Words: a type, a type that holds others, or a type beside its choices."""
    found = lookup(text)
    if found is not NOTHING:
        return found
    match = _OF.fullmatch(text)
    if match is not None:
        return _of(match["many"], match["one"], depth, ())
    match = _CHOICES.fullmatch(text)
    if match is not None and lookup(match["type"]) in {str, int, bool}:
        choices = _union(match["choices"].strip("()") or "", depth + 1)
        return choices if _is_choice(choices) else _raise()
    match = _SUBSCRIPT.fullmatch(text)
    if match is not None:
        inner = match["square"] if match["square"] is not None else match["round"]
        return _subscripted(match["name"], inner, depth, is_square=match["square"] is not None)
    raise _NoMeaningError


def _braces(text: str, depth: int) -> Any:
    """`{'a', 'b'}`, `{0 or 'index', 1}`, `{array-like, None}`; `{str: int}` is a mapping."""
    pair = _PAIR.fullmatch(text)
    if pair is not None and "'" not in text and '"' not in text:
        return _generic(dict, [_union(pair["key"], depth + 1), _union(pair["value"], depth + 1)])
    parts = [part for _, part in _split(text, at_or=True)]
    if len(parts) > _MOST_CHOICES or not all(parts):
        raise _NoMeaningError
    return _united([_choice(part, depth) for part in parts])


def _choice(text: str, depth: int) -> Any:
    if text.lower() in _WORD_VALUES:
        return Literal[_WORD_VALUES[text.lower()]]
    return _part(text, depth + 1)


def _group(text: str, depth: int) -> Any:
    """`(int or str)` is what it says, `(int, int)` a tuple; `(int, str)` may be either."""
    parts = [part for _, part in _split(text, at_or=False) if part]
    found = [_union(part, depth + 1) for part in parts]
    if len(found) == 1:
        return found[0] if not text.endswith(",") else tuple[found[0]]
    if all(map(_is_choice, found)):
        return _united(found)
    return _generic(tuple, found) if len(set(map(repr, found))) == 1 else _raise()


def _of(many: str, one: str, depth: int, followers: Sequence[str]) -> Any:
    """`list of str`, `tuple of (int, int)`, `dict of str to int`, `pair of floats`."""
    counted = _COUNTED.fullmatch(many)
    count = _count(counted["count"]) if counted else 0
    outer = container(counted["rest"] if counted else many)
    if many.lower() in {"pair", "a pair", "couple"}:
        outer, count = tuple, 2
    if outer is NOTHING or outer is type:
        raise _NoMeaningError
    if outer in {dict, collections.abc.Mapping}:
        return _mapping(outer, one, depth)
    if one.startswith("(") and outer is tuple and not followers:
        return _generic(tuple, _members(one[1:-1], depth))
    inner_count = _COUNTED.fullmatch(one)
    if inner_count is not None:
        count, one = _count(inner_count["count"]), inner_count["rest"]
    inner = _united([_union(text, depth + 1) for text in (one, *followers)])
    if outer is tuple:
        return _generic(tuple, [inner] * count if count else [inner, ...])
    return _generic(outer, [inner])


def _mapping(outer: Any, one: str, depth: int) -> Any:
    pair = _PAIR.fullmatch(one.strip("{}() "))
    if pair is None:
        _union(one, depth + 1)  # `dict of lists` names known types, though not which is the key's
        return outer
    return _generic(outer, [_union(pair["key"], depth + 1), _union(pair["value"], depth + 1)])


def _subscripted(name: str, inner: str, depth: int, *, is_square: bool) -> Any:
    last = name.rpartition(".")[2].lower()
    if last == "callable":
        return collections.abc.Callable
    if last in {"optional", "union"} and is_square:
        extra = [None] if last == "optional" else []
        return _united([*_members(inner, depth), *extra])
    if last == "literal" and is_square:
        return _braces(inner, depth)
    outer = container(name)
    if outer is NOTHING or (not is_square and _is_value(inner.split(",")[0].strip())):
        raise _NoMeaningError
    members = _members(inner, depth)
    if outer is tuple and len(members) == 1 and is_square:
        return tuple[members[0]]
    return _generic(outer, members)


def _members(text: str, depth: int) -> list[Any]:
    parts = [part for _, part in _split(text, at_or=False) if part]
    return [... if part == "..." else _union(part, depth + 1) for part in parts]


def _generic(outer: Any, members: Sequence[Any]) -> Any:
    return outer[tuple(members)] if _fits(outer, members) else _raise()


def _fits(outer: Any, members: Sequence[Any]) -> bool:
    if outer is tuple:
        return bool(members) and ... not in members[:1] and ... not in members[2:]
    return ... not in members and len(members) == (2 if outer in {dict, collections.abc.Mapping} else 1)


def _is_value(text: str) -> bool:
    quoted = len(text) >= 2 and text[0] in "'\"" and text[-1] == text[0] and text[0] not in text[1:-1]
    return quoted or _NUMBER.fullmatch(text) is not None or text in {"True", "False"}


def _value(text: str) -> Any:
    if text[0] in "'\"":
        return text[1:-1]
    return text == "True" if text in {"True", "False"} else int(text)


def _is_choice(annotation: Any) -> bool:
    return get_origin(annotation) is Literal


def _united(parts: Sequence[Any]) -> Any:
    """A union of the parts; the choices among them become one `Literal`."""
    values = [value for part in parts if _is_choice(part) for value in get_args(part)]
    others = [part for part in parts if not _is_choice(part)]
    if Any in others:
        return Any
    if values:
        others.append(Literal[tuple(values)])
    return functools.reduce(lambda left, right: Union[left, right], others)  # noqa: UP007


def _count(word: str) -> int:
    return _COUNTS.get(word.lower()) or int(word)


def _raise() -> Any:
    raise _NoMeaningError
