"""What happens to a call between the protocol and the code that runs it."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic_core import to_json

from autotool.catalog import Catalog
from autotool.errors import ExecutionError, InsufficientScope, Overloaded, ProtocolError, SwitchedOff
from autotool.model import Caller, Invocation, Outcome, Progress, ToolSpec
from autotool.policy.access import Scopes
from autotool.policy.audit import AuditTrail, AuditUnavailable, Record
from autotool.policy.sanitize import clean
from autotool.policy.states import digest
from autotool.protocol.conversation import Conversation, InputRequired
from autotool.runtime.consent import Consent
from autotool.runtime.finishing import Finishing
from autotool.runtime.ports import Executor
from autotool.runtime.talk import Talk
from autotool.runtime.tolls import Tolls
from autotool.runtime.turns import TurnLimits, Turns
from autotool.worker.outcomes import error_outcome

_log = logging.getLogger("autotool.calls")

INVALID_PARAMS = -32602
_MOST_CATALOGS = 1_000
_MOST_ROUNDS = 20
"""How often a function may ask in one call."""


@dataclass(frozen=True, slots=True)
class CallLimits:
    """The bounds of one call: `timeout_s` seconds (0: none) and `max_output_bytes` bytes of text."""

    timeout_s: float = 60.0
    max_output_bytes: int = 256_000


class ToolService:
    """Offers a catalog and runs its tools, in the one order that every call takes."""

    def __init__(
        self,
        catalog: Catalog,
        executor: Executor,
        *,
        limits: CallLimits,
        finishing: Finishing,
        own_limits: Mapping[str, CallLimits] | None = None,
        tolls: Tolls | None = None,
        turns: TurnLimits | None = None,
        consent: Consent | None = None,
        audit: AuditTrail | None = None,
        scopes: Scopes | None = None,
        masks_arguments: bool = False,
    ) -> None:
        """Offer `catalog`.

        Args:
            finishing: cleans what leaves.
            own_limits: the bounds of single tools, by name.
            tolls: the rate limits; None for none.
            turns: how many calls run at the same time.
            consent: asks before calls that need it; None never asks.
            audit: where calls are written down; None for nowhere.
            scopes: which tools each scope opens.
            masks_arguments: whether the arguments are written there, with secrets masked, and not only their digest.
        """
        self.catalog = catalog
        self._executor = executor
        self._limits = limits
        self._own_limits = own_limits or {}
        self._tolls = tolls or Tolls(None)
        self._turns = Turns(turns or TurnLimits())
        self._finishing = finishing
        self._consent = consent
        self._audit = audit
        self._scopes = scopes or Scopes()
        self._catalogs: dict[tuple[str, ...], Catalog] = {}
        self._masks_arguments = masks_arguments
        self._in_flight = 0
        self._idle = asyncio.Event()
        self._idle.set()

    async def idle(self) -> None:
        """Wait until no call is under way."""
        await self._idle.wait()

    async def call(
        self,
        name: str,
        arguments: Mapping[str, Any],
        caller: Caller,
        report: Callable[[Progress], None] | None = None,
        conversation: Conversation | None = None,
    ) -> Outcome:
        """Run the tool `name`. Whatever goes wrong in the tool is an error `Outcome`.

        Raises:
            ProtocolError: there is no such tool (-32602), or what the client brought back is not accepted.
            Throttled: the caller has to wait, whatever it calls.
            InputRequired: the client has to put questions to the person, and to call again.
        """
        record = Record(caller.name, name)
        self._in_flight += 1
        self._idle.clear()
        try:
            outcome = await self._decided(name, arguments, caller, report, conversation, record)
        except InputRequired:
            record.outcome = "asked"
            raise
        except asyncio.CancelledError:
            record.outcome = "cancelled"
            raise
        except ProtocolError as error:
            record.outcome, record.error = "refused", error.message
            raise
        else:
            record.outcome = record.outcome or ("error" if outcome.is_error else "ok")
            record.error, record.size = outcome.error_type, len(outcome.content)
            return outcome
        finally:
            self._in_flight -= 1
            if not self._in_flight:
                self._idle.set()
            if self._audit is not None:
                self._audit.end(record)

    async def _decided(
        self,
        name: str,
        arguments: Mapping[str, Any],
        caller: Caller,
        report: Callable[[Progress], None] | None,
        conversation: Conversation | None,
        record: Record,
    ) -> Outcome:
        """The way of a call: the caller's rate limit, tool, its rate limit, consent, its turn, the call itself, sanitizing."""
        record.decisions["rate"] = "over"
        refused = await self._tolls.of_caller(caller, name)
        if refused is not None:
            record.outcome = "refused"
            return refused
        tool = self._find(name, caller)
        record.decisions["access"] = "allowed"
        arguments, problems = _shaped(tool, arguments)
        self._describe(record, tool, arguments, conversation)
        refused = await self._tolls.of_tool(caller, tool.name)
        if refused is not None:
            record.outcome = "refused"
            return refused
        record.decisions["rate"] = "within"
        if problems:
            outcome = error_outcome("\n".join(problems), error_type="ArgumentError")
        elif conversation is None or self._consent is None:
            outcome = await self._audited(tool, arguments, caller, report, record)
        else:
            outcome = await self._in_talk(tool, arguments, caller, report, conversation, self._consent, record)
        return await self._finishing.finish(tool, outcome, record)

    def _describe(
        self, record: Record, tool: ToolSpec, arguments: Mapping[str, Any], conversation: Conversation | None
    ) -> None:
        if self._audit is None:
            return
        record.definition = self.catalog.digest_of(tool)
        record.arguments = self._told_arguments(arguments)
        record.trace = conversation.trace if conversation is not None else ""

    async def _audited(
        self,
        tool: ToolSpec,
        arguments: Mapping[str, Any],
        caller: Caller,
        report: Callable[[Progress], None] | None,
        record: Record,
        answers: Mapping[str, Any] | None = None,
        abilities: tuple[str, ...] = (),
    ) -> Outcome:
        """Run, written down before where the tool may destroy."""
        if self._audit is not None and not tool.candidate.hints.read_only:
            try:
                self._audit.begin(record)
            except AuditUnavailable as error:
                record.outcome = "refused"
                return error_outcome(f"`{tool.name}` was not run: {error}.", error_type="AuditUnavailable")
        return await self._run(tool, arguments, caller, report, answers, abilities)

    def _told_arguments(self, arguments: Mapping[str, Any]) -> Any:
        if not self._masks_arguments:
            return digest(arguments)
        return json.loads(self._finishing.redactor.clean_json(to_json(arguments)))

    async def _in_talk(
        self,
        tool: ToolSpec,
        arguments: Mapping[str, Any],
        caller: Caller,
        report: Callable[[Progress], None] | None,
        conversation: Conversation,
        consent: Consent,
        record: Record,
    ) -> Outcome:
        """Ask for consent where it is needed, run, and put the questions that the function has."""
        talk = Talk(tool, dict(arguments), caller, conversation, consent)
        await talk.begin()
        if consent.is_needed(tool):
            verdict = await talk.consent_given()
            record.decisions["approval"] = verdict.reason or ("given" if verdict.approved else "denied")
            if not verdict.approved:
                record.outcome = "refused"
                _log.warning("`%s` was not run: %s", tool.name, verdict.reason)
                return error_outcome(
                    f"`{tool.name}` was not run: {verdict.reason}.".replace("..", "."), error_type="NotApproved"
                )
        for _ in range(_MOST_ROUNDS):
            outcome = await self._audited(tool, arguments, caller, report, record, talk.answers, conversation.abilities)
            if outcome.asks is None:
                return outcome
            refused = await talk.put(outcome.asks)
            if refused is not None:
                return refused
        return error_outcome(
            f"`{tool.name}` asked more than {_MOST_ROUNDS} times, and was stopped.", error_type="NotApproved"
        )

    def catalog_for(self, caller: Caller) -> Catalog:
        """The tools that `caller` sees."""
        if not self.is_per_caller or caller.is_local:
            return self.catalog
        found = self._catalogs.get(caller.scopes)
        if found is None:
            if len(self._catalogs) >= _MOST_CATALOGS:
                self._catalogs.clear()
            found = self._catalogs[caller.scopes] = self._scopes.visible(self.catalog, caller)
        return found

    @property
    def is_per_caller(self) -> bool:
        """Whether what is offered depends on who asks."""
        return bool(self._scopes.rules)

    def _find(self, name: str, caller: Caller) -> ToolSpec:
        seen = self.catalog_for(caller)
        tool = seen.find(name)
        if tool is not None:
            return tool
        near = seen.nearest(name)
        hint = f" Did you mean {' or '.join(f'`{other}`' for other in near)}?" if near else ""
        text = f"Unknown tool: `{clean(name[:200])}`.{hint}"
        hidden = self.catalog.find(name)
        if hidden is not None:
            # What it is called by is the same as for a tool that does not exist; only HTTP says which scope would open it.
            raise InsufficientScope(INVALID_PARAMS, text, self._scopes.needed(hidden))
        raise ProtocolError(INVALID_PARAMS, text)

    def warm_up(self) -> None:
        """Import what the first call will need; may be done in a thread."""
        self._tolls.warm_up()

    async def admit(self, caller: Caller) -> None:
        """Count a request of `caller` that calls nothing.

        Raises:
            Throttled: the caller has to wait.
        """
        await self._tolls.admit(caller)

    async def _run(
        self,
        tool: ToolSpec,
        arguments: Mapping[str, Any],
        caller: Caller,
        report: Callable[[Progress], None] | None,
        answers: Mapping[str, Any] | None = None,
        abilities: tuple[str, ...] = (),
    ) -> Outcome:
        limits = self._own_limits.get(tool.name, self._limits)
        invocation = Invocation(
            key=tool.candidate.key,
            arguments=dict(arguments),
            timeout_s=limits.timeout_s,
            max_output_bytes=limits.max_output_bytes,
            wants_progress=report is not None,
            answers=dict(answers) if answers else None,
            abilities=abilities,
        )
        try:
            async with self._turns.taken(caller.account, tool.name):
                return await self._executor.run(invocation, self._finishing.reporting(tool, report))
        except ExecutionError as error:
            if not isinstance(error, SwitchedOff):  # which the log says once
                _log.warning("call of `%s` did not finish: %s", tool.name, error)
            retry_s = (error.retry_after_s or None) if isinstance(error, Overloaded) else None
            return error_outcome(str(error), error_type=type(error).__name__, retry_after_s=retry_s)


def _shaped(tool: ToolSpec, arguments: Mapping[str, Any]) -> tuple[Mapping[str, Any], list[str]]:
    if tool.overrides is None:
        return arguments, []
    from autotool.policy.overrides import shape

    return shape(tool, arguments)
