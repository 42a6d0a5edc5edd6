"""Types that pydantic reads: models, dates, constraints, and everything else that is not plain."""

from __future__ import annotations

from typing import Any, cast

import pydantic
from pydantic_core import SchemaValidator

from autotool.schema import custom, problems
from autotool.schema.forms import OPEN, Form
from autotool.schema.generator import from_core
from autotool.schema.notjson import NotJson
from autotool.schema.types import wire
from autotool.schema.unions import admits_none, arms_of, union_of


def form_of(annotation: Any) -> Form:
    """The form of a type.

    Raises:
        NotJson: JSON cannot carry a value of it.
    """
    wired = wire(annotation)
    if wired is Any:
        return OPEN
    try:
        adapter = _adapter(wired)
        schema = from_core(adapter.core_schema, "validation")
        validator = cast("SchemaValidator", adapter.validator)
    except NotJson:
        raise
    except Exception as error:
        first = str(error).partition("\n")[0]
        raise NotJson(f"`{problems.type_text(annotation)}` cannot be read from JSON ({first})") from error
    note = custom.described(wired)
    if note and "description" not in schema:
        schema = {**schema, **note}
    return Form(schema, validator, admits_none(wired))


def _adapter(wired: Any) -> pydantic.TypeAdapter[Any]:
    """pydantic's adapter; a union without the arms that pydantic cannot read, if any is left."""
    try:
        return pydantic.TypeAdapter(wired)
    except Exception:
        arms = list(arms_of(wired))
        kept = [arm for arm in arms if _is_readable(arm)]
        if not 0 < len(kept) < len(arms):
            raise
        return pydantic.TypeAdapter(union_of(kept))


def _is_readable(arm: Any) -> bool:
    try:
        pydantic.TypeAdapter(arm)
    except Exception:
        return False
    return True
