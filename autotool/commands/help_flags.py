"""The head of an option's entry: its spellings, what follows them, and where the description begins."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Literal

_FLAG = re.compile(
    r"-[A-Z][a-z]*,(?=<)|--\[no-\][A-Za-z0-9][\w.-]*|--?[A-Za-z0-9?#@~!$%][\w.+#-]*|-[?#\"~:](?=,\s)|-[?#\"~]|-(?=\s|$)"
)
_SEPARATOR = re.compile(r"\s*(?:,\s*|\s\|\s|\||\s/\s|/(?=-)|\sor\s(?=-)|\s{1,3}(?=--\S))")
_ANGLED = r"<[^<>]*>"
_GLUED = rf"(?:{_ANGLED}|\[[^\]\s]*\]|[\w:=./@|+-])"
"""What may follow a part of a value's name without a space: `<var>[:<type>]=<value>`, `[protocol://]host[:port]`."""
_ATTACHED_OPTIONAL = re.compile(r"\[=?(?P<value>[^\]\[]*(?:\[[^\]]*\][^\]\[]*)*)\]")
_ATTACHED = re.compile(
    rf"=(?P<value>{_ANGLED}(?:[=:|,]{_ANGLED})*(?:\[,?\.\.\.\])?|\{{[^}}]*\}}|\[[^\]]*\]\S*|[^\s,]+(?:,(?!\s|-)[^\s,]+)*)?"
)
_JOINED = re.compile(rf"(?P<value>{_ANGLED}|\{{[^}}]*\}})")
_QUOTED = re.compile(r' \("[^"]*"\)')
_BRACKETED_WORD = rf"{_ANGLED}{_GLUED}*(?:\.\.\.)?|\{{[^}}]*\}}|\[[^\]]*\]{_GLUED}*(?:\.\.\.)?"
_CAPITAL_WORD = r"[A-Z][A-Z0-9_.:/=|+-]*(?:\[[^\]]*\])*(?:\.\.\.)?"
_FORMAL = re.compile(
    rf" (?P<value>(?:{_BRACKETED_WORD})(?: (?:{_BRACKETED_WORD}|\.\.\.))*"
    rf"|(?:{_CAPITAL_WORD})(?: (?:{_CAPITAL_WORD}|{_BRACKETED_WORD}|RANGE|\.\.\.))*)(?=\s|,|$)"
)
_WHOLE_BRACKET = re.compile(r"\[[^\]\[| ]*\](?:\.\.\.)?")
_INFORMAL = re.compile(r" (?P<value>[a-z][\w:|=./-]*(?: [a-z]\w?)?(?:\.\.\.)?)(?=,|\s{2,}|\s+:\s|:?$)")
_BEFORE_DESCRIPTION = re.compile(r"\s*[:=]\s+|\s+-\s+|\s+(?=\S)")


Joint = Literal["", "=", " ", "none"]


@dataclass
class Head:
    """What stands before a description.

    Attributes:
        flags: spellings in order, `--[no-]x` opened: its negative is in `negative`.
        metavar: the words of its value, "" for a switch.
        is_optional: whether the value may be left out.
        joints: by spelling, how its value is joined to it.
        end: where the description begins, or -1 where it is not on this line.
        repeats: whether dots say that it may be repeated.
    """

    flags: list[str] = field(default_factory=list[str])
    negative: str = ""
    metavar: str = ""
    is_optional: bool = False
    joints: dict[str, Joint] = field(default_factory=dict[str, "Joint"])
    end: int = -1
    repeats: bool = False


def read(line: str) -> Head | None:
    """The head of the entry on `line`; None when it does not begin with an option."""
    at = len(line) - len(line.lstrip())
    if line[at : at + 1] == "[" and line[at + 1 : at + 2] == "-" and line.rstrip().endswith("]"):
        return None
    head = Head()
    # `-<signal>, -s, --signal <signal>`: a spelling that is itself a value has no name.
    at += len(found.group()) if (found := re.match(r"-<[^>]*>,\s*|-[A-Z]{2,},\s*", line[at:])) else 0
    negates = False
    while found := _FLAG.match(line, at):
        spelled = found.group()
        if spelled == "-" or _is_rule(spelled):
            return None
        if negates:
            # `--reload / --no-reload`: what stands behind the stroke switches it off.
            head.negative = head.negative or spelled
            at = found.end()
            break
        at = _value(line, found.end(), head, _spelled(spelled, head))
        separator = _SEPARATOR.match(line, at)
        if separator is None or not _FLAG.match(line, separator.end()):
            break
        if separator.group().isspace() and not _is_second_spelling(head, line[separator.end() :]):
            break
        at, negates = separator.end(), "/" in separator.group()
    if not head.flags:
        return None
    return _ended(line, at, head)


def _is_rule(spelled: str) -> bool:
    return not spelled.strip("-")


def _is_second_spelling(head: Head, rest: str) -> bool:
    """Whether what follows a gap is another spelling (`-c  --clear`) and not a description that begins with one."""
    return all(not flag.startswith("--") for flag in head.flags) and not rest.startswith("--no-")


def _spelled(spelled: str, head: Head) -> str:
    """Keep a spelling; gives it without what the text adds to it."""
    if spelled.startswith("--[no-]"):
        head.negative = "--no-" + spelled.removeprefix("--[no-]")
        spelled = "--" + spelled.removeprefix("--[no-]")
    if spelled.endswith("..."):
        head.repeats = True
        spelled = spelled.removesuffix("...")
    head.flags.append(spelled.rstrip("."))
    return head.flags[-1]


def _value(line: str, at: int, head: Head, flag: str) -> int:
    """Read what is attached to a flag; gives where it ends."""
    quoted = _QUOTED.match(line, at)
    if quoted:
        at = quoted.end()
    optional = _ATTACHED_OPTIONAL.match(line, at)
    if optional:
        head.joints[flag] = "=" if optional.group().startswith("[=") else "none"
        _take(head, optional.group("value"), is_optional=True)
        return _dotted(line, optional.end(), head)
    attached = _ATTACHED.match(line, at)
    if attached:
        value = attached.group("value") or "VALUE"
        head.joints[flag] = "="
        if value.startswith("[") and value.endswith("]") and "]" not in value[:-1]:
            _take(head, value[1:-1], is_optional=True)
        else:
            _take(head, value, is_optional=False)
        return _dotted(line, attached.end(), head)
    joined = _JOINED.match(line, at)
    if joined and not flag.startswith("--"):
        head.joints[flag] = "none"
        _take(head, joined.group("value"), is_optional=False)
        return _dotted(line, joined.end(), head)
    end = _spaced(line, at, head)
    if end > at:
        head.joints[flag] = " "
    return end


def _spaced(line: str, at: int, head: Head) -> int:
    formal = _FORMAL.match(line, at)
    if formal and _is_metavar(formal.group("value"), line[formal.end() :]):
        value = formal.group("value")
        is_optional = bool(_WHOLE_BRACKET.fullmatch(value))
        _take(head, value.strip("[]") if is_optional else value, is_optional=is_optional)
        return _dotted(line, formal.end(), head)
    informal = _INFORMAL.match(line, at)
    if informal and (line[informal.end() :].strip() or len(head.flags) > 0):
        _take(head, informal.group("value"), is_optional=False)
        return _dotted(line, informal.end(), head)
    return at


def _is_metavar(value: str, rest: str) -> bool:
    """Whether capitals are a value's name and not the first word of a description."""
    if value[0] in "<{[":
        return True
    if not rest or rest.startswith((",", "  ", " :", " =")):
        return True
    # `-o FILE write to it`, with one space: a name in capitals, and a sentence behind it.
    return len(value) > 1 and value.replace("_", "").replace("-", "").isalpha() and rest[1:2].islower()


def _take(head: Head, value: str, *, is_optional: bool) -> None:
    if value.endswith("..."):
        head.repeats = head.repeats or bool(value.strip("."))
        value = value.rstrip(".").rstrip() or "VALUE"
    if not head.metavar or is_optional or value.startswith("{"):
        head.metavar = value or "VALUE"
    head.is_optional = head.is_optional or is_optional


def _dotted(line: str, at: int, head: Head) -> int:
    for dots in ("...", " ..."):
        if line.startswith(dots, at):
            head.repeats = True
            return at + len(dots)
    return at


def _ended(line: str, at: int, head: Head) -> Head | None:
    rest = line[at:]
    if not rest.strip() or rest.strip() in (",", ":"):
        head.end = -1
        return head
    gap = _BEFORE_DESCRIPTION.match(line, at)
    if gap is None:
        return None
    head.end = gap.end()
    return head
