"""Everything that can be set, with its default: the one place where a setting is added.

A setting is a field of a section: its type, its bounds, one sentence for people, its default. `config_file` reads files into it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, TypeVar, dataclass_transform

S = TypeVar("S")

_DURATION_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_SIZE_UNITS = {"b": 1, "kb": 1000, "mb": 1000**2, "gb": 1000**3, "kib": 1024, "mib": 1024**2, "gib": 1024**3}
_QUANTITY = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([A-Za-z]*)\s*")


def duration(value: Any) -> Any:
    """Seconds from `"30s"`, `"5m"`, `"1h"`; what is no text is given back.

    Raises:
        ValueError: it is no duration.
    """
    if not isinstance(value, str):
        return value
    found = _QUANTITY.fullmatch(value)
    unit = (found.group(2).lower() or "s") if found else ""
    if found is None or unit not in _DURATION_UNITS:
        raise ValueError(f"{value!r} is not a duration; write it as '30s', '5m' or '1h'")
    return float(found.group(1)) * _DURATION_UNITS[unit]


def size(value: Any) -> Any:
    """Bytes from `"256kB"`, `"4MiB"`; what is no text is given back.

    Raises:
        ValueError: it is no size.
    """
    if not isinstance(value, str):
        return value
    found = _QUANTITY.fullmatch(value)
    unit = (found.group(2).lower() or "b") if found else ""
    if found is None or unit not in _SIZE_UNITS:
        raise ValueError(f"{value!r} is not a size; write it as '256kB' or '4MiB'")
    return int(float(found.group(1)) * _SIZE_UNITS[unit])


@dataclass(frozen=True, slots=True)
class Between:
    """Bounds of a number, both included. Read by pydantic when a file is read, and only then imported for it."""

    least: float
    most: float

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        """The number's schema with the bounds."""
        return {**handler(source), "ge": self.least, "le": self.most}


class _Words:
    """Lets a quantity be written in words."""

    def __init__(self, read: Any) -> None:
        self._read = read

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        """The number's schema, behind a function that reads words."""
        number = {**handler(source), "ge": 0}
        return {"type": "function-before", "function": {"type": "no-info", "function": self._read}, "schema": number}


Duration = Annotated[float, _Words(duration)]
Size = Annotated[int, _Words(size)]


@dataclass_transform(frozen_default=True)
def section(cls: type[S]) -> type[S]:
    """A frozen dataclass that takes no other keys than its own when it is read from a file."""
    made = dataclass(frozen=True)(cls)
    made.__pydantic_config__ = {"extra": "forbid"}  # pyright: ignore[reportAttributeAccessIssue] - pydantic looks for it
    return made


Approval = Literal["none", "auto", "required", "operator"]
"""`required`: nothing runs without a person's consent; `operator`: somebody at the server gives it, and not the client."""


@section
class ServerSection:
    """`[server]`: who the server is and where it listens."""

    name: Annotated[str, "Name told to clients. Default: the wrapped distribution's, or the first target's."] = ""
    transport: Annotated[Literal["auto", "stdio", "http"], "auto: stdio when standard input is not a terminal."] = (
        "auto"
    )
    host: Annotated[str, "Address for HTTP."] = "127.0.0.1"
    port: Annotated[int, Between(0, 65535), "Port for HTTP; 0 takes a free one."] = 8000
    uds: Annotated[str, "Path of a Unix socket for HTTP, in place of host and port."] = ""
    hosts: Annotated[tuple[str, ...], "Further names under which HTTP clients may address the server."] = ()
    origins: Annotated[tuple[str, ...], "Origins of web pages that may call over HTTP."] = ()
    legacy: Annotated[bool, "Also speak the revisions with a handshake (2025-11-25 and earlier)."] = True
    page_size: Annotated[int, Between(1, 10_000), "Tools on a page of tools/list."] = 200
    list_ttl: Annotated[Duration, "How long a client may keep the list."] = 300.0


@section
class ToolsSection:
    """`[tools]`: which tools exist. What is not allowed is neither listed nor callable."""

    allow: Annotated[tuple[str, ...], "Globs over tool names; empty: all that the targets hold."] = ()
    deny: Annotated[tuple[str, ...], "Globs over tool names; these win over allow."] = ()
    include: Annotated[tuple[str, ...], "Globs over function names; others are not even read."] = ()
    exclude: Annotated[tuple[str, ...], "Globs over function names that are not read."] = ()
    recursive: Annotated[bool, "Also read a package's submodules."] = False
    importable: Annotated[tuple[str, ...], "Globs over dotted names that a caller may send for a function."] = ()
    own_process: Annotated[
        tuple[str, ...], "Globs over Python command-line programs that run as a process of their own."
    ] = ()


@section
class DefaultsSection:
    """`[defaults]`: the bounds of every call."""

    timeout: Annotated[Duration, "Time limit of a call; 0: none."] = 60.0
    max_output: Annotated[Size, "Most bytes of text in a result."] = 256_000
    rate_limit: Annotated[str, "Calls of one tool by one caller; empty: no limit."] = "600/minute"
    approval: Annotated[Approval, "Whose consent a call needs: auto asks for what is known to destroy."] = "auto"
    caller_rate_limit: Annotated[str, "Calls of one caller over all tools; empty: no limit."] = "6000/minute"
    threads: Annotated[int, Between(1, 256), "Synchronous calls that run at the same time."] = 8
    in_flight: Annotated[int, Between(1, 4096), "Calls that run at the same time."] = 64
    queue: Annotated[int, Between(0, 100_000), "Further calls that wait for their turn."] = 256


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


@section
class ToolSection:
    """`[tool.NAME]`: what one tool is told by and bounded by, in the place of what its code says."""

    title: Annotated[str | None, "Short name for people."] = None
    description: Annotated[str | None, "What it does, for the model."] = None
    read_only: Annotated[bool | None, "It changes nothing."] = None
    destructive: Annotated[bool | None, "It may destroy something."] = None
    idempotent: Annotated[bool | None, "Calling it twice is like calling it once."] = None
    open_world: Annotated[bool | None, "It reaches beyond this machine."] = None
    timeout: Annotated[Duration | None, "Time limit of a call."] = None
    max_output: Annotated[Size | None, "Most bytes of text in a result."] = None
    rate_limit: Annotated[str | None, "Calls of it by one caller; empty: no limit."] = None
    approval: Annotated[Approval | None, "Whose consent a call needs."] = None


Scalar = str | int | float | bool

Word = str | tuple[str | tuple[str | tuple[str, ...], ...], ...]
"""One word of a command line, or a group of words that is left out when a parameter in it is."""


@section
class ParameterSection:
    """`[command.NAME] params.NAME`: one parameter of a command."""

    type: Annotated[
        Literal["string", "integer", "number", "boolean", "enum", "path", "array", "date"], "What a value is."
    ] = "string"
    description: Annotated[str, "What it means, for the model."] = ""
    default: Annotated[Scalar | tuple[Scalar, ...] | None, "The value when it is left out."] = None
    optional: Annotated[bool, "It may be left out, and its words with it."] = False
    minimum: Annotated[float | None, "The least number."] = None
    maximum: Annotated[float | None, "The greatest number."] = None
    min_length: Annotated[int | None, "The fewest characters."] = None
    max_length: Annotated[int | None, "The most characters."] = None
    pattern: Annotated[str | None, "A regular expression that every text must match."] = None
    choices: Annotated[tuple[str | int, ...], "The only values, of an enum or of an array's items."] = ()
    items: Annotated[Literal["string", "integer", "number", "path", "date"], "What an array's items are."] = "string"
    min_items: Annotated[int | None, "The fewest items of an array."] = None
    max_items: Annotated[int | None, "The most items of an array."] = None
    must_exist: Annotated[bool, "A path must exist."] = False
    within: Annotated[str, "The folder that a path must be in, symbolic links followed."] = ""
    flag: Annotated[str, "The word that stands for true (boolean), or is repeated (integer)."] = ""
    off_flag: Annotated[str, "The word that stands for false."] = ""
    bare: Annotated[str, "The word that stands alone when `true` is sent in the place of a value (--color[=WHEN])."] = (
        ""
    )
    dash: Annotated[bool, "A value may begin with a dash where an option could stand."] = False


@section
class RunSection(ToolSection):
    """How a program is run: what `[command.NAME]` and `[program.NAME]` have in common."""

    cwd: Annotated[str, "Working directory. Default: where autotool was started."] = ""
    env: Annotated[Mapping[str, str | EnvSource], "Variables for the program."] = field(
        default_factory=dict[str, str | EnvSource]
    )
    pass_env: Annotated[tuple[str, ...], "Variables of the server's environment that the program gets too."] = ()
    success_codes: Annotated[
        tuple[int, ...] | None, "Exit codes that are answers. Default: 0; grep, diff…: 0 and 1."
    ] = None
    output: Annotated[Literal["text", "json", "lines", "csv"], "How standard output is read."] = "text"
    output_schema: Annotated[Mapping[str, Any] | None, "JSON Schema of what was read from standard output."] = None
    stderr: Annotated[Literal["on_failure", "always", "never"], "When standard error is shown."] = "on_failure"
    end_of_options: Annotated[str | None, "The word that ends options: `--`; empty: the program knows none."] = None
    allow_dangerous: Annotated[tuple[str, ...], "Options that run programs or write files, and are wanted."] = ()
    pin_program: Annotated[bool, "Refuse to run the program when its file has changed since the start."] = True


@section
class CommandSection(RunSection):
    """`[command.NAME]`: a command line as a tool."""

    run: Annotated[str | tuple[Word, ...], "The words, with {placeholders}; one text when `shell` is true."] = ()
    shell: Annotated[bool, "Have `sh -c` read `run`; values then come in variables only."] = False
    params: Annotated[Mapping[str, ParameterSection], "The parameters, by name."] = field(
        default_factory=dict[str, ParameterSection]
    )
    stdin: Annotated[str, "What standard input holds: `{text}`. Default: nothing."] = ""
    exclusive: Annotated[tuple[tuple[str, ...], ...], "Parameters of which at most one may be given."] = ()
    one_required: Annotated[tuple[tuple[str, ...], ...], "Parameters of which one must be given."] = ()


@section
class ProgramSection(RunSection):
    """`[program.NAME]`: a program that is read by its own help."""

    run: Annotated[tuple[str, ...], "The program, with the words that always stand first."] = ()
    commands: Annotated[tuple[str, ...], "Globs over subcommands; empty: all."] = ()
    depth: Annotated[int, Between(0, 4), "How deep subcommands are read; 0: the program itself."] = 1
    only: Annotated[tuple[str, ...], "Options that are offered; empty: all that are safe."] = ()
    without: Annotated[tuple[str, ...], "Options that are not offered."] = ()
    budget: Annotated[Size, "Most bytes of a tool's schema."] = 4000
    help_file: Annotated[str, "A file with the help text; the program is then not asked."] = ""


@section
class Config:
    """Everything that can be set."""

    targets: Annotated[tuple[str, ...], "What is served when the command line names nothing."] = ()
    server: ServerSection = ServerSection()
    tools: ToolsSection = ToolsSection()
    defaults: DefaultsSection = DefaultsSection()
    approval: ApprovalSection = ApprovalSection()
    audit: AuditSection = AuditSection()
    auth: AuthSection = AuthSection()
    scopes: Annotated[Mapping[str, ScopeSection], "The tools that each scope opens."] = field(
        default_factory=dict[str, ScopeSection]
    )
    tool: Annotated[Mapping[str, ToolSection], "Single tools, by name."] = field(default_factory=dict[str, ToolSection])
    command: Annotated[Mapping[str, CommandSection], "Command lines as tools, by name."] = field(
        default_factory=dict[str, CommandSection]
    )
    program: Annotated[Mapping[str, ProgramSection], "Programs read by their help, by name."] = field(
        default_factory=dict[str, ProgramSection]
    )
