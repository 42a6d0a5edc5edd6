"""JSON Schema in the form that clients can read: inlined, without titles, with `items` on every array."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, cast

_SCHEMA_MAPS = ("properties", "patternProperties", "$defs", "dependentSchemas")
_SCHEMA_LISTS = ("anyOf", "oneOf", "allOf", "prefixItems")
_SCHEMA_VALUES = ("items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames")

Schema = dict[str, Any]


def tidy(schema: Mapping[str, Any]) -> Schema:
    """Inline every reference that is not recursive, drop titles, and give every array its `items`."""
    definitions: dict[str, Any] = dict(schema.get("$defs", {}))
    root = {key: value for key, value in schema.items() if key != "$defs"}
    recursive = _recursive_names(definitions)
    result = _tidy(root, definitions, recursive)
    kept = {name: _tidy(definitions[name], definitions, recursive) for name in sorted(_referenced(result, definitions))}
    while True:
        more = {name for body in kept.values() for name in _referenced(body, definitions)} - set(kept)
        if not more:
            break
        kept.update({name: _tidy(definitions[name], definitions, recursive) for name in sorted(more)})
    if kept:
        result["$defs"] = kept
    return result


def walk(schema: Any, visit: Callable[[Schema], None]) -> None:
    """Call `visit` on every schema inside `schema`, itself included, keywords' own values excluded."""
    if not isinstance(schema, dict):
        return
    node = cast("Schema", schema)
    visit(node)
    for child in _children(node):
        walk(child, visit)


def _children(node: Schema) -> list[Any]:
    found: list[Any] = []
    for key in _SCHEMA_MAPS:
        value = node.get(key)
        if isinstance(value, dict):
            found.extend(cast("dict[str, Any]", value).values())
    for key in _SCHEMA_LISTS:
        value = node.get(key)
        if isinstance(value, list):
            found.extend(cast("list[Any]", value))
    found.extend(node[key] for key in _SCHEMA_VALUES if key in node)
    return found


def _name(reference: Any) -> str:
    return str(reference).rpartition("/")[2].replace("~1", "/").replace("~0", "~")


def _referenced(schema: Any, definitions: Mapping[str, Any]) -> set[str]:
    names: set[str] = set()
    walk(schema, lambda node: names.add(_name(node["$ref"])) if "$ref" in node else None)
    return names & set(definitions)


def _recursive_names(definitions: Mapping[str, Any]) -> frozenset[str]:
    """Definitions that lead back to themselves."""
    direct = {name: _referenced(body, definitions) for name, body in definitions.items()}
    recursive: set[str] = set()
    for start in direct:
        seen: set[str] = set()
        pending = list(direct[start])
        while pending:
            name = pending.pop()
            if name not in seen:
                seen.add(name)
                pending.extend(direct[name])
        if start in seen:
            recursive.add(start)
    return frozenset(recursive)


def _tidy(schema: Any, definitions: Mapping[str, Any], recursive: frozenset[str]) -> Any:
    if not isinstance(schema, dict):
        return schema
    node = cast("Schema", schema)
    if "$ref" in node:
        name = _name(node["$ref"])
        if name in recursive:
            # Clients differ on what siblings of a reference mean, so it stands alone.
            return {"$ref": node["$ref"]}
        beside = {key: value for key, value in node.items() if key != "$ref"}
        return _tidy({**definitions.get(name, {}), **beside}, definitions, recursive)
    result: Schema = {}
    for key, value in node.items():
        if (key in ("title", "discriminator") and not isinstance(value, dict)) or key == "discriminator":
            continue
        if key in _SCHEMA_MAPS and isinstance(value, dict):
            result[key] = {n: _tidy(s, definitions, recursive) for n, s in cast("dict[str, Any]", value).items()}
        elif key in _SCHEMA_LISTS and isinstance(value, list):
            result[key] = [_tidy(item, definitions, recursive) for item in cast("list[Any]", value)]
        elif key in _SCHEMA_VALUES:
            result[key] = _tidy(value, definitions, recursive)
        else:
            result[key] = value
    return _plain(result)


def _plain(node: Schema) -> Schema:
    """Rewrite what widely used clients do not read: tuples by place, constants, an `allOf` of one."""
    if "prefixItems" in node:
        arms = _unique(node.pop("prefixItems"))
        rest = node.pop("items", False)
        if isinstance(rest, dict):
            arms = _unique([*arms, rest])
        node["items"] = arms[0] if len(arms) == 1 else {"anyOf": arms}
    node.pop("uniqueItems", None)  # a set takes duplicates; saying otherwise would be false
    if "const" in node:
        node["enum"] = [node.pop("const")]
    if node.get("type") == "array" and "items" not in node:
        node["items"] = {}
    everything = node.get("allOf")
    if isinstance(everything, list) and len(cast("list[Any]", everything)) == 1:
        node = {**everything[0], **{key: value for key, value in node.items() if key != "allOf"}}
    for key in ("anyOf", "oneOf"):
        if key in node:
            node = _plain_union(node, key)
    return node


def _plain_union(node: Schema, key: str) -> Schema:
    """One arm alone needs no union; `oneOf` (discriminated unions) reads as `anyOf`, which every client knows."""
    arms = _unique(node[key])
    rest = {name: value for name, value in node.items() if name != key}
    if any(arm == {} for arm in arms):
        return rest
    if {"type": "number"} in arms:
        arms = [arm for arm in arms if arm != {"type": "integer"}]  # every integer is a number
    if len(arms) == 1:
        return {**arms[0], **rest}
    return {**rest, "anyOf": arms}


def _unique(schemas: list[Any]) -> list[Any]:
    kept: list[Any] = []
    for schema in schemas:
        if schema not in kept:
            kept.append(schema)
    return kept
