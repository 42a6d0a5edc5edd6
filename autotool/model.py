"""The vocabulary of autotool: plain, frozen data that crosses rooms and processes.

Nothing here holds a live function, a socket or a module; everything can be written as JSON.

Glossary:
    target      what a person names: `pkg.mod`, `pkg.mod:name`, `./file.py`
    source      the kind of thing a target is
    candidate   one callable that can be served, before it has its final name
    refusal     one callable that cannot be served, with the reason
    tool        one callable thing as the Model Context Protocol sees it
    catalog     the ordered, immutable set of tools that a server offers (`autotool.catalog`)
    front       the server process; it never imports a person's code
    worker      the process that imports targets and runs functions
    caller      who calls: an authenticated principal, or the local user
    modern      protocol revision 2026-07-28; legacy: revisions with an `initialize` handshake
    key         `module:qualified.name`, by which front and worker mean the same callable
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Protocol

ParameterKind = Literal["positional_only", "positional_or_keyword", "var_positional", "keyword_only", "var_keyword"]

TypeOrigin = Literal["annotation", "stub", "typeshed", "docstring", "default", "config", "help", "program", "open"]
"""Where a parameter's type came from; `open` means that nothing is known and nothing is claimed."""


@dataclass(frozen=True, slots=True)
class Target:
    """A reference to what a person wants served, parsed but not imported.

    Attributes:
        text: the words the person typed.
        location: a dotted module name, or the path of a file that ends in `.py`.
        is_file: whether `location` is a path.
        attribute: the dotted path after the colon, or "" for the whole module.
        is_factory: whether the attribute is called, without arguments, for the object to serve (`pkg.mod:make()`).
        is_script: whether `location` is the name of a console script (`script:black`).
    """

    text: str
    location: str
    is_file: bool = False
    attribute: str = ""
    is_factory: bool = False
    is_script: bool = False


@dataclass(frozen=True, slots=True)
class Selection:
    """Which of the functions that the targets hold are wanted.

    Attributes:
        include: globs over function names and `module.name`; empty means all.
        exclude: globs that take away again.
        recursive: whether a package's submodules are read too.
        importable: globs over dotted names of functions and classes that a caller may send where one is demanded.
        own_process: globs over names of command-line programs that run as a process of their own, and not in the worker.
    """

    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    recursive: bool = False
    importable: tuple[str, ...] = ()
    own_process: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of a callable as a person reads about it in `show`.

    Attributes:
        name: the name in Python.
        wire_name: the name in the input schema; differs for aliases and names that clients refuse.
        kind: as `inspect.Parameter.kind`, in lower case.
        required: whether a call must give it.
        schema: its JSON Schema, as it stands in the input schema; empty when hidden.
        description: what its author says of it, or "".
        type_text: the type as a person would write it, for example `list[str]`; "" when unknown.
        type_origin: where the type came from.
        hidden: why it is not offered, or "" when it is.
    """

    name: str
    wire_name: str
    kind: ParameterKind
    required: bool
    schema: dict[str, Any] = field(default_factory=dict)
    description: str = ""
    type_text: str = ""
    type_origin: TypeOrigin = "open"
    hidden: str = ""


@dataclass(frozen=True, slots=True)
class Evidence:
    """Why a hint has its value: `hint` is a field of `Hints`, `reason` one clause for a person."""

    hint: str
    value: bool
    reason: str


@dataclass(frozen=True, slots=True)
class Hints:
    """The four behaviour hints of a tool (MCP `ToolAnnotations`), all stated.

    The defaults are those of the specification and stand wherever there is no evidence.
    """

    read_only: bool = False
    destructive: bool = True
    idempotent: bool = False
    open_world: bool = True
    evidence: tuple[Evidence, ...] = ()


class _Statement(Protocol):
    """Who may state hints; None stands for what is not stated."""

    @property
    def read_only(self) -> bool | None: ...
    @property
    def destructive(self) -> bool | None: ...
    @property
    def idempotent(self) -> bool | None: ...
    @property
    def open_world(self) -> bool | None: ...


def stated(hints: Hints, by: _Statement, reason: str) -> Hints:
    """`hints` with what a person has stated in the place of what was inferred; a reader destroys nothing."""
    values = {
        name: value
        for name, value in (
            ("read_only", by.read_only),
            ("destructive", by.destructive if by.destructive is not None or not by.read_only else False),
            ("idempotent", by.idempotent),
            ("open_world", by.open_world),
        )
        if value is not None
    }
    if not values:
        return hints
    if values.get("destructive") and "read_only" not in values:
        values["read_only"] = False
    kept = tuple(evidence for evidence in hints.evidence if evidence.hint not in values)
    said = tuple(Evidence(name, value, reason) for name, value in values.items())
    return replace(hints, **values, evidence=(*kept, *said))


@dataclass(frozen=True, slots=True)
class Bounds:
    """The bounds of its calls that a tool brings along; None where the general ones hold.

    Attributes:
        timeout_s: seconds after which a call is stopped; 0 means no limit.
        max_output_bytes: the most bytes of text in a result.
        rate_limit: calls by one caller, as `"5/minute"`; "" means no limit.
        concurrency: calls that run at the same time.
    """

    timeout_s: float | None = None
    max_output_bytes: int | None = None
    rate_limit: str | None = None
    concurrency: int | None = None


@dataclass(frozen=True, slots=True)
class OutputRules:
    """What happens to what a tool gives, on its way out; None where the general rule holds.

    Attributes:
        sanitize: whether escape sequences and hidden characters are removed.
        redact: whether secrets are masked.
        mask_errors: whether the words of exceptions stay with the server, and the caller gets a number to ask by.
        untrusted: whether results are marked as written by others.
        fence: whether a line before and a line after say where such text begins and ends.
    """

    sanitize: bool | None = None
    redact: bool | None = None
    mask_errors: bool | None = None
    untrusted: bool | None = None
    fence: bool | None = None

    def over(self, general: OutputRules) -> OutputRules:
        """These rules, and `general` where they say nothing."""
        return OutputRules(
            general.sanitize if self.sanitize is None else self.sanitize,
            general.redact if self.redact is None else self.redact,
            general.mask_errors if self.mask_errors is None else self.mask_errors,
            general.untrusted if self.untrusted is None else self.untrusted,
            general.fence if self.fence is None else self.fence,
        )


@dataclass(frozen=True, slots=True)
class Candidate:
    """One callable that can be served, as the worker describes it to the front.

    Attributes:
        key: `module:qualified.name`, unique in one worker.
        name: the name it would like, not yet cleaned or made unique.
        qualifier: the dotted module name (or file stem), used in the tool's name only where two would meet.
        title: a short name for people.
        description: what it does; never empty.
        input_schema: JSON Schema 2020-12 of its arguments, one flat object.
        output_schema: JSON Schema of its result, or None where none can be promised.
        parameters: in the order of the signature, hidden ones included.
        hints: its behaviour hints.
        is_async: whether it runs in the worker's loop rather than in a thread.
        file: the source file, or "".
        line: the line of its definition, or 0.
        warnings: what a person should know about it, one sentence each.
        tags: words by which an allowlist can name it.
        bounds: the bounds of its calls, where they are its own.
        approval: what its author says of asking before it runs (`none`, `auto`, `required`, `operator`), or "".
        icons: pictures for people, as MCP `Icon` objects.
        implementation: a digest of what runs behind it (source, or words of a command), or "" where there is none.
        output: what happens to its results, where that is its own.
    """

    key: str
    name: str
    qualifier: str
    title: str
    description: str
    input_schema: dict[str, Any]
    output_schema: dict[str, Any] | None = None
    parameters: tuple[Parameter, ...] = ()
    hints: Hints = Hints()
    is_async: bool = False
    file: str = ""
    line: int = 0
    warnings: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    bounds: Bounds = Bounds()
    approval: str = ""
    icons: tuple[dict[str, Any], ...] = ()
    implementation: str = ""
    output: OutputRules = OutputRules()


@dataclass(frozen=True, slots=True)
class Refusal:
    """One thing that is not served: `subject` (`module:name`, or a target), why, and what can be done."""

    subject: str
    reason: str
    hint: str = ""


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file that was read, and how it looked then: nanoseconds of its last change, bytes, and which file it is; 0 for none."""

    path: str
    changed_ns: int = 0
    size: int = 0
    inode: int = 0


@dataclass(frozen=True, slots=True)
class Description:
    """What a worker found behind its targets.

    Attributes:
        candidates: in the order in which the targets and their modules name them.
        refusals: what was left out, with reasons.
        package: name, version and summary of the distribution that was wrapped, each may be "".
        secrets: what tools were given and must not come out, by the name of its variable; never crosses the link.
        files: the person's own files that were read for it, where it was asked for.
    """

    candidates: tuple[Candidate, ...]
    refusals: tuple[Refusal, ...] = ()
    package: tuple[str, str, str] = ("", "", "")
    secrets: tuple[tuple[str, str], ...] = ()
    files: tuple[SourceFile, ...] = ()


@dataclass(frozen=True, slots=True)
class Overrides:
    """What a config says of a tool's parameters, by their names in its input schema.

    Attributes:
        fixed: values that are filled in.
        defaults: values for what a call leaves out.
        withheld: parameters that a call cannot give, the fixed ones included, under every spelling.
        bounds: JSON Schema keywords that hold beside those that the code itself has.
    """

    fixed: Mapping[str, Any] = field(default_factory=dict[str, Any])
    defaults: Mapping[str, Any] = field(default_factory=dict[str, Any])
    withheld: frozenset[str] = frozenset()
    bounds: Mapping[str, Mapping[str, Any]] = field(default_factory=dict[str, Mapping[str, Any]])


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """One tool with its final name. `candidate` says everything else."""

    name: str
    candidate: Candidate
    overrides: Overrides | None = None


@dataclass(frozen=True, slots=True)
class Invocation:
    """One call, on its way to the code that runs it.

    Attributes:
        key: the candidate's key.
        arguments: the `arguments` object as the client sent it, parsed strictly.
        timeout_s: seconds after which the call is stopped; 0 means no limit.
        max_output_bytes: the most bytes of text that the result may have.
        wants_progress: whether progress reports are of use to the caller.
        answers: what the person has answered to questions of the function, by key.
        abilities: what the client can be asked for: `elicitation` (forms), `elicitation.url`, `sampling`, `roots`.
    """

    key: str
    arguments: dict[str, Any]
    timeout_s: float = 60.0
    max_output_bytes: int = 256_000
    wants_progress: bool = False
    answers: dict[str, Any] | None = None
    abilities: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a call ended. What the client receives is already serialised, so that it is written only once.

    Attributes:
        is_error: whether this is a tool error.
        content: a JSON array of MCP content blocks, UTF-8, never empty.
        structured: the structured content as JSON, or None where there is none (errors).
        truncated: whether something was left out for its size; the text then says so.
        error_type: the name of the exception class behind an error, or "".
        asks: the questions without whose answers the call cannot go on, as a JSON object by key, or None.
        retry_after_s: seconds after which the call may be tried again, or None where that would not help.
        is_raised: whether the words of the error are those of an exception that nobody wrote for callers.
        meta: what `_meta` of the result says beside the server's own, or None.
    """

    is_error: bool
    content: bytes
    structured: bytes | None = None
    truncated: bool = False
    error_type: str = ""
    asks: bytes | None = None
    retry_after_s: float | None = None
    is_raised: bool = False
    meta: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Progress:
    """One progress report of a running call: how far, of how much (None when unknown), in which words."""

    done: float
    total: float | None = None
    message: str = ""


@dataclass(frozen=True, slots=True)
class Caller:
    """Who calls.

    Attributes:
        name: a principal's name, or "local".
        scopes: what they may use.
        is_local: whether this is the user who runs the server, who may use everything.
        address: where a caller is who did not have to say who they are; "" for this machine.
    """

    name: str = "local"
    scopes: tuple[str, ...] = ()
    is_local: bool = True
    address: str = ""

    @property
    def account(self) -> str:
        """What limits are counted for: a principal, or else an address."""
        return f"at {self.address}" if self.address else self.name
