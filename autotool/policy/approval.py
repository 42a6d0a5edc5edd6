"""When a call needs somebody's consent, and the question that is put to them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from autotool.model import Hints, ToolSpec

Mode = Literal["none", "auto", "required", "operator"]
"""`auto` asks for what is known to destroy, where the client can be asked; `required` runs nothing without consent; `operator` asks
somebody at the server, not through the client."""

KEY = "approval"
_MOST_TEXT = 20_000


@dataclass(frozen=True, slots=True)
class Verdict:
    """What came of a question: `approved`, and whether it holds for a while; `reason` says why not."""

    approved: bool
    reason: str = ""
    remember: bool = False


def is_known_to_destroy(hints: Hints) -> bool:
    """Whether something says that the tool destroys; doubt is not evidence."""
    return (
        hints.destructive
        and not hints.read_only
        and any(evidence.hint == "destructive" and evidence.value for evidence in hints.evidence)
    )


def needs_consent(mode: Mode, tool: ToolSpec) -> bool:
    """Whether a call of `tool` is to be asked about."""
    if mode in ("required", "operator"):
        return True
    return mode == "auto" and is_known_to_destroy(tool.candidate.hints)


def question(tool: ToolSpec, arguments: Mapping[str, Any]) -> str:
    """What a person is asked: the tool, in words, and every argument as it will be sent."""
    title = tool.candidate.title or tool.name
    first = tool.candidate.description.strip().split("\n")[0][:300]
    lines = [f"Run `{tool.name}` ({title})?", first, ""]
    for name, value in arguments.items():
        shown = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        lines.append(f"{name}: {shown}")
    if not arguments:
        lines.append("(no arguments)")
    text = "\n".join(lines)
    if len(text) <= _MOST_TEXT:
        return text
    return f"{text[: _MOST_TEXT // 2]}\n[… {len(text) - _MOST_TEXT} characters are not shown …]\n{text[-_MOST_TEXT // 2 :]}"


def form(remember_s: float) -> dict[str, Any]:
    """The form of the question: approve or not, and for a while where the settings allow that."""
    fields: dict[str, Any] = {"approve": {"type": "boolean", "title": "Approve", "description": "Run it as shown."}}
    if remember_s:
        minutes = f"{remember_s / 60:g} minutes"
        fields["remember"] = {
            "type": "boolean",
            "title": f"Approve this tool for {minutes}",
            "description": f"Do not ask again for {minutes}, whatever the arguments.",
            "default": False,
        }
    return {"type": "object", "properties": fields, "required": ["approve"]}


def verdict(answer: Any) -> Verdict | None:
    """What an answer to the question says; None where it says nothing, so that it has to be put again."""
    if not isinstance(answer, Mapping):
        return None
    action, content = answer.get("action"), answer.get("content")
    if action == "decline":
        return Verdict(False, "the person declined it")
    if action == "cancel":
        return Verdict(False, "the person sent the question away without an answer")
    if action != "accept" or not isinstance(content, Mapping) or not isinstance(content.get("approve"), bool):
        return None
    if not content["approve"]:
        return Verdict(False, "the person did not approve it")
    return Verdict(True, remember=content.get("remember") is True)
