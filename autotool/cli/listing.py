"""`autotool list`."""

from __future__ import annotations

import json

from autotool.cli import console
from autotool.protocol.methods import ServerSettings
from autotool.protocol.versions import MODERN, revision
from autotool.server import Application, Plan, close, describe


def run(plan: Plan, *, as_json: bool) -> None:
    """Print the tools of `plan`, and what is left out.

    Raises:
        OperatorError: a target cannot be read.
    """
    out = console.take_stdout()
    application, loop = describe(plan)
    if as_json:
        out.write(list_json(application) + "\n")
    else:
        screen = console.console_for(out)
        screen.print(console.tool_table(application.catalog.tools))
        if application.catalog.refusals:
            screen.print()
            screen.print(console.refusal_table(application.catalog.refusals))
        for warning in application.catalog.warnings:
            screen.print(f"[dim]note:[/] {warning}", markup=True, highlight=False, soft_wrap=True)
    out.flush()
    close(application, loop)


def list_json(application: Application) -> str:
    """The `tools/list` result of the newest revision, all pages in one."""
    methods = application.dispatcher.methods
    modern = revision(MODERN)
    assert modern is not None  # it is in the table
    methods.settings = ServerSettings(
        page_size=max(1, len(application.catalog.tools)), list_ttl_ms=methods.settings.list_ttl_ms
    )
    return json.dumps(methods.page(application.catalog, 0, modern), ensure_ascii=False, indent=2)
