"""Parameters that HTTP clients mirror into a header (`x-mcp-header`), and the rules of their marks.

The rules: 2026-07-28, server, tools, "x-mcp-header".
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, cast

from autotool.marks import FORCED, HEADER
from autotool.schema.dialect import Schema, walk

KEY = HEADER
_TOKEN = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
_TYPES = ("string", "integer", "boolean")


def marked(schema: Mapping[str, Any], path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], dict[str, Any]]]:
    """The marked parameters that a header can mirror: the path of each, along `properties` only, and its schema."""
    properties = schema.get("properties")
    if not isinstance(properties, dict):
        return
    for name, below in cast("dict[str, Any]", properties).items():
        if not isinstance(below, dict):
            continue
        inner = cast("dict[str, Any]", below)
        if KEY in inner:
            yield (*path, name), inner
        yield from marked(inner, (*path, name))


def is_token(name: Any) -> bool:
    """Whether it can be a header's name (RFC 9110, section 5.6.2)."""
    return isinstance(name, str) and _TOKEN.fullmatch(name) is not None


def problem(schema: Mapping[str, Any]) -> str:
    """The first rule that a mark in an input schema breaks, as a clause that names the parameter; "" for none."""
    seen: dict[str, str] = {}
    reached: set[int] = set()
    for path, inner in marked(schema):
        where, header = ".".join(path), inner[KEY]
        reached.add(id(inner))
        if not is_token(header):
            return f"`{where}` names the header {header!r}, which is no token of letters, digits and `-`"
        if inner.get("type") not in _TYPES:
            return f"`{where}` cannot be mirrored in a header, because only a string, an integer or a boolean can"
        if header.lower() in seen:
            return f"`{where}` and `{seen[header.lower()]}` name the same header, `{header}`"
        seen[header.lower()] = where
    lost: list[str] = []
    walk(schema, lambda node: lost.append(str(node[KEY])) if KEY in node and id(node) not in reached else None)
    return f"the header `{lost[0]}` stands at a place that no chain of `properties` reaches" if lost else ""


def unforced(schema: Mapping[str, Any]) -> list[str]:
    """The names of the marked parameters of which their author did not say that they hold no secret."""
    return [path[-1] for path, inner in marked(schema) if FORCED not in inner]


def published(schema: Schema) -> Schema:
    """The schema without what its author said for the server alone."""
    kept = {key: value for key, value in schema.items() if key != FORCED}
    properties = schema.get("properties")
    if isinstance(properties, dict):
        named = cast("dict[str, Any]", properties)
        kept["properties"] = {
            name: published(cast("Schema", one)) if isinstance(one, dict) else one for name, one in named.items()
        }
    return kept
