"""What holds around every call: bounds, consent, the audit trail, access."""

from __future__ import annotations

from typing import Annotated, Literal

from autotool.config.quantities import Between, Duration, Size, section

Approval = Literal["none", "auto", "required", "operator"]
"""`required`: nothing runs without a person's consent; `operator`: somebody at the server gives it, and not the client."""

Errors = Literal["shown", "masked"]
"""`masked`: the words of an exception stay in the server's log; the caller reads the number under which they are."""


@section
class DefaultsSection:
    """`[defaults]`: the bounds of every call."""

    timeout: Annotated[Duration, "Time limit of a call; 0: none."] = 60.0
    max_output: Annotated[Size, "Most bytes of text in a result."] = 256_000
    rate_limit: Annotated[str, "Calls of one tool by one caller; empty: no limit."] = "600/minute"
    approval: Annotated[Approval, "Whose consent a call needs: auto asks for what is known to destroy."] = "auto"
    caller_rate_limit: Annotated[str, "Calls of one caller over all tools; empty: no limit."] = "6000/minute"
    global_rate_limit: Annotated[str, "Calls of all callers over all tools; empty: no limit."] = ""
    sanitize: Annotated[bool, "Remove escape sequences and hidden characters from results."] = True
    redact: Annotated[bool, "Mask secrets in results."] = True
    errors: Annotated[Errors, "Whether callers read what exceptions say, or a number to ask by."] = "shown"
    untrusted: Annotated[bool, "Mark results as written by others."] = False
    fence: Annotated[bool, "Put untrusted text between two lines that say so."] = False
    threads: Annotated[int, Between(1, 256), "Synchronous calls that run at the same time."] = 32
    concurrency: Annotated[int, Between(1, 4096), "Calls of one tool that run at the same time."] = 8
    caller_concurrency: Annotated[int, Between(1, 4096), "Calls of one caller that run at the same time."] = 16
    in_flight: Annotated[int, Between(1, 4096), "Calls that run at the same time."] = 64
    queue: Annotated[int, Between(0, 100_000), "Further calls that wait for their turn."] = 256
    queue_wait: Annotated[Duration, "The longest wait for a turn; 0: any."] = 30.0


@section
class LimitsSection:
    """`[limits]`: what holds while nothing can be counted."""

    on_storage_failure: Annotated[
        Literal["deny", "allow"], "What happens to calls while the storage cannot be reached."
    ] = "deny"


@section
class RedactSection:
    """`[redact]`: which secrets are masked beside those that are known by their shape or name."""

    patterns: Annotated[tuple[str, ...], "Regular expressions; each match is masked."] = ()
    variables: Annotated[tuple[str, ...], "Globs over further variables whose values are secret."] = ()
    ignore: Annotated[tuple[str, ...], "Kinds that are not masked, as the masks name them."] = ()


@section
class EnvSource:
    """A value that the file does not hold: a variable's, or a file's first line."""

    variable: Annotated[str, "The variable of the server's own environment."] = ""
    file: Annotated[str, "The file that holds the value."] = ""


@section
class ApprovalSection:
    """`[approval]`: how consent is asked for."""

    ttl: Annotated[Duration, "How long an answer may take, for a client that calls again with it."] = 300.0
    timeout: Annotated[Duration, "How long a call waits for an answer or for an operator."] = 300.0
    remember: Annotated[Duration, "For how long a person may approve a tool at once; 0: never."] = 0.0
    fallback: Annotated[Literal["deny", "operator"], "What happens when a client cannot be asked."] = "deny"
    socket: Annotated[str, "The Unix socket for `autotool approvals`. Default: one in the user's run folder."] = ""
    key: Annotated[EnvSource | None, "The secret that signs states, the same for all replicas."] = None


@section
class AuditSection:
    """`[audit]`: a line for every call."""

    path: Annotated[str, "The file, or `stderr`. Default: no audit trail."] = ""
    arguments: Annotated[Literal["digest", "masked"], "What of the arguments is written."] = "digest"
    max_size: Annotated[Size, "The size at which a file is put aside; 0: never."] = 100_000_000
    on_failure: Annotated[
        Literal["deny", "warn"], "What happens to calls that may destroy when nothing can be written."
    ] = "deny"


@section
class AuthSection:
    """`[auth]`: who may call over HTTP."""

    tokens: Annotated[str, "The file of bearer tokens that `autotool token new` writes."] = ""
    issuer: Annotated[str, "The authorization server whose tokens are taken."] = ""
    jwks: Annotated[str, "Its keys: a file, or an https address."] = ""
    resource: Annotated[str, "This server's own address, as tokens name it. Default: where it listens."] = ""
    algorithms: Annotated[tuple[str, ...], "Signatures that are taken. Default: all that are safe."] = ()
    open: Annotated[bool, "Serve without auth on addresses other than loopback."] = False


@section
class ScopeSection:
    """`[scopes.NAME]`: the tools that a scope opens."""

    allow: Annotated[tuple[str, ...], "As in [tools]."] = ()
    deny: Annotated[tuple[str, ...], "As in [tools]."] = ()
