"""`autotool show`."""

from __future__ import annotations

import json
from typing import Any

from rich.console import Group
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text

from autotool.cli import console
from autotool.cli.finding import find
from autotool.model import Candidate, Hints, Parameter
from autotool.protocol.toolwire import tool_object
from autotool.protocol.versions import MODERN, revision
from autotool.server import Plan, close, describe

_HINTS = {
    "read_only": "readOnlyHint",
    "destructive": "destructiveHint",
    "idempotent": "idempotentHint",
    "open_world": "openWorldHint",
}

_ORIGINS = {
    "open": "nothing says",
    "default": "its default",
    "stub": "a stub file",
    "config": "the config",
    "help": "its help text",
    "program": "the program",
}


def run(plan: Plan, name: str, *, as_json: bool) -> None:
    """Print one tool whole.

    Raises:
        OperatorError: there is no such tool, or the target cannot be read.
    """
    out = console.take_stdout()
    application, loop = describe(plan)
    tool = find(application.catalog, name)
    modern = revision(MODERN)
    assert modern is not None  # it is in the table
    if as_json:
        out.write(json.dumps(tool_object(tool, modern), ensure_ascii=False, indent=2) + "\n")
    else:
        console.console_for(out).print(_page(tool.name, tool.candidate))
    out.flush()
    close(application, loop)


def _page(name: str, candidate: Candidate) -> Group:
    where = f"{candidate.file}:{candidate.line}" if candidate.file and candidate.line else candidate.file
    parts: list[Any] = [
        Text.assemble((name, "bold cyan"), "  ", (candidate.title, "dim")),
        Text(f"{candidate.key}  {where}".rstrip(), style="dim"),
        Text(),
        Text(candidate.description),
        Text(),
        _parameters(candidate.parameters),
        Text(),
        _hints(candidate.hints),
        Text(),
        Text("Input schema", style="bold"),
        _json(candidate.input_schema),
    ]
    if candidate.output_schema is not None:
        parts += [Text("Output schema", style="bold"), _json(candidate.output_schema)]
    parts += [Text(f"note: {warning}", style="yellow") for warning in candidate.warnings]
    return Group(*parts)


def _json(schema: dict[str, Any]) -> Syntax:
    return Syntax(json.dumps(schema, ensure_ascii=False, indent=2), "json", background_color="default", word_wrap=True)


def _parameters(parameters: tuple[Parameter, ...]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for title in ("Parameter", "Type", "Type from", "Required", "Description"):
        table.add_column(title, overflow="fold")
    for parameter in parameters:
        stars = {"var_positional": "*", "var_keyword": "**"}.get(parameter.kind, "")
        said = f"not offered: {parameter.hidden}" if parameter.hidden else parameter.description
        required = "yes" if parameter.required else "no"
        table.add_row(
            Text(stars + parameter.wire_name, style="cyan"),
            Text(parameter.type_text or "any"),
            Text(_origin(parameter)),
            required,
            Text(said),
        )
    return table


def _origin(parameter: Parameter) -> str:
    return _ORIGINS.get(parameter.type_origin, parameter.type_origin)


def _hints(hints: Hints) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for title in ("Hint", "Value", "Evidence"):
        table.add_column(title, overflow="fold")
    for field, wire_name in _HINTS.items():
        reasons = "; ".join(evidence.reason for evidence in hints.evidence if evidence.hint == field)
        table.add_row(
            wire_name,
            str(getattr(hints, field)).lower(),
            Text(reasons or "none: the specification's default", style="" if reasons else "dim"),
        )
    return table
