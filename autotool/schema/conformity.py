"""Whether plain JSON data matches a schema of the kind that autotool publishes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

_TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
    "null": (type(None),),
}


def mismatch(data: Any, schema: Mapping[str, Any]) -> str:
    """What is wrong with `data`, as a clause that names the place; "" when it matches."""
    return _mismatch(data, schema, "$", schema)


def _mismatch(data: Any, schema: Mapping[str, Any], path: str, root: Mapping[str, Any]) -> str:
    if not schema:
        return ""
    if "$ref" in schema:
        name = str(schema["$ref"]).rpartition("/")[2]
        return _mismatch(data, root.get("$defs", {}).get(name, {}), path, root)
    if "enum" in schema:
        return (
            ""
            if any(data == value and type(data) is type(value) for value in schema["enum"])
            else f"{path} is not one of the values of its enum"
        )
    if "anyOf" in schema:
        problems = [_mismatch(data, arm, path, root) for arm in schema["anyOf"]]
        return "" if "" in problems else problems[0]
    kind = schema.get("type")
    if isinstance(kind, str) and not _is_of_type(data, kind):
        return f"{path} should be {'an' if kind[0] in 'aeio' else 'a'} {kind}, and is {_kind_of(data)}"
    if isinstance(data, list):
        return _items(cast("list[Any]", data), schema, path, root)
    return _members(cast("dict[str, Any]", data), schema, path, root) if isinstance(data, dict) else ""


def _is_of_type(data: Any, kind: str) -> bool:
    if isinstance(data, bool):
        return kind == "boolean"
    if kind == "integer" and isinstance(data, float):
        return data.is_integer()
    return isinstance(data, _TYPES.get(kind, (object,)))


def _kind_of(data: Any) -> str:
    if isinstance(data, bool):
        return "a boolean"
    for kind, types in _TYPES.items():
        if isinstance(data, types):
            return f"{'an' if kind[0] in 'aeio' else 'a'} {kind}"
    return type(data).__name__


def _items(data: list[Any], schema: Mapping[str, Any], path: str, root: Mapping[str, Any]) -> str:
    if len(data) < schema.get("minItems", 0) or len(data) > schema.get("maxItems", len(data)):
        return f"{path} has {len(data)} items"
    items = schema.get("items")
    if not items:
        return ""
    for place, item in enumerate(data):
        wrong = _mismatch(item, items, f"{path}[{place}]", root)
        if wrong:
            return wrong
    return ""


def _members(data: dict[str, Any], schema: Mapping[str, Any], path: str, root: Mapping[str, Any]) -> str:
    properties: Mapping[str, Any] = schema.get("properties", {})
    for name in schema.get("required", ()):
        if name not in data:
            return f"{path}.{name} is missing"
    rest = schema.get("additionalProperties", True)
    for name, item in data.items():
        if name in properties:
            wrong = _mismatch(item, properties[name], f"{path}.{name}", root)
        elif rest is False:
            wrong = f"{path}.{name} is not expected"
        else:
            wrong = _mismatch(item, rest, f"{path}.{name}", root) if isinstance(rest, dict) else ""
        if wrong:
            return wrong
    return ""
