"""Asks before a call runs, where that is demanded: the person behind the client, or an operator at the server."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol, cast

from autotool.catalog import Catalog
from autotool.errors import ProtocolError, Throttled
from autotool.model import Caller, ToolSpec
from autotool.policy import approval
from autotool.policy.approval import Mode, Verdict
from autotool.policy.states import Binding, State, StateExpired, StateRefused, States, digest
from autotool.protocol.conversation import Ask, Conversation, InputRequired, elicitation
from autotool.protocol.messages import INVALID_PARAMS, MISSING_CAPABILITY
from autotool.runtime.operators import OperatorDesk

_log = logging.getLogger("autotool.approval")

_RETRY_S = 2.0


@dataclass(frozen=True, slots=True)
class ConsentSettings:
    """How consent is asked for.

    Attributes:
        timeout_s: how long an answer is waited for in the middle of a call.
        remember_s: for how long a person may approve a tool at once; 0 for never.
        fallback: what happens when the client cannot be asked: `deny` or `operator`.
    """

    timeout_s: float = 300.0
    remember_s: float = 0.0
    fallback: str = "deny"


class Grants(Protocol):
    """Where it is kept what was approved for a while."""

    async def remember(self, fact: str, keep_s: float) -> None:
        """Keep `fact` for `keep_s` seconds, where that is possible."""
        ...

    async def is_remembered(self, fact: str) -> bool:
        """Whether `fact` is known to be kept still."""
        ...


class MemoryGrants:
    """Grants of this process alone."""

    def __init__(self) -> None:
        self._until: dict[str, float] = {}

    async def remember(self, fact: str, keep_s: float) -> None:
        """As `Grants.remember`; never waits."""
        now = time.monotonic()
        self._until = {one: until for one, until in self._until.items() if until > now}
        self._until[fact] = now + keep_s

    async def is_remembered(self, fact: str) -> bool:
        """As `Grants.is_remembered`; never waits."""
        return self._until.get(fact, 0.0) > time.monotonic()


class Consent:
    """Obtains consent for calls.

    Args:
        mode_of: whose consent a tool needs.
        clean: what is shown goes through it, so that no secret and no terminal escape is shown.
        desk: where operators decide.
        grants: where it is kept what was approved for a while; by default in this process.
    """

    def __init__(
        self,
        catalog: Catalog,
        states: States,
        *,
        mode_of: Callable[[ToolSpec], Mode],
        settings: ConsentSettings,
        clean: Callable[[str], str],
        desk: OperatorDesk,
        grants: Grants | None = None,
    ) -> None:
        self._catalog = catalog
        self._states = states
        self._mode_of = mode_of
        self._settings = settings
        self._clean = clean
        self._desk = desk
        self._grants = grants or MemoryGrants()

    def binding(self, tool: ToolSpec, arguments: Mapping[str, Any], caller: Caller) -> Binding:
        """What a state for this call is bound to."""
        return Binding(tool.name, self._catalog.digest_of(tool), caller.name, digest(arguments))

    async def returned(self, conversation: Conversation, binding: Callable[[], Binding]) -> State:
        """The state that the client brought back; an empty one where it brought none, or too late.

        Raises:
            ProtocolError: the state is not this call's, or was altered or used before (-32602).
        """
        if not conversation.state:
            return State()
        try:
            return await self._states.load(conversation.state, binding())
        except StateExpired as error:
            _log.info("%s", error)
            return State()
        except StateRefused as error:
            raise ProtocolError(INVALID_PARAMS, str(error)) from None

    def is_needed(self, tool: ToolSpec) -> bool:
        """Whether a call of `tool` is asked about at all."""
        return approval.needs_consent(self._mode_of(tool), tool)

    async def obtain(
        self, tool: ToolSpec, arguments: Mapping[str, Any], caller: Caller, conversation: Conversation, state: State
    ) -> Verdict:
        """Ask, unless the call was approved before.

        Raises:
            InputRequired: the client has to ask the person and call again.
            ProtocolError: the client cannot be asked, and must be (-32021).
        """
        mode = self._mode_of(tool)
        if state.approved or not approval.needs_consent(mode, tool) or await self._is_granted(tool, caller):
            return Verdict(True)
        if mode == "operator":
            return await self._by_operator(tool, arguments, caller, conversation)
        if not conversation.can_elicit:
            if mode == "auto":
                return Verdict(True, "the client cannot be asked")
            if self._settings.fallback == "operator":
                return await self._by_operator(tool, arguments, caller, conversation)
            return self._unaskable(tool, conversation)
        found = await self._by_person(tool, arguments, caller, conversation, state)
        if found.approved and found.remember and self._settings.remember_s:
            await self._grants.remember(self._grant(tool, caller), self._settings.remember_s)
        return found

    def _grant(self, tool: ToolSpec, caller: Caller) -> str:
        return "\n".join((tool.name, self._catalog.digest_of(tool), caller.name))

    async def _is_granted(self, tool: ToolSpec, caller: Caller) -> bool:
        return bool(self._settings.remember_s) and await self._grants.is_remembered(self._grant(tool, caller))

    def _unaskable(self, tool: ToolSpec, conversation: Conversation) -> Verdict:
        text = f"`{tool.name}` runs only with a person's consent, and this client cannot put questions to one (elicitation)."
        if conversation.is_modern:
            raise ProtocolError(MISSING_CAPABILITY, text, data={"requiredCapabilities": {"elicitation": {"form": {}}}})
        return Verdict(False, text)

    async def _by_person(
        self, tool: ToolSpec, arguments: Mapping[str, Any], caller: Caller, conversation: Conversation, state: State
    ) -> Verdict:
        request = elicitation(self._clean(approval.question(tool, arguments)), approval.form(self._settings.remember_s))
        if conversation.ask is not None:
            params = {key: value for key, value in request["params"].items() if key != "mode"}
            return await self._live(conversation, request["method"], params)
        answered = approval.verdict(conversation.responses.get(approval.KEY)) if approval.KEY in state.asked else None
        if answered is not None:
            return answered
        asked = {**state.asked, approval.KEY: request["params"]["requestedSchema"]}
        raise InputRequired(
            {approval.KEY: request},
            await self.next_state(self.binding(tool, arguments, caller), replace(state, asked=asked)),
        )

    async def _live(self, conversation: Conversation, method: str, params: dict[str, Any]) -> Verdict:
        assert conversation.ask is not None  # the caller has looked
        found = approval.verdict(await self.answer_to(conversation.ask, method, params))
        return found or Verdict(False, "no answer came that says yes or no")

    async def _by_operator(
        self, tool: ToolSpec, arguments: Mapping[str, Any], caller: Caller, conversation: Conversation
    ) -> Verdict:
        if conversation.hold is not None:
            conversation.hold()
        text = self._clean(approval.question(tool, arguments))
        return await self._desk.decide(tool.name, text, caller.name, self._settings.timeout_s)

    def shown(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """A function's request as it is put: its words cleaned like everything that leaves."""
        params = dict(request["params"])
        if isinstance(params.get("message"), str):
            params["message"] = self._clean(params["message"])
        form = params.get("requestedSchema")
        if isinstance(form, dict):
            params["requestedSchema"] = self._shown_form(cast("dict[str, Any]", form))
        return {"method": request["method"], "params": params}

    def _shown_form(self, node: dict[str, Any]) -> dict[str, Any]:
        """A form with its titles and descriptions cleaned; what can be chosen has to come back as it is."""
        found: dict[str, Any] = {}
        for key, value in node.items():
            if isinstance(value, str) and key in ("title", "description"):
                found[key] = self._clean(value)
            elif isinstance(value, dict):
                found[key] = self._shown_form(cast("dict[str, Any]", value))
            elif isinstance(value, list) and key in ("oneOf", "anyOf"):
                found[key] = [self._shown_form(one) for one in cast("list[Any]", value) if isinstance(one, dict)]
            else:
                found[key] = value
        return found

    async def answer_to(self, ask: Ask, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """The client's answer in the middle of a call; `{}` when none comes in time."""
        try:
            async with asyncio.timeout(self._settings.timeout_s or None):
                return await ask(method, params)
        except TimeoutError:
            return {}

    async def next_state(self, binding: Binding, state: State) -> str:
        """A state for the client to bring back.

        Raises:
            Throttled: none can be given now that would be accepted, so that asking would be in vain.
        """
        try:
            return await self._states.dump(binding, state)
        except StateRefused as error:
            raise Throttled(str(error), _RETRY_S, http_status=503) from None
