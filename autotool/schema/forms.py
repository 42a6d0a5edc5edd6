"""How values of one type are published and checked."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from pydantic_core import SchemaValidator


@dataclass(frozen=True, slots=True)
class Form:
    """One type as JSON.

    Attributes:
        schema: its JSON Schema.
        validator: reads a value from JSON; None where every value will do.
        admits_none: whether null is one of its values.
        exact: Python types whose values need no check at all.
    """

    schema: dict[str, Any] = field(default_factory=dict[str, Any])
    validator: SchemaValidator | None = None
    admits_none: bool = False
    exact: frozenset[type] = frozenset()


OPEN = Form(admits_none=True)
"""Any JSON value."""
