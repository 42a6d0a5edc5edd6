"""The policies of a server, made from its settings."""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, cast

from autotool.catalog import Catalog
from autotool.commands.secrets import secret_of
from autotool.config import ApprovalSection, AuditSection, AuthSection, Config, DefaultsSection, EnvSource
from autotool.errors import ConfigError
from autotool.model import Bounds, Caller, Description, OutputRules, ToolSpec
from autotool.policy.access import TOKEN_PREFIX, TokenFile
from autotool.policy.approval import Mode
from autotool.policy.audit import AuditTrail
from autotool.policy.redact import Redactor, environment_secrets
from autotool.policy.sanitize import clean
from autotool.policy.states import Ledger, States
from autotool.policy.windows import Windows
from autotool.runtime.consent import Consent, ConsentSettings
from autotool.runtime.finishing import Finishing
from autotool.runtime.service import CallLimits
from autotool.runtime.tolls import Tolls
from autotool.runtime.turns import TurnLimits

if TYPE_CHECKING:
    from autotool.policy.issuer import Issuer
    from autotool.policy.limits import RateLimits
    from autotool.policy.storage import SharedStorage
    from autotool.server.kept import Kept
    from autotool.transports.bearer import Bearer


_log = logging.getLogger("autotool.server")

MOST_OUTPUT_BYTES = 3_750_000
"""What a limit of 0 stands for: a message has 4 MiB, and there is more in it than text."""


def own_bounds(catalog: Catalog) -> dict[str, Bounds]:
    """The bounds of the tools that have their own, by name."""
    return {tool.name: tool.candidate.bounds for tool in catalog.tools if tool.candidate.bounds != Bounds()}


def storage_of(config: Config) -> SharedStorage | None:
    """What replicas share; None where everything is kept in this process.

    Raises:
        ConfigError: the config names no storage that can be used.
    """
    named = config.server.storage
    url = named if isinstance(named, str) else secret(named, "server.storage").decode()
    if url in ("", "memory:", "memory://"):
        return None
    from autotool.policy.storage import SharedStorage

    return SharedStorage(url, f"autotool:{config.server.name or ' '.join(config.targets)}")


def tolls(config: Config, bounds: Mapping[str, Bounds], windows: Windows) -> Tolls:
    """The rate limits; what a person wrote is checked at once."""
    defaults = config.defaults
    own = {name: bound.rate_limit for name, bound in bounds.items() if bound.rate_limit is not None}

    def make() -> RateLimits:
        from autotool.policy.limits import RateLimits, Rates

        rates = Rates(defaults.rate_limit, defaults.caller_rate_limit, defaults.global_rate_limit, own)
        return RateLimits(rates, windows)

    found = Tolls(make, lets_pass=config.limits.on_storage_failure == "allow")
    if defaults != DefaultsSection() or own:
        # What a person wrote is checked at once, not at the first call.
        found.warm_up()
    return found


def turns(config: Config, bounds: Mapping[str, Bounds]) -> TurnLimits:
    """How many calls run at the same time."""
    defaults = config.defaults
    own = {name: bound.concurrency for name, bound in bounds.items() if bound.concurrency is not None}
    return TurnLimits(
        defaults.in_flight,
        defaults.concurrency,
        defaults.caller_concurrency,
        own,
        defaults.queue,
        defaults.queue_wait,
    )


def general_limits(defaults: DefaultsSection) -> CallLimits:
    """The bounds of a call whose tool has none of its own."""
    return CallLimits(defaults.timeout, defaults.max_output or MOST_OUTPUT_BYTES)


def own_limits(bounds: Bounds, limits: CallLimits) -> CallLimits:
    """`limits`, but where a tool has its own."""
    own = bounds.max_output_bytes
    return CallLimits(
        limits.timeout_s if bounds.timeout_s is None else bounds.timeout_s,
        limits.max_output_bytes if own is None else own or MOST_OUTPUT_BYTES,
    )


def redactor(config: Config, description: Description) -> Redactor:
    """What masks secrets: those of known shape or name, of the environment, of commands, and the server's own.

    Raises:
        ConfigError: `[redact]` holds what is no pattern or no kind.
    """
    section = config.redact
    known = {**environment_secrets(os.environ, section.variables), **dict(description.secrets)}
    for where, source in (("approval.key", config.approval.key), ("server.key", config.server.key)):
        if source is not None:
            known[where] = secret(source, where).decode()
    storage = config.server.storage
    url = storage if isinstance(storage, str) else secret(storage, "server.storage").decode()
    known |= environment_secrets({"server.storage": url})
    return Redactor(section.patterns, known, section.ignore)


def general_output(defaults: DefaultsSection) -> OutputRules:
    """What happens to results whose tool says nothing of it."""
    return OutputRules(
        defaults.sanitize, defaults.redact, defaults.errors == "masked", defaults.untrusted, defaults.fence
    )


def tell_of_raw(catalog: Catalog, finishing: Finishing, audit: AuditTrail | None) -> None:
    """Say in the log which tools' results leave as they are, where no audit trail says so."""
    if audit is not None:
        return
    rules = [(tool.name, finishing.rules_of(tool)) for tool in catalog.tools]
    for step, names in (
        ("sanitize", [name for name, one in rules if not one.sanitize]),
        ("redact", [name for name, one in rules if not one.redact]),
    ):
        if names:
            more = f" and {len(names) - 3} more" if len(names) > 3 else ""
            told = ", ".join(f"`{name}`" for name in names[:3])
            _log.warning("`%s` is off for %s%s, and no `[audit]` writes down what is called", step, told, more)


def audit_trail(section: AuditSection) -> AuditTrail | None:
    """Where calls are written down; None for nowhere."""
    if not section.path:
        return None
    return AuditTrail(section.path, max_bytes=section.max_size, must_record=section.on_failure == "deny")


def states(section: ApprovalSection, ledger: Ledger | None = None) -> States:
    """What signs the states that clients bring back.

    Args:
        ledger: where used ones are written down; None for this process.

    Raises:
        ConfigError: the secret that signs is not where the config says.
    """
    return States(section.ttl, secret(section.key, "approval.key"), ledger)


def consent_of(catalog: Catalog, config: Config, redactor: Redactor, kept: Kept) -> Consent:
    """What asks for consent before a call."""
    section = config.approval

    def mode_of(tool: ToolSpec) -> Mode:
        return cast("Mode", tool.candidate.approval or config.defaults.approval)

    return Consent(
        catalog,
        kept.states,
        mode_of=mode_of,
        settings=ConsentSettings(section.timeout, section.remember, section.fallback),
        clean=lambda text: redactor.clean(clean(text)),
        desk=kept.desk,
        grants=kept.grants,
    )


def secret(source: EnvSource | None, where: str) -> bytes:
    """The secret that a config names, b"" where it names none; `where` is its key.

    Raises:
        ConfigError: it is not there.
    """
    return secret_of(source, os.environ, where).encode() if source is not None else b""


def bearer(config: Config, address: str) -> Bearer | None:
    """Who may call at `address`; None when nobody is asked."""
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
