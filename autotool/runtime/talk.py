"""The questions and answers of one call."""

from __future__ import annotations

import functools
import json
import secrets
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any, cast
from urllib.parse import urlsplit

from autotool.errors import ProtocolError
from autotool.model import Caller, Outcome, ToolSpec
from autotool.policy.approval import KEY as APPROVAL
from autotool.policy.approval import Verdict
from autotool.policy.states import Binding, State
from autotool.policy.tokens import secret_kind
from autotool.protocol.conversation import ELICIT, Conversation, InputRequired, is_visit
from autotool.protocol.messages import MISSING_CAPABILITY
from autotool.runtime.consent import Consent
from autotool.worker.outcomes import error_outcome

_TRIES = 3
_ACTIONS = ("accept", "decline", "cancel")
_ADDRESS = "address"
"""Under it stands what is kept of a visit, in the place of a form."""


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
            key: _told(answer, asked[key])
            for key, answer in self._conversation.responses.items()
            if key in asked and key != APPROVAL and _is_valid(answer, asked[key])
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
        secret = _secret_fields(requests)
        if secret:
            return self._indiscreet(secret)
        if self._conversation.ask is not None:
            for key, request in requests.items():
                self.answers[key] = await self._live(request)
            return None
        asked = {key: _wanted(request) for key, request in requests.items()}
        raise InputRequired(
            {key: self._consent.shown(request) for key, request in requests.items()},
            await self._consent.next_state(self._binding(), replace(self._state, answers=self.answers, asked=asked)),
        )

    def _unaskable(self, requests: Mapping[str, Any], missing: Mapping[str, Any]) -> Outcome:
        text = f"`{self._tool.name}` has to ask ({', '.join(requests)}), and this client has not declared {' and '.join(missing)}."
        if self._conversation.is_modern:
            raise ProtocolError(MISSING_CAPABILITY, text, data={"requiredCapabilities": dict(missing)})
        return error_outcome(text, error_type="NotAsked")

    def _indiscreet(self, fields: list[str]) -> Outcome:
        text = (
            f"`{self._tool.name}` asks for {', '.join(f'`{name}`' for name in fields)} in a form, which the client and its model can read. "
            "Secrets are asked for with `Context.ask_url`, on a page of their own."
        )
        return error_outcome(text, error_type="NotAsked")

    async def _live(self, request: Mapping[str, Any]) -> dict[str, Any]:
        assert self._conversation.ask is not None  # the caller has looked
        shown = self._consent.shown(request)
        params = dict(shown["params"])
        if is_visit(request):
            params["elicitationId"] = secrets.token_urlsafe(16)  # 2025-11-25 demands one
        else:
            params.pop("mode", None)  # the revisions before know forms only
        wanted = _wanted(request)
        for _ in range(_TRIES):
            answer = await self._consent.answer_to(self._conversation.ask, shown["method"], params)
            if _is_valid(answer, wanted):
                return _told(answer, wanted)
        return {"action": "cancel"}


def _wanted(request: Mapping[str, Any]) -> Any:
    """What an answer is held against: the form of an elicitation, or its address; None for the other kinds of requests."""
    if is_visit(request):
        return {_ADDRESS: request["params"]["url"]}
    return request["params"].get("requestedSchema") if request["method"] == ELICIT else None


def _told(answer: Any, wanted: Any) -> Any:
    """An answer as the function gets it: to a visit, with the address to which the person was sent."""
    if isinstance(wanted, Mapping) and _ADDRESS in wanted:
        return {"action": answer["action"], "url": wanted[_ADDRESS]}
    return answer


def _secret_fields(requests: Mapping[str, Any]) -> list[str]:
    """Fields that ask for secrets, which forms must not (2026-07-28, elicitation, "User Interaction Model")."""
    forms = [wanted for request in requests.values() if (wanted := _wanted(request)) is not None]
    return [name for form in forms for name, field in form.get("properties", {}).items() if _is_secret(name, field)]


def _is_secret(name: str, field: Any) -> bool:
    return (
        isinstance(field, Mapping) and field.get("type") == "string" and "enum" not in field and bool(secret_kind(name))
    )


def _is_valid(answer: Any, schema: Any) -> bool:
    """Whether an answer is one, and what was filled in fits the form."""
    if not isinstance(answer, Mapping):
        return False
    if schema is None:
        return bool(answer)
    if answer.get("action") not in _ACTIONS:
        return False
    if answer["action"] != "accept" or _ADDRESS in schema:
        return True
    import jsonschema

    content = answer.get("content") or {}
    try:
        return jsonschema.Draft202012Validator(schema, format_checker=_formats()).is_valid(content)
    except jsonschema.SchemaError:
        return isinstance(content, Mapping)


@functools.cache
def _formats() -> Any:
    """The formats of texts in forms; `jsonschema` knows only half of them by itself."""
    import jsonschema

    found = jsonschema.FormatChecker(("email", "date"))
    found.checks("date-time", ValueError)(_is_moment)
    found.checks("uri", ValueError)(_is_address)
    return found


def _is_moment(value: Any) -> bool:
    return not isinstance(value, str) or (len(value) > len("2026-07-28") and bool(datetime.fromisoformat(value)))


def _is_address(value: Any) -> bool:
    return not isinstance(value, str) or bool(urlsplit(value).scheme)
