"""Input schemas that an author wrote by hand: checked once, published as they are, and held calls to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import jsonschema
from jsonschema.protocols import Validator
from jsonschema.validators import validator_for

from autotool.errors import SignatureError
from autotool.schema import dialect


class SuppliedSchema:
    """An author's own schema of the arguments."""

    def __init__(self, schema: Mapping[str, Any], subject: str) -> None:
        """Check the schema.

        Raises:
            SignatureError: it is no JSON Schema of an object, or refers to something outside itself.
        """
        plain = dict(schema)
        self._refuse_remote(plain, subject)
        cls = validator_for(plain, default=jsonschema.Draft202012Validator)
        try:
            cls.check_schema(plain)
        except jsonschema.SchemaError as error:
            raise SignatureError(f"`{subject}`: its `input_schema` is not valid: {error.message}") from error
        if plain.get("type") != "object":
            raise SignatureError(f'`{subject}`: its `input_schema` must have `"type": "object"`')
        self._validator: Validator = cls(plain)

    @staticmethod
    def _refuse_remote(schema: dict[str, Any], subject: str) -> None:
        outside: list[str] = []
        dialect.walk(
            schema,
            lambda node: outside.append(str(node["$ref"])) if not str(node.get("$ref", "#")).startswith("#") else None,
        )
        if outside:
            # Following it would let a schema make this server fetch whatever it names.
            raise SignatureError(f"`{subject}`: its `input_schema` refers to `{outside[0]}`, outside itself")

    def problems(self, arguments: Mapping[str, Any]) -> list[str]:
        """One sentence for each thing that is wrong; empty when the arguments fit."""
        found = sorted(
            self._validator.iter_errors(dict(arguments)), key=lambda error: list(map(str, error.absolute_path))
        )
        return [f"`{'.'.join(map(str, error.absolute_path)) or 'arguments'}`: {error.message}" for error in found[:20]]
