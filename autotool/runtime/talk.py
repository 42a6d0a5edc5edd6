"""The questions and answers of one call."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, cast

from autotool.errors import ProtocolError
from autotool.model import Caller, Outcome, ToolSpec
from autotool.policy.approval import Verdict
from autotool.policy.states import Binding, State
from autotool.protocol.conversation import ELICIT, Conversation, InputRequired
from autotool.protocol.messages import MISSING_CAPABILITY
from autotool.runtime.consent import Consent
from autotool.worker.outcomes import error_outcome

_TRIES = 3
_ACTIONS = ("accept", "decline", "cancel")


class Talk:
    """What one call has asked and been told.

    Attributes:
        answers: the answers to the function's questions, by key.
    """

    def __init__(
        self, tool: ToolSpec, arguments: Mapping[str, Any], caller: Caller, conversation: Conversation, consent: Consent
    ) -> None:
        self._tool = tool
        self._arguments = arguments
        self._caller = caller
        self._conversation = conversation
        self._consent = consent
        self._state = State()
        self.answers: dict[str, Any] = {}

    async def begin(self) -> None:
        """Take what the client brought back.

        Raises:
            ProtocolError: it is not accepted.
        """
        self._state = await self._consent.returned(self._conversation, self._binding)
        self.answers = {**self._state.answers, **self._valid_responses()}

    def _binding(self) -> Binding:
        return self._consent.binding(self._tool, self._arguments, self._caller)

    def _valid_responses(self) -> dict[str, Any]:
        """The client's answers to what it was asked; anything else that it sent is not looked at."""
        asked = self._state.asked
        return {
            key: answer
            for key, answer in self._conversation.responses.items()
            if key in asked and _is_valid(answer, asked[key])
        }

    async def consent_given(self) -> Verdict:
        """Whether the call may run.

        Raises:
            InputRequired: the client has to ask the person first.
        """
        found = await self._consent.obtain(self._tool, self._arguments, self._caller, self._conversation, self._state)
        if found.approved:
            self._state = replace(self._state, approved=True)
        return found

    async def put(self, asks: bytes) -> Outcome | None:
        """Put the function's questions; an outcome where nobody can be asked.

        Raises:
            InputRequired: the client has to ask, and to call again.
            ProtocolError: it has not declared that it can (-32021).
        """
        requests = cast("dict[str, dict[str, Any]]", json.loads(asks))
        missing = self._conversation.lacks(requests)
        if missing:
            return self._unaskable(requests, missing)
        if self._conversation.ask is not None:
            for key, request in requests.items():
                self.answers[key] = await self._live(request)
            return None
        asked = {key: _form_of(request) for key, request in requests.items()}
        raise InputRequired(
            {key: self._consent.shown(request) for key, request in requests.items()},
            await self._consent.next_state(self._binding(), replace(self._state, answers=self.answers, asked=asked)),
        )

    def _unaskable(self, requests: Mapping[str, Any], missing: Mapping[str, Any]) -> Outcome:
        text = f"`{self._tool.name}` has to ask ({', '.join(requests)}), and this client has not declared {' and '.join(missing)}."
        if self._conversation.is_modern:
            raise ProtocolError(MISSING_CAPABILITY, text, data={"requiredCapabilities": dict(missing)})
        return error_outcome(text, error_type="NotAsked")

    async def _live(self, request: Mapping[str, Any]) -> dict[str, Any]:
        assert self._conversation.ask is not None  # the caller has looked
        shown = self._consent.shown(request)
        params = {key: value for key, value in shown["params"].items() if key != "mode"}
        for _ in range(_TRIES):
            answer = await self._consent.answer_to(self._conversation.ask, shown["method"], params)
            if _is_valid(answer, _form_of(request)):
                return answer
        return {"action": "cancel"}


def _form_of(request: Mapping[str, Any]) -> Any:
    """The form of an elicitation; None for the other kinds of requests."""
    return request["params"].get("requestedSchema") if request["method"] == ELICIT else None


def _is_valid(answer: Any, schema: Any) -> bool:
    """Whether an answer is one, and what was filled in fits the form."""
    if not isinstance(answer, Mapping):
        return False
    if schema is None:
        return bool(answer)
    if answer.get("action") not in _ACTIONS:
        return False
    if answer["action"] != "accept":
        return True
    import jsonschema

    content = answer.get("content") or {}
    try:
        return jsonschema.Draft202012Validator(schema).is_valid(content)
    except jsonschema.SchemaError:
        return isinstance(content, Mapping)
