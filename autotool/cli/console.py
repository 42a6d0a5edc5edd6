"""Everything that is printed for people. The only user of rich."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from typing import Any, TextIO

from rich.console import Console, Group
from rich.panel import Panel
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text

from autotool.model import Candidate, Refusal, ToolSpec
from autotool.server import Application

_PIPE_WIDTH = 160


def take_stdout() -> TextIO:
    """Keep standard output for results: what imported code prints goes to standard error from now on."""
    kept = os.dup(1)
    os.dup2(2, 1)
    return open(kept, "w", encoding="utf-8", errors="backslashreplace")  # noqa: PTH123 - lives as long as the process


def console_for(stream: TextIO) -> Console:
    """A console that fits the terminal, and does not cut anything off where there is none."""
    return Console(file=stream) if stream.isatty() else Console(file=stream, width=_PIPE_WIDTH)


def parameters_text(candidate: Candidate) -> str:
    """The offered parameters in short: `data, n=4, *rest`."""
    parts: list[str] = []
    for parameter in candidate.parameters:
        if parameter.hidden:
            continue
        stars = {"var_positional": "*", "var_keyword": "**"}.get(parameter.kind, "")
        default = parameter.schema.get("default")
        shown = (
            f"={json.dumps(default, ensure_ascii=False)}"
            if "default" in parameter.schema
            else ("" if parameter.required or stars else "=…")
        )
        parts.append(f"{stars}{parameter.wire_name}{shown}")
    return ", ".join(parts)


def tool_table(tools: Sequence[ToolSpec]) -> Table:
    """One row a tool: its name, parameters and origin."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("Tool", style="cyan", overflow="fold")
    table.add_column("Parameters", overflow="fold")
    table.add_column("From", style="dim", overflow="fold")
    for tool in tools:
        table.add_row(Text(tool.name), Text(parameters_text(tool.candidate)), Text(tool.candidate.key))
    return table


def refusal_table(refusals: Sequence[Refusal]) -> Table:
    """One row for each thing that is not served, with the reason."""
    table = Table(box=None, pad_edge=False, header_style="bold", title_justify="left")
    table.add_column("Not served", style="yellow", overflow="fold")
    table.add_column("Why", overflow="fold")
    for refusal in refusals:
        table.add_row(Text(refusal.subject), Text(" ".join(part for part in (refusal.reason, refusal.hint) if part)))
    return table


def panel(application: Application, address: str) -> None:
    """What a person sees who starts an HTTP server in a terminal."""
    count = len(application.catalog.tools)
    entry = {"mcpServers": {application.info.name: {"type": "http", "url": address}}}
    lines: list[Any] = [
        Text.assemble((f"{count} {'tool' if count == 1 else 'tools'}", "bold"), " at ", (address, "bold cyan")),
        Text(),
        Text("In your client's configuration:", style="dim"),
        Syntax(json.dumps(entry, indent=2), "json", background_color="default"),
    ]
    skipped = len(application.catalog.refusals)
    if skipped:
        lines += [Text(), Text(f"{skipped} not served; `autotool list` says why.", style="yellow")]
    lines += [Text(), Text("Ctrl-C ends it.", style="dim")]
    Console(file=sys.stderr).print(
        Panel(Group(*lines), title="autotool", title_align="left", expand=False, padding=(1, 2))
    )
