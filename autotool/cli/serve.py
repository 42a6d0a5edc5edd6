"""`autotool serve`."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable

from autotool.runtime import logs, spawn
from autotool.runtime.terminal import Terminal
from autotool.server import Application, Plan, serve_http, serve_stdio


def run(make_plan: Callable[[], Plan], *, stdio: bool, http: bool) -> None:
    """Choose the transport, serve, and end the process when it is over.

    Raises:
        OperatorError: it cannot start.
    """
    plan = make_plan()
    logs.configure(debug=plan.debug)
    if _wants_stdio(plan, stdio=stdio, http=http):
        _stdio(plan, make_plan)
    else:
        _http(plan, make_plan)


def _wants_stdio(plan: Plan, *, stdio: bool, http: bool) -> bool:
    server = plan.config.server
    if stdio or http:
        return stdio
    if server.transport != "auto":
        return server.transport == "stdio"
    if _named_on_command_line():
        return False
    return not sys.stdin.isatty()


def _named_on_command_line() -> bool:
    return any(word.partition("=")[0] in ("--host", "--port", "--uds") for word in sys.argv)


def _stdio(plan: Plan, make_plan: Callable[[], Plan]) -> None:
    from autotool.transports.stdio import claim

    reading, writing = claim()
    messages = asyncio.run(serve_stdio(plan, reading, writing, spawn.take_early(), make_plan))
    if messages == 0:
        logs.stderr.write(
            b"autotool: the input ended and no client had spoken. An MCP client starts this command itself;"
            b" to serve over HTTP instead, add --http.\n"
        )
    _leave()


def _http(plan: Plan, make_plan: Callable[[], Plan]) -> None:
    from autotool.transports.listen import run as run_loop

    run_loop(lambda: serve_http(plan, spawn.take_early(), _announce, make_plan))
    _leave()


def _announce(application: Application, address: str) -> None:
    if sys.stderr.isatty():
        from autotool.cli.console import panel

        panel(application, address)
        if sys.stdin.isatty():
            Terminal(application.desk).open()
    else:
        logs.stderr.write(f"autotool: serving {len(application.catalog.tools)} tools at {address}\n".encode())


def _leave() -> None:
    """End now: everything has been answered, and a person's thread may never end."""
    logs.stderr.drain()
    os._exit(0)
