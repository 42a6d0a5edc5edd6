"""The composition root: from a `Config` to a running server, and the way down again."""

from __future__ import annotations

import asyncio
import logging
import os
import threading
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, cast

from autotool import __version__
from autotool.catalog import Catalog
from autotool.commands.secrets import secret_of
from autotool.config import ApprovalSection, AuditSection, AuthSection, Config, DefaultsSection, ToolSection
from autotool.errors import ConfigError, TransportError
from autotool.model import Bounds, Caller, Description, Selection, Target, ToolSpec, stated
from autotool.policy.access import TOKEN_PREFIX, Scopes, TokenFile
from autotool.policy.approval import Mode
from autotool.policy.audit import AuditTrail
from autotool.policy.redact import Redactor, environment_secrets
from autotool.policy.rules import Rules
from autotool.policy.sanitize import clean, clean_candidate
from autotool.policy.states import States
from autotool.protocol.dispatcher import Dispatcher
from autotool.protocol.methods import Methods, ServerInfo, ServerSettings
from autotool.runtime.consent import Consent, ConsentSettings
from autotool.runtime.launch import WorkerSettings
from autotool.runtime.operators import OperatorDesk
from autotool.runtime.ports import Executor
from autotool.runtime.service import CallLimits, ToolService
from autotool.runtime.spawn import Launched, discard

if TYPE_CHECKING:
    from autotool.policy.issuer import Issuer
    from autotool.policy.limits import RateLimits
    from autotool.transports.bearer import Bearer

_log = logging.getLogger("autotool.server")

_WARM_UP_S = 0.2
"""After which what only calls need is imported, when no call has come yet."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be served: the settings and the parsed targets.

    Attributes:
        is_configured: whether the targets are the file's own, so that every tool it speaks of must exist.
    """

    config: Config
    targets: tuple[Target, ...]
    inline: bool = False
    debug: bool = False
    is_configured: bool = True

    @property
    def selection(self) -> Selection:
        """Which functions of the targets are wanted."""
        tools = self.config.tools
        return Selection(tools.include, tools.exclude, tools.recursive, tools.importable, tools.own_process)

    @property
    def worker(self) -> WorkerSettings:
        """What a worker has to know."""
        return WorkerSettings(self.targets, self.selection, self.config.defaults.threads, self.debug)


@dataclass(frozen=True, slots=True)
class Application:
    """A server without a transport."""

    catalog: Catalog
    service: ToolService
    dispatcher: Dispatcher
    executor: Executor
    info: ServerInfo
    desk: OperatorDesk


def executor_for(plan: Plan, launched: Launched | None = None) -> Executor:
    """What runs the tools: a worker or this process for Python, child processes for commands."""
    parts: list[Executor] = []
    if plan.targets:
        parts.append(_python_executor(plan, launched))
    else:
        discard(launched)
    config = plan.config
    if config.command or config.program:
        from autotool.runtime.commands import CommandExecutor
        from autotool.runtime.reading import CommandReader

        reader = CommandReader(config.command, config.program)
        parts.append(CommandExecutor(reader, in_flight=config.defaults.in_flight, queue=config.defaults.queue))
    if len(parts) == 1:
        return parts[0]
    from autotool.runtime.router import Router

    return Router(parts)


def _python_executor(plan: Plan, launched: Launched | None) -> Executor:
    if plan.inline:
        from autotool.runtime.inline import InlineExecutor

        return InlineExecutor(plan.targets, plan.selection, threads=plan.config.defaults.threads)
    from autotool.runtime.supervisor import WorkerExecutor

    defaults = plan.config.defaults
    return WorkerExecutor(plan.worker, launched, in_flight=defaults.in_flight, queue=defaults.queue)


async def assemble(plan: Plan, executor: Executor) -> Application:
    """Start `executor`, make the catalog of what it found, and put the server together.

    Raises:
        OperatorError: a target cannot be served, or the allowlist names what does not exist.
    """
    description = await executor.start()
    catalog = catalog_of(description, plan.config, strict=plan.is_configured)
    defaults = plan.config.defaults
    limits = CallLimits(defaults.timeout, defaults.max_output)
    redactor = Redactor(secrets={**environment_secrets(os.environ), **dict(description.secrets)})
    desk = OperatorDesk(plan.config.approval.socket)
    bounds = own_bounds(catalog, plan.config)
    own = {name: _own_limits(bound, limits) for name, bound in bounds.items()}
    service = ToolService(
        catalog,
        executor,
        limits=limits,
        own_limits=own,
        rates=_rates(plan.config, bounds),
        redactor=redactor,
        consent=_consent(catalog, plan.config, redactor, desk),
        audit=_audit(plan.config.audit),
        scopes=Scopes({name: Rules(one.allow, one.deny) for name, one in plan.config.scopes.items()}),
        masks_arguments=plan.config.audit.arguments == "masked",
    )
    info = server_info(description, plan)
    server = plan.config.server
    settings = ServerSettings(page_size=server.page_size, list_ttl_ms=int(server.list_ttl * 1000), legacy=server.legacy)
    return Application(catalog, service, Dispatcher(Methods(service, info, settings)), executor, info, desk)


def catalog_of(description: Description, config: Config, *, strict: bool = True) -> Catalog:
    """The tools that exist: cleaned, named, and filtered by the allowlist.

    Args:
        strict: whether a tool that the config names must exist.

    Raises:
        ConfigError: the config names a tool that does not exist, or the allowlist leaves nothing.
    """
    catalog = Catalog.build([clean_candidate(candidate) for candidate in description.candidates], description.refusals)
    rules = Rules(config.tools.allow, config.tools.deny)
    if strict:
        _check_sections(catalog, config.tool)
        rules.check([tool.name for tool in catalog.tools])
    catalog = replace(catalog, tools=tuple(_told(tool, config.tool.get(tool.name)) for tool in catalog.tools))
    permitted = catalog.select(lambda tool: rules.permits(tool.name))
    if not permitted.tools:
        raise ConfigError(
            "`[tools] allow` and `deny` leave no tool", hint="`autotool list --config /dev/null` shows all of them."
        )
    return permitted


def _bearer(config: Config, address: str) -> Bearer | None:
    from autotool.transports.bearer import Bearer

    section = config.auth
    if not (section.tokens or section.issuer):
        return None
    resource = section.resource or address
    own = TokenFile(section.tokens) if section.tokens else None
    issuer = _issuer(section, resource) if section.issuer else None

    async def caller_of(token: str) -> Caller:
        if own is not None and (issuer is None or token.startswith(TOKEN_PREFIX)):
            return own.caller(token)
        assert issuer is not None  # one of the two is configured
        return await issuer.caller(token)

    return Bearer(caller_of, resource, [section.issuer] if section.issuer else (), tuple(config.scopes))


def _issuer(section: AuthSection, resource: str) -> Issuer:
    from autotool.policy.issuer import Issuer

    if not section.jwks:
        raise ConfigError("`auth.issuer` needs `auth.jwks`, where its keys are", hint="A file, or an https address.")
    return Issuer(section.issuer, resource, section.jwks, section.algorithms)


def _audit(section: AuditSection) -> AuditTrail | None:
    if not section.path:
        return None
    return AuditTrail(section.path, max_bytes=section.max_size, must_record=section.on_failure == "deny")


def _consent(catalog: Catalog, config: Config, redactor: Redactor, desk: OperatorDesk) -> Consent:
    section = config.approval

    def mode_of(tool: ToolSpec) -> Mode:
        own = config.tool.get(tool.name, ToolSection()).approval
        return cast("Mode", own or tool.candidate.approval or config.defaults.approval)

    return Consent(
        catalog,
        States(section.ttl, _signing_key(section)),
        mode_of=mode_of,
        settings=ConsentSettings(section.timeout, section.remember, section.fallback),
        clean=lambda text: redactor.clean(clean(text)),
        desk=desk,
    )


def _signing_key(section: ApprovalSection) -> bytes:
    if section.key is None:
        return b""
    return secret_of(section.key, os.environ, "approval.key").encode()


def own_bounds(catalog: Catalog, config: Config) -> dict[str, Bounds]:
    """The bounds of single tools: what `[tool.NAME]` says, else what the tool brings along."""
    found: dict[str, Bounds] = {}
    for tool in catalog.tools:
        section, brought = config.tool.get(tool.name, ToolSection()), tool.candidate.bounds
        bounds = Bounds(
            brought.timeout_s if section.timeout is None else section.timeout,
            brought.max_output_bytes if section.max_output is None else section.max_output,
            brought.rate_limit if section.rate_limit is None else section.rate_limit,
        )
        if bounds != Bounds():
            found[tool.name] = bounds
    return found


def _rates(config: Config, bounds: Mapping[str, Bounds]) -> Callable[[], RateLimits]:
    own = {name: bound.rate_limit for name, bound in bounds.items() if bound.rate_limit is not None}

    def make() -> RateLimits:
        from autotool.policy.limits import RateLimits

        return RateLimits(config.defaults.rate_limit, config.defaults.caller_rate_limit, own)

    if config.defaults != DefaultsSection() or own:
        # What a person wrote is checked at once, not at the first call.
        limits = make()
        return lambda: limits
    return make


def _own_limits(bounds: Bounds, limits: CallLimits) -> CallLimits:
    return CallLimits(
        limits.timeout_s if bounds.timeout_s is None else bounds.timeout_s,
        limits.max_output_bytes if bounds.max_output_bytes is None else bounds.max_output_bytes,
    )


def _check_sections(catalog: Catalog, sections: Mapping[str, ToolSection]) -> None:
    for name in sections:
        if catalog.find(name) is None:
            near = " or ".join(f"`{other}`" for other in catalog.nearest(name))
            hint = f"Did you mean {near}?" if near else "`autotool list` shows the names."
            raise ConfigError(f"`[tool.{name}]` names a tool that does not exist", hint=hint)


def _told(tool: ToolSpec, section: ToolSection | None) -> ToolSpec:
    if section is None:
        return tool
    candidate = replace(
        tool.candidate,
        title=section.title or tool.candidate.title,
        description=section.description or tool.candidate.description,
        hints=stated(tool.candidate.hints, section, "the config says so"),
    )
    return replace(tool, candidate=candidate)


def server_info(description: Description, plan: Plan) -> ServerInfo:
    """How the server names itself: the config's name, the wrapped distribution's, or the first target's."""
    name, version, summary = description.package
    fallback = plan.targets[0].location.rpartition("/")[2].removesuffix(".py") if plan.targets else _command_name(plan)
    return ServerInfo(plan.config.server.name or name or fallback, version or __version__, summary)


def _command_name(plan: Plan) -> str:
    names = [*plan.config.command, *plan.config.program]
    return names[0] if len(names) == 1 else "autotool"


def report_start(application: Application) -> None:
    """Say in the log what a person should know about the catalog."""
    for refusal in application.catalog.refusals:
        _log.warning("not served: %s: %s", refusal.subject, refusal.reason)
    for warning in application.catalog.warnings:
        _log.warning("%s", warning)


async def serve_stdio(plan: Plan, reading: int, writing: int, launched: Launched | None) -> int:
    """Serve one client on two file descriptors until its input ends; gives the number of its messages.

    Raises:
        OperatorError: it cannot start.
    """
    from autotool.transports.stdio import serve_stdio as serve

    async def transport(application: Application) -> int:
        return (await serve(application.dispatcher, reading, writing)).messages

    return await _running(plan, launched, transport)


async def serve_http(plan: Plan, launched: Launched | None, on_listening: Callable[[Application, str], None]) -> None:
    """Serve over HTTP until a signal ends it; `on_listening` gets the application and the address.

    Raises:
        OperatorError: it cannot start.
    """
    from autotool.transports import listen
    from autotool.transports.http import PATH, create_app
    from autotool.transports.security import LOOPBACK, HttpLimits

    server = plan.config.server
    listening = listen.bind(server.host, server.port, server.uds)
    is_local = bool(server.uds) or server.host in LOOPBACK
    has_auth = bool(plan.config.auth.tokens or plan.config.auth.issuer)
    if not is_local and not has_auth and not plan.config.auth.open:
        raise TransportError(
            f"{server.host} can be reached from other machines, and nobody would have to say who they are",
            hint="Give out tokens (`autotool token new NAME`, `[auth] tokens`), or say `--no-auth` if something in front of it asks.",
        )
    limits = HttpLimits(server.hosts, server.origins, loopback=is_local)
    port = 0 if server.uds else listening.getsockname()[1]
    host = f"[{server.host}]" if ":" in server.host else server.host
    address = f"unix:{server.uds}" if server.uds else f"http://{host}:{port}{PATH}"

    async def transport(application: Application) -> int:
        app = create_app(application.dispatcher, limits, _bearer(plan.config, address))
        await listen.serve_http(app, listening, lambda: on_listening(application, address))
        return 0

    try:
        await _running(plan, launched, transport)
    finally:
        listening.close()


async def _running(plan: Plan, launched: Launched | None, transport: Callable[[Application], Awaitable[int]]) -> int:
    executor = executor_for(plan, launched)
    try:
        application = await assemble(plan, executor)
        report_start(application)
        warm_up = asyncio.get_running_loop().call_later(_WARM_UP_S, _warm_up, application.service)
        try:
            return await transport(application)
        finally:
            warm_up.cancel()
            await application.desk.close()
    finally:
        await executor.stop(0.0)


def _warm_up(service: ToolService) -> None:
    threading.Thread(target=service.warm_up, name="autotool-warm-up", daemon=True).start()


def describe(plan: Plan) -> tuple[Application, asyncio.AbstractEventLoop]:
    """An application in this process, for the commands that look at tools or run one, and the loop it lives in.

    Raises:
        OperatorError: it cannot start.
    """
    loop = asyncio.new_event_loop()
    local = replace(plan, inline=True)
    executor = executor_for(local)
    try:
        return loop.run_until_complete(assemble(local, executor)), loop
    except BaseException:
        loop.run_until_complete(executor.stop())
        raise


def close(application: Application, loop: asyncio.AbstractEventLoop) -> None:
    """End what `describe` started."""
    loop.run_until_complete(application.executor.stop())
    loop.close()
