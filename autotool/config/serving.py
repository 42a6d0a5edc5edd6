"""Where a server listens, and which tools exist."""

from __future__ import annotations

from typing import Annotated, Literal

from autotool.config.policies import EnvSource
from autotool.config.quantities import Between, Duration, section


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
    key: Annotated[EnvSource | None, "The secret that signs cursors of lists, the same for all replicas."] = None
    storage: Annotated[str | EnvSource, "Where limits and used approvals are counted: memory://, or a Redis."] = (
        "memory://"
    )


@section
class ToolsSection:
    """`[tools]`: which tools exist. What is not allowed is neither listed nor callable."""

    allow: Annotated[tuple[str, ...], "Globs over tool names, or facts; empty: all that the targets hold."] = ()
    deny: Annotated[tuple[str, ...], "Globs over tool names, or facts; these win over allow."] = ()
    read_only: Annotated[bool, "Only tools that are known to change nothing."] = False
    include: Annotated[tuple[str, ...], "Globs over function names; others are not even read."] = ()
    exclude: Annotated[tuple[str, ...], "Globs over function names that are not read."] = ()
    recursive: Annotated[bool, "Also read a package's submodules."] = False
    importable: Annotated[tuple[str, ...], "Globs over dotted names that a caller may send for a function."] = ()
    own_process: Annotated[
        tuple[str, ...], "Globs over Python command-line programs that run as a process of their own."
    ] = ()
    locked: Annotated[bool, "Serve only what the lock file pins."] = False
    lock: Annotated[str, "The lock file."] = "autotool.lock"
