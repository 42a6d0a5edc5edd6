"""JSON Schema from what pydantic knows of a type."""

from __future__ import annotations

from typing import Any

import pydantic
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaMode, JsonSchemaValue
from pydantic_core import CoreSchema

from autotool.schema.dialect import Schema, tidy


class Generator(GenerateJsonSchema):
    """pydantic's generator, silent about defaults that JSON cannot hold (they are left out)."""

    def emit_warning(self, kind: Any, detail: str) -> None:
        """Say nothing: a default that is left out is no fault of the person who reads the log."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        """Never: a title made from a name says nothing that the name does not."""
        return False

    def encode_default(self, dft: Any) -> Any:
        """A default as JSON, or the missing one where JSON has no word for it."""
        return super().encode_default(dft)

    def enum_schema(self, schema: Any) -> JsonSchemaValue:
        """An enum by its values, without the docstring of `enum.Enum` as its description."""
        result = super().enum_schema(schema)
        result.pop("description", None)
        return result


def from_core(core: CoreSchema, mode: JsonSchemaMode) -> Schema:
    """The schema that pydantic gives for `core`, tidied."""
    return tidy(Generator(by_alias=True).generate(core, mode))


def schema_of(annotation: Any, mode: JsonSchemaMode) -> Schema:
    """The tidied schema of a type that pydantic can read."""
    return from_core(pydantic.TypeAdapter(annotation).core_schema, mode)
