"""What a function may ask of the call it runs in, by a parameter of type `autotool.Context`."""

from __future__ import annotations

import hashlib
import json
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar, overload

from autotool.questions import Question, Visit

T = TypeVar("T")

_RESERVED = "approval"
"""The key of the question whether the call may run at all."""


class Declined(Exception):
    """The person did not answer a question: declined it, or sent it away."""


class NeedsInput(BaseException):
    """The run cannot go on without answers; it is begun anew when they are there. Never caught by honest code."""

    def __init__(self, requests: Mapping[str, dict[str, Any]]) -> None:
        super().__init__(f"answers are needed: {', '.join(requests)}")
        self.requests = dict(requests)


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
    def can_ask_url(self) -> bool:
        """Whether the client can ask a person to open an address."""
        return "elicitation.url" in self._abilities

    @property
    def can_sample(self) -> bool:
        """Whether the client lends its model."""
        return "sampling" in self._abilities

    @overload
    def ask(self, message: str, schema: Mapping[str, Any], *, key: str = "") -> dict[str, Any]: ...

    @overload
    def ask(self, message: str, schema: type[T], *, key: str = "") -> T: ...

    def ask(self, message: str, schema: Any, *, key: str = "") -> Any:
        """The person's answer to a form.

        Args:
            schema: as for `Question`.
            key: the name of the question; by default made of its place in the run, its words and its form, so that another
                question is never taken as answered.

        Raises:
            Declined: the person declined, or sent the question away.
        """
        question = Question(message, schema)
        name = key or self._next_key(question.request())
        return self.ask_all({name: question})[name]

    def ask_url(self, message: str, url: str, *, key: str = "") -> str:
        """Ask the person to open an address, for what must not pass through the client; gives the address that they were sent to.

        What is done there is not told: when this returns, they have agreed to go, and the function finds out what came of it.

        Args:
            url: https, or http on this machine. One that is made anew in each run may differ from the one that is given back.

        Raises:
            Declined: the person declined, or sent the question away.
        """
        visit = Visit(message, url)
        name = key or self._next_key({"visit": message})
        return self.ask_all({name: visit})[name]

    def ask_all(self, questions: Mapping[str, Question | Visit]) -> dict[str, Any]:
        """The answers to several questions, asked in one round; of a `Visit`, the address.

        Raises:
            Declined: the person declined one of them, or sent it away.
        """
        self._need({key: question.request() for key, question in questions.items()})
        found: dict[str, Any] = {}
        for key, question in questions.items():
            answer = self._answers[key]
            if answer.get("action") != "accept":
                raise Declined(f"the person did not answer `{key}` ({answer.get('action')})")
            if isinstance(question, Visit):
                found[key] = str(answer.get("url") or question.url)
            else:
                found[key] = question.read(answer.get("content") or {})
        return found

    def sample(self, prompt: str, *, max_tokens: int = 1000, key: str = "") -> str:
        """What the client's model says to `prompt` (deprecated in 2026-07-28, and still there)."""
        message = {"role": "user", "content": {"type": "text", "text": prompt}}
        request = _sampling([message], max_tokens)
        name = key or self._next_key(request)
        self._need({name: request})
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
        if _RESERVED in requests:
            raise ValueError(f"`{_RESERVED}` is the key of autotool's own question; choose another")
        missing = {key: request for key, request in requests.items() if key not in self._answers}
        if missing:
            raise NeedsInput(missing)

    def _next_key(self, request: Mapping[str, Any]) -> str:
        self._asked += 1
        text = json.dumps(request, sort_keys=True, default=str)
        return f"question_{self._asked}_{hashlib.sha256(text.encode()).hexdigest()[:8]}"

    def progress(self, done: float, total: float | None = None, message: str = "") -> None:
        """Tell how far the call has come; costs next to nothing when nobody wants to know."""
        if self._report is not None:
            self._report(done, total, message)


def _sampling(messages: list[dict[str, Any]], max_tokens: int) -> dict[str, Any]:
    return {"method": "sampling/createMessage", "params": {"messages": messages, "maxTokens": max_tokens}}


def is_context(annotation: Any) -> bool:
    """Whether a parameter of this type is filled by autotool."""
    if typing.get_origin(annotation) in (typing.Union, types.UnionType):
        return any(part is Context for part in typing.get_args(annotation))
    return annotation is Context
