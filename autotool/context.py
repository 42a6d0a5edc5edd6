"""What a function may ask of the call it runs in, by a parameter of type `autotool.Context`."""

from __future__ import annotations

import enum
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast

_PLAIN: dict[Any, dict[str, Any]] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
}


class Declined(Exception):
    """The person did not answer a question: declined it, or sent it away."""


class NeedsInput(BaseException):
    """The run cannot go on without answers; it is begun anew when they are there. Never caught by honest code."""

    def __init__(self, requests: Mapping[str, dict[str, Any]]) -> None:
        super().__init__(f"answers are needed: {', '.join(requests)}")
        self.requests = dict(requests)


@dataclass(frozen=True, slots=True)
class Question:
    """A question to the person behind the client.

    Attributes:
        message: what is asked, in words.
        schema: the form: names to types (`str`, `int`, `float`, `bool`, a `Literal`, an `Enum`, a list of either of these), or a JSON
            Schema of a flat object.
    """

    message: str
    schema: Mapping[str, Any]

    def form(self) -> dict[str, Any]:
        """The JSON Schema of the form, a flat object (2026-07-28, elicitation, "Requested Schema").

        Raises:
            TypeError: a type cannot be asked for.
        """
        if self.schema.get("type") == "object":
            return dict(self.schema)
        fields = {name: _field(name, kind) for name, kind in self.schema.items()}
        return {"type": "object", "properties": fields, "required": list(fields)}


class Context:
    """The running call. A function that has a parameter of this type gets one; it is no argument of the tool.

    Questions are answered by running the function again from its start: `ask` returns at once when the answer is known, and ends
    the run when it is not. So ask before anything is done that must not be done twice.
    """

    def __init__(
        self,
        answers: Mapping[str, Any] | None = None,
        *,
        abilities: Sequence[str] = (),
        report: Callable[[float, float | None, str], None] | None = None,
    ) -> None:
        self._answers = answers or {}
        self._report = report
        self._asked = 0
        self._abilities = frozenset(abilities)

    @property
    def can_ask(self) -> bool:
        """Whether the client can put forms to a person."""
        return "elicitation" in self._abilities

    @property
    def can_sample(self) -> bool:
        """Whether the client lends its model."""
        return "sampling" in self._abilities

    def ask(self, message: str, schema: Mapping[str, Any], *, key: str = "") -> dict[str, Any]:
        """The person's answer to a form.

        Args:
            schema: as for `Question`.
            key: the name of the question; by default its place in the run.

        Raises:
            Declined: the person declined, or sent the question away.
        """
        name = key or self._next_key()
        return self.ask_all({name: Question(message, schema)})[name]

    def ask_all(self, questions: Mapping[str, Question]) -> dict[str, dict[str, Any]]:
        """The answers to several questions, asked in one round.

        Raises:
            Declined: the person declined one of them, or sent it away.
        """
        self._need({key: _elicitation(question) for key, question in questions.items()})
        found: dict[str, dict[str, Any]] = {}
        for key in questions:
            answer = self._answers[key]
            if answer.get("action") != "accept":
                raise Declined(f"the person did not answer `{key}` ({answer.get('action')})")
            found[key] = dict(answer.get("content") or {})
        return found

    def sample(self, prompt: str, *, max_tokens: int = 1000, key: str = "") -> str:
        """What the client's model says to `prompt` (deprecated in 2026-07-28, and still there)."""
        name = key or self._next_key()
        message = {"role": "user", "content": {"type": "text", "text": prompt}}
        self._need({name: _sampling([message], max_tokens)})
        content = self._answers[name].get("content")
        return str(content.get("text", "")) if isinstance(content, Mapping) else ""

    def roots(self, *, key: str = "roots") -> list[str]:
        """The URIs of the folders that the client works in (deprecated in 2026-07-28, and still there)."""
        self._need({key: {"method": "roots/list", "params": {}}})
        return [str(root.get("uri", "")) for root in self._answers[key].get("roots", ()) if isinstance(root, Mapping)]

    def need(self, requests: Mapping[str, dict[str, Any]]) -> dict[str, Any]:
        """The client's results for requests of several kinds, put in one round: `{key: {"method": …, "params": …}}`."""
        self._need(requests)
        return {key: self._answers[key] for key in requests}

    def _need(self, requests: Mapping[str, dict[str, Any]]) -> None:
        missing = {key: request for key, request in requests.items() if key not in self._answers}
        if missing:
            raise NeedsInput(missing)

    def _next_key(self) -> str:
        self._asked += 1
        return f"question_{self._asked}"

    def progress(self, done: float, total: float | None = None, message: str = "") -> None:
        """Tell how far the call has come; costs next to nothing when nobody wants to know."""
        if self._report is not None:
            self._report(done, total, message)


def _elicitation(question: Question) -> dict[str, Any]:
    params = {"mode": "form", "message": question.message, "requestedSchema": question.form()}
    return {"method": "elicitation/create", "params": params}


def _sampling(messages: list[dict[str, Any]], max_tokens: int) -> dict[str, Any]:
    return {"method": "sampling/createMessage", "params": {"messages": messages, "maxTokens": max_tokens}}


def is_context(annotation: Any) -> bool:
    """Whether a parameter of this type is filled by autotool."""
    if typing.get_origin(annotation) in (typing.Union, types.UnionType):
        return any(part is Context for part in typing.get_args(annotation))
    return annotation is Context


def _field(name: str, kind: Any) -> dict[str, Any]:
    if isinstance(kind, Mapping):
        return dict(cast("Mapping[str, Any]", kind))
    if kind in _PLAIN:
        return dict(_PLAIN[kind])
    if typing.get_origin(kind) is Literal:
        return {"type": "string", "enum": [str(value) for value in typing.get_args(kind)]}
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        return {"type": "string", "enum": [str(member.value) for member in kind]}
    if typing.get_origin(kind) is list:
        inner = _field(name, typing.get_args(kind)[0])
        if "enum" in inner:
            return {"type": "array", "items": inner}
    raise TypeError(f"`{name}`: {kind!r} cannot be asked for; a form has texts, numbers, booleans and choices")
