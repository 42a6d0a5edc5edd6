"""How settings are written: durations and sizes in words, bounds, and sections that take no other keys than their own."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, TypeVar, dataclass_transform

S = TypeVar("S")

_DURATION_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_SIZE_UNITS = {"b": 1, "kb": 1000, "mb": 1000**2, "gb": 1000**3, "kib": 1024, "mib": 1024**2, "gib": 1024**3}
_QUANTITY = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([A-Za-z]*)\s*")


def duration(value: Any) -> Any:
    """Seconds from `"30s"`, `"5m"`, `"1h"`; what is no text is given back.

    Raises:
        ValueError: it is no duration.
    """
    if not isinstance(value, str):
        return value
    found = _QUANTITY.fullmatch(value)
    unit = (found.group(2).lower() or "s") if found else ""
    if found is None or unit not in _DURATION_UNITS:
        raise ValueError(f"{value!r} is not a duration; write it as '30s', '5m' or '1h'")
    return float(found.group(1)) * _DURATION_UNITS[unit]


def size(value: Any) -> Any:
    """Bytes from `"256kB"`, `"4MiB"`; what is no text is given back.

    Raises:
        ValueError: it is no size.
    """
    if not isinstance(value, str):
        return value
    found = _QUANTITY.fullmatch(value)
    unit = (found.group(2).lower() or "b") if found else ""
    if found is None or unit not in _SIZE_UNITS:
        raise ValueError(f"{value!r} is not a size; write it as '256kB' or '4MiB'")
    return int(float(found.group(1)) * _SIZE_UNITS[unit])


@dataclass(frozen=True, slots=True)
class Between:
    """Bounds of a number, both included. Read by pydantic when a file is read, and only then imported for it."""

    least: float
    most: float

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        """The number's schema with the bounds."""
        return {**handler(source), "ge": self.least, "le": self.most}


class _Words:
    """Lets a quantity be written in words."""

    def __init__(self, read: Any, units: Mapping[str, float]) -> None:
        self._read = read
        self._units = units

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        """The number's schema, behind a function that reads words."""
        number = {**handler(source), "ge": 0}
        return {"type": "function-before", "function": {"type": "no-info", "function": self._read}, "schema": number}

    def __get_pydantic_json_schema__(self, core: Any, handler: Any) -> Any:
        """A number, or words."""
        # Units are read in any case, and an editor's schema shows them as they are written.
        either = "|".join("".join(f"[{letter}{letter.upper()}]" for letter in unit) for unit in self._units)
        words = {"type": "string", "pattern": rf"^\s*\d+(\.\d+)?\s*({either})?\s*$"}
        return {"anyOf": [words, {"type": "number", "minimum": 0}]}


Duration = Annotated[float, _Words(duration, _DURATION_UNITS)]
Size = Annotated[int, _Words(size, _SIZE_UNITS)]


@dataclass_transform(frozen_default=True)
def section(cls: type[S]) -> type[S]:
    """A frozen dataclass that takes no other keys than its own when it is read from a file."""
    made = dataclass(frozen=True)(cls)
    made.__pydantic_config__ = {"extra": "forbid"}  # pyright: ignore[reportAttributeAccessIssue] - pydantic looks for it
    return made
