"""Names that clients accept: of tools, of parameters, and for people.

Widely used clients pass a tool's name to a model's API that takes only `[A-Za-z0-9_-]{1,64}` beginning with
a letter, and a parameter's name to one that takes only `[A-Za-z0-9_.-]{1,64}`. One name outside costs the
whole list.
"""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence

MAX_LENGTH = 64
_MOST_LISTED = 6

_TOOL = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}")
_NOT_TOOL = re.compile(r"[^A-Za-z0-9_-]+")
_PARAMETER = re.compile(r"[A-Za-z0-9_.-]{1,64}")
_NOT_PARAMETER = re.compile(r"[^A-Za-z0-9_.-]+")
_BETWEEN_WORDS = re.compile(r"[\W_]+")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")

Wanted = tuple[str, str, str]
"""A name, the dotted module it would be qualified by, and the key of the callable."""


def is_legal(name: str) -> bool:
    """Whether `name` can be a tool's name as it stands."""
    return _TOOL.fullmatch(name) is not None


def clean(name: str) -> str:
    """Make a legal tool name of any text; a legal one keeps its spelling.

    Runs of other characters become one `_`; a name that does not begin with a letter gets `tool_` in front;
    one with nothing legal in it becomes `tool_` and a hash; a long one is cut and ends in a hash of the
    whole.
    """
    if is_legal(name):
        return name
    short = _NOT_TOOL.sub("_", name).strip("_-")
    if not short:
        return f"tool_{_hash(name)}"
    if not short[0].isalpha():
        short = f"tool_{short}"
    return _cut(short, name)


def wire_parameter_name(name: str) -> str:
    """Make a legal property name of a parameter's name or alias; a legal one keeps its spelling.

    Two names may become one: see `wire_parameter_names`.
    """
    if _PARAMETER.fullmatch(name):
        return name
    short = _NOT_PARAMETER.sub("_", name).strip("_")
    return _cut(short, name) if short else f"arg_{_hash(name)}"


def wire_parameter_names(names: Sequence[str]) -> tuple[str, ...]:
    """Make legal property names, all different, in the order of `names` (which are different)."""
    cleaned = [wire_parameter_name(name) for name in names]
    legal = set(names) & set(cleaned)
    return tuple(
        _suffixed(short, name) if short != name and (short in legal or cleaned.count(short) > 1) else short
        for name, short in zip(names, cleaned, strict=True)
    )


def title(name: str) -> str:
    """Write a name for people: `fetch_row` is "Fetch row", `parseHTML` is "Parse HTML"."""
    words = [word for part in _BETWEEN_WORDS.split(name) for word in _CAMEL.split(part) if word]
    if not words:
        return name
    # Words such as HTML or UTF8 keep their capitals.
    text = " ".join(word.lower() if word[1:].islower() else word for word in words)
    return text[0].upper() + text[1:]


def assign(wanted: Sequence[Wanted]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Give each callable a legal name of its own, the same whatever the order.

    A name that was legal keeps its spelling. Where callables of several modules meet, all of them are
    qualified by as much of the end of their module's name as tells them apart; where that is not enough, by
    their owner's name (`Class.method`) or by a short hash.

    Returns:
        The names, in the order of `wanted`, and one sentence for each name that was wanted more than once.
    """
    groups: defaultdict[str, list[int]] = defaultdict(list)
    for index, (name, _, _) in enumerate(wanted):
        groups[clean(name)].append(index)
    names = {members[0]: name for name, members in groups.items() if len(members) == 1}
    taken = set(names.values())
    warnings: list[str] = []
    for name, members in sorted(groups.items()):
        if len(members) == 1:
            continue
        found = _settle(name, sorted((wanted[index][2], index) for index in members), wanted, taken)
        names.update(found)
        taken.update(found.values())
        told = _list({new: wanted[index][2] for index, new in found.items()})
        warnings.append(f"{len(members)} functions would be called `{name}`; they are offered as {told}.")
    return tuple(names[index] for index in range(len(wanted))), tuple(warnings)


def _list(keys: dict[str, str]) -> str:
    told = [f"`{name}` ({keys[name]})" for name in sorted(keys)[:_MOST_LISTED]]
    more = len(keys) - len(told)
    return ", ".join(told) + (f" and {more} more" if more else "")


def _settle(name: str, members: Sequence[tuple[str, int]], wanted: Sequence[Wanted], taken: set[str]) -> dict[int, str]:
    """Name the callables that would all be called `name`; `members` are pairs of key and index, sorted."""
    by_spelling: defaultdict[str, list[int]] = defaultdict(list)
    for _, index in members:
        by_spelling[wanted[index][0]].append(index)
    found: dict[int, str] = {}
    # The legal spelling keeps the name; where there is none, the last in code-point order does, whatever came first.
    keeper = name if name in by_spelling else max(by_spelling)
    for spelling, indices in sorted(by_spelling.items()):
        if len(indices) == 1:
            index = indices[0]
            found[index] = name if spelling == keeper else _suffixed(name, spelling)
        else:
            found.update(_told_apart([wanted[index] for index in indices], indices, taken))
    return _without_clashes(found, wanted, taken)


def _told_apart(same: Sequence[Wanted], indices: Sequence[int], taken: set[str]) -> dict[int, str]:
    """Name callables that are spelled alike, by the first way that makes all of them differ."""
    for way in _ways(same):
        names = [way(one) for one in same]
        if len(set(names)) == len(names) and not taken.intersection(names):
            return dict(zip(indices, names, strict=True))
    return {index: _suffixed(clean(one[0]), one[2]) for index, one in zip(indices, same, strict=True)}


def _ways(same: Sequence[Wanted]) -> Iterable[Callable[[Wanted], str]]:
    depth = max(qualifier.count(".") + 1 for _, qualifier, _ in same)
    for parts in range(1, depth + 1):
        yield lambda one, parts=parts: clean("_".join([*one[1].split(".")[-parts:], one[0]]))
    yield lambda one: clean(one[2].rpartition(":")[2])


def _without_clashes(found: dict[int, str], wanted: Sequence[Wanted], taken: set[str]) -> dict[int, str]:
    used = set(taken)
    unique: dict[int, str] = {}
    for index in sorted(found, key=lambda i: (found[i], wanted[i][2])):
        name, again = found[index], 0
        while name in used:
            name = _suffixed(found[index], f"{wanted[index][2]}#{again}")
            again += 1
        used.add(name)
        unique[index] = name
    return unique


def _hash(text: str) -> str:
    # Lone surrogates occur in file names; they must not end the naming.
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]


def _suffixed(name: str, original: str) -> str:
    return f"{name[: MAX_LENGTH - 9]}_{_hash(original)}"


def _cut(name: str, original: str) -> str:
    return name if len(name) <= MAX_LENGTH else _suffixed(name, original)
