"""A server without a transport, put together."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from autotool.catalog import Catalog
from autotool.config import Config
from autotool.model import Description, SourceFile
from autotool.policy.access import Scopes
from autotool.policy.rules import Rules
from autotool.protocol.cursors import Cursors
from autotool.protocol.dispatcher import Dispatcher
from autotool.protocol.methods import Methods, ServerInfo, ServerSettings
from autotool.runtime.finishing import Finishing
from autotool.runtime.operators import OperatorDesk
from autotool.runtime.ports import Executor
from autotool.runtime.service import ToolService
from autotool.server import policies
from autotool.server.definitions import catalog_of, server_info
from autotool.server.kept import Kept
from autotool.server.plan import Plan


@dataclass(frozen=True, slots=True)
class Application:
    """A server without a transport."""

    catalog: Catalog
    service: ToolService
    dispatcher: Dispatcher
    executor: Executor
    info: ServerInfo
    kept: Kept
    files: tuple[SourceFile, ...] = ()

    @property
    def desk(self) -> OperatorDesk:
        """Where operators decide."""
        return self.kept.desk


@dataclass(frozen=True, slots=True)
class Offer:
    """What a reload makes anew: the tools, and what runs them."""

    catalog: Catalog
    service: ToolService
    description: Description
    settings: ServerSettings


async def assemble(plan: Plan, executor: Executor) -> Application:
    """Start `executor`, make the catalog of what it found, and put the server together.

    Raises:
        OperatorError: a target cannot be served, or the allowlist names what does not exist.
    """
    kept = Kept.of(plan.config)
    cursors = Cursors(policies.secret(plan.config.server.key, "server.key"))
    offer = await offered(plan, executor, kept)
    info = server_info(offer.description, plan)
    dispatcher = Dispatcher(Methods(offer.service, info, offer.settings, plan.reload, cursors))
    return Application(offer.catalog, offer.service, dispatcher, executor, info, kept, offer.description.files)


def hold_to_lock(config: Config, catalog: Catalog) -> None:
    """Hold the tools against the lock file, where the config or `--locked` demands it.

    Raises:
        LockError: a definition differs, or a tool is missing or new.
        ConfigError: the lock file cannot be read.
    """
    if config.tools.locked:
        from autotool.policy import lock

        lock.check(Path(config.tools.lock), catalog)


async def offered(plan: Plan, executor: Executor, kept: Kept) -> Offer:
    """Start `executor`, and make of what it found what clients are offered.

    Raises:
        OperatorError: a target cannot be served, or the allowlist names what does not exist.
    """
    description = await executor.start()
    redactor = policies.redactor(plan.config, description)
    catalog = catalog_of(description, plan.config, redactor=redactor, strict=plan.is_configured)
    defaults = plan.config.defaults
    limits = policies.general_limits(defaults)
    finishing = Finishing(redactor, policies.general_output(defaults))
    policies.tell_of_raw(catalog, finishing, kept.audit)
    bounds = policies.own_bounds(catalog)
    own = {name: policies.own_limits(bound, limits) for name, bound in bounds.items()}
    service = ToolService(
        catalog,
        executor,
        limits=limits,
        own_limits=own,
        tolls=policies.tolls(plan.config, bounds, kept.windows),
        turns=policies.turns(plan.config, bounds),
        finishing=finishing,
        consent=policies.consent_of(catalog, plan.config, redactor, kept),
        audit=kept.audit,
        scopes=Scopes({name: Rules(one.allow, one.deny) for name, one in plan.config.scopes.items()}),
        masks_arguments=plan.config.audit.arguments == "masked",
    )
    server = plan.config.server
    settings = ServerSettings(page_size=server.page_size, list_ttl_ms=int(server.list_ttl * 1000), legacy=server.legacy)
    return Offer(catalog, service, description, settings)
