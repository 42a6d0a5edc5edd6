"""Behaviour hints, each with the evidence for it. In doubt the specification's default stands.

Source of the defaults: `ToolAnnotations`, Model Context Protocol, revision 2026-07-28
(https://github.com/modelcontextprotocol/modelcontextprotocol, `schema/2026-07-28/schema.ts`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from autotool.introspect import codescan, verbs
from autotool.introspect.codescan import Findings
from autotool.model import Evidence, Hints

_WORD = re.compile(r"[A-Za-z]+")
_SAFE_METHOD = re.compile(r"\b(?:GET|HEAD|OPTIONS) request\b")
_SUMMARY_WORDS = 10


@dataclass(frozen=True, slots=True)
class _Subject:
    """What is known of one function before anything is concluded."""

    name: str
    module: str
    words: tuple[str, ...]
    summary: str
    effect: verbs.Effect
    findings: Findings | None
    returns: Any


def infer(*, name: str, module: str, summary: str, parameters: Sequence[str], returns: Any, function: object) -> Hints:
    """The four hints of a function. Never raises, and never calls the function.

    Args:
        name: its name in Python.
        module: the module that defines it.
        summary: the first paragraph of its docstring.
        parameters: the names of its parameters.
        returns: its return annotation, or anything else where it has none.
        function: the callable itself; its compiled code is read.
    """
    effect = verbs.effect_of(module, name)
    findings = _findings(function) if effect == "unknown" else None
    place = verbs.plain_module(module)
    subject = _Subject(name, place, verbs.words_of(name), summary, effect, findings, returns)
    evidence: list[Evidence] = []
    harmless = _why_read_only(subject, parameters)
    if harmless:
        evidence += [
            Evidence("read_only", True, harmless),
            Evidence("destructive", False, harmless),
            Evidence("idempotent", True, "what only reads changes no more the second time"),
        ]
    elif effect == "chance":
        evidence.append(Evidence("destructive", False, f"`{place}` leaves nothing behind"))
    elif reason := _why_destructive(subject):
        evidence.append(Evidence("destructive", True, reason))
    evidence += _about_the_world(subject)
    return _hints(evidence)


def _findings(function: object) -> Findings | None:
    try:
        return codescan.scan(function)
    except Exception:
        # Objects among a function's globals, such as proxies, may run code of their own when looked at.
        return None


def _hints(evidence: Sequence[Evidence]) -> Hints:
    values = {one.hint: one.value for one in evidence}
    return Hints(
        read_only=values.get("read_only", False),
        destructive=values.get("destructive", True),
        idempotent=values.get("idempotent", False),
        open_world=values.get("open_world", True),
        evidence=tuple(evidence),
    )


def _why_read_only(subject: _Subject, parameters: Sequence[str]) -> str:
    """The reason for which a function only reads or computes, or ""."""
    findings = subject.findings
    if subject.effect == "pure":
        return f"`{subject.module}` only computes"
    if subject.effect == "reads":
        return f"`{subject.module}.{subject.name}` reads and changes nothing"
    if subject.effect in {"destroys", "writes", "chance"}:
        return ""
    if subject.returns in {None, type(None)} and _destroying_verb(subject.words):
        return ""  # What gives nothing back and is named after a deed is called for the deed, whatever its code shows.
    if findings is not None and findings.changes_nothing:
        if findings.reads:
            return f"its code only reads, with {_listed(findings.reads)}"
        return "its code only computes, from its arguments"
    if findings is not None and (findings.destroys or findings.writes):
        return ""
    return _verbs_say_read_only(subject, parameters)


def _verbs_say_read_only(subject: _Subject, parameters: Sequence[str]) -> str:
    if subject.effect == "network" and _SAFE_METHOD.search(subject.summary):
        return f"`{subject.name}` sends a request that changes nothing (RFC 9110, section 9.2.1)"
    first, *others = subject.words or ("",)
    acts = (verbs.WRITING | verbs.DESTROYING).intersection(others)
    if first not in verbs.READING or acts or verbs.CHANGING_PARAMETERS.intersection(parameters):
        return ""
    if _summary_verb(subject) in verbs.READING_SUMMARY:
        return f"its name and its docstring say that it only reads ({first!r})"
    if not subject.summary and subject.findings is not None:
        return f"its name says that it only reads ({first!r}), and its code is not seen to write"
    return ""


def _why_destructive(subject: _Subject) -> str:
    """The reason for which something may be gone after a call, or have gone out; "" where there is none."""
    if subject.effect == "destroys":
        return f"`{subject.module}.{subject.name}` destroys or replaces"
    if subject.effect == "reads":
        return ""
    if subject.findings is not None and subject.findings.destroys:
        return f"its code uses {_listed(subject.findings.destroys)}"
    first_words = [word.lower() for word in _WORD.findall(subject.summary)[:_SUMMARY_WORDS]]
    if not verbs.HARMLESS_OBJECTS.isdisjoint((*subject.words, *first_words)):
        return ""  # A part of a value is removed, as in `delete_whitespace`.
    verb = _destroying_verb(subject.words)
    if verb:
        return f"its name says {verb!r}"
    said = _summary_verb(subject)
    if said in {"send", "sends"} and "request" in first_words:
        return ""  # Any call over HTTP.
    asks = bool(subject.words) and subject.words[0] in verbs.ASKING
    if said in verbs.DESTROYING_SUMMARY and not asks and not _returns_a_value(subject.returns):
        return f"its docstring begins with {said!r}"
    return ""


def _destroying_verb(words: Sequence[str]) -> str:
    if not words or words[0] in verbs.ASKING:
        return ""
    return next((word for word in (words[0], words[-1]) if word in verbs.DESTROYING), "")


def _returns_a_value(returns: Any) -> bool:
    return returns in {str, list, dict, tuple, bytes, float} or getattr(returns, "__origin__", None) in {
        list,
        dict,
        tuple,
    }


def _about_the_world(subject: _Subject) -> list[Evidence]:
    findings = subject.findings
    if subject.effect == "network" or (findings is not None and findings.network):
        used = _listed(findings.network) if findings is not None and findings.network else f"`{subject.module}`"
        return [Evidence("open_world", True, f"it reaches other machines, with {used}")]
    if subject.effect != "unknown" and subject.module.partition(".")[0] in verbs.COMPUTING_PACKAGES:
        closed = subject.effect in {"pure", "chance"}  # `read_csv` takes an address, too.
    else:
        closed = subject.effect not in {"unknown", "writes"}
    if closed:
        return [Evidence("open_world", False, f"`{subject.module}.{subject.name}` stays on this machine")]
    if findings is not None and not findings.unknown:
        return [Evidence("open_world", False, "its code stays on this machine")]
    return []


def _summary_verb(subject: _Subject) -> str:
    match = _WORD.search(subject.summary)
    return match.group().lower() if match else ""


def _listed(clauses: Sequence[str]) -> str:
    return ", ".join(list(dict.fromkeys(clauses))[:3])
