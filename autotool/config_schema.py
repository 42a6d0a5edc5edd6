"""The JSON Schema of `autotool.toml`, by which editors complete and check it."""

from __future__ import annotations

import typing
from collections.abc import Iterator, Mapping
from typing import Any, cast

import pydantic

from autotool import config
from autotool.config import Config


def schema() -> dict[str, Any]:
    """JSON Schema 2020-12 of the file: every key with its meaning, nothing else allowed."""
    plain = pydantic.TypeAdapter(Config).json_schema()
    definitions = plain["$defs"]
    for cls in _sections():
        body = plain if cls is Config else definitions.get(cls.__name__)
        if body is not None:
            _describe(body, cls)
    found = cast("dict[str, Any]", _tidy(plain))
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "autotool.toml", **found}


def _sections() -> Iterator[type[Any]]:
    for name in config.__all__:
        found = getattr(config, name)
        if isinstance(found, type) and hasattr(found, "__dataclass_fields__"):
            yield found


def _describe(body: dict[str, Any], cls: type[Any]) -> None:
    for key, hint in typing.get_type_hints(cls, include_extras=True).items():
        words = [fact for fact in getattr(hint, "__metadata__", ()) if isinstance(fact, str)]
        if words:
            body["properties"][key]["description"] = words[0]


def _tidy(node: Any) -> Any:
    """Without pydantic's titles, and without null, which TOML does not have."""
    if isinstance(node, list):
        return [_tidy(item) for item in cast("list[Any]", node)]
    if not isinstance(node, dict):
        return node
    members = cast("dict[str, Any]", node)
    kept = {
        key: _properties(value) if key in ("properties", "$defs") else _tidy(value)
        for key, value in members.items()
        if key != "title" and not (key == "default" and value is None)
    }
    arms = [arm for arm in kept.get("anyOf", ()) if arm != {"type": "null"}]
    if len(arms) == 1:
        del kept["anyOf"]
        return {**arms[0], **kept}
    return {**kept, "anyOf": arms} if arms else kept


def _properties(members: Mapping[str, Any]) -> dict[str, Any]:
    return {name: _tidy(value) for name, value in members.items()}
