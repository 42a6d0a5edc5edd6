"""Places inside a JSON value."""

from __future__ import annotations

from typing import Any, cast

Path = tuple[str | int, ...]


def value_path(value: Any, location: tuple[str | int, ...]) -> Path:
    """The part of an error's location that leads into the value, without the names of union arms."""
    path: list[str | int] = []
    for step in location:
        if isinstance(value, dict) and step in value:
            value = cast("dict[Any, Any]", value)[step]
        elif isinstance(value, list) and isinstance(step, int) and step < len(cast("list[Any]", value)):
            value = cast("list[Any]", value)[step]
        else:
            continue
        path.append(step)
    return tuple(path)


def get(value: Any, path: Path) -> Any:
    """What stands at `path` in `value`."""
    for step in path:
        value = value[step]
    return value


def put(value: Any, path: Path, item: Any) -> Any:
    """`value` with `item` at `path`; changes the containers on the way, so give it a copy."""
    if not path:
        return item
    owner = get(value, path[:-1])
    owner[path[-1]] = item
    return value
