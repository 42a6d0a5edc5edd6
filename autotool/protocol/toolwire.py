"""A tool as clients of each revision see it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from autotool.model import ToolSpec
from autotool.protocol.versions import Revision
from autotool.schema import mirrored


def tool_object(tool: ToolSpec, revision: Revision) -> dict[str, Any]:
    """The `Tool` object of a `tools/list` result."""
    candidate = tool.candidate
    hints = candidate.hints
    found: dict[str, Any] = {"name": tool.name}
    if revision.structured:
        found["title"] = candidate.title
    found["description"] = candidate.description
    found["inputSchema"] = candidate.input_schema
    if revision.structured and candidate.output_schema is not None:
        modern = revision.modern
        found["outputSchema"] = candidate.output_schema if modern else legacy_output_schema(candidate.output_schema)
    found["annotations"] = {
        "title": candidate.title,
        "readOnlyHint": hints.read_only,
        "destructiveHint": hints.destructive,
        "idempotentHint": hints.idempotent,
        "openWorldHint": hints.open_world,
    }
    if candidate.icons and revision.icons:
        found["icons"] = list(candidate.icons)
    return found


def is_wrapped(schema: Mapping[str, Any] | None) -> bool:
    """Whether legacy clients get this tool's results as `{"result": …}`: they read only objects there."""
    return schema is not None and schema.get("type") != "object"


def legacy_output_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The output schema for legacy clients, an object in every case."""
    if not is_wrapped(schema):
        return dict(schema)
    inner = {key: value for key, value in schema.items() if key != "$defs"}
    wrapped: dict[str, Any] = {
        "type": "object",
        "description": "The result stands under `result`, because this revision of the protocol wants an object.",
        "properties": {"result": inner},
        "required": ["result"],
    }
    if "$defs" in schema:
        wrapped["$defs"] = schema["$defs"]
    return wrapped


def header_parameters(schema: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    """Headers that mirror parameters (`x-mcp-header`): header name in lower case to its path in the arguments.

    Only chains of `properties` count (2026-07-28, tools, "x-mcp-header").
    """
    return {
        f"mcp-param-{inner[mirrored.KEY]}".lower(): path
        for path, inner in mirrored.marked(schema)
        if mirrored.is_token(inner[mirrored.KEY])
    }
