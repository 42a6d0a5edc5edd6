"""What `[tool.NAME] params` says of parameters: made into the tool's schema, and kept to in every call."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, cast

from pydantic_core import SchemaError, SchemaValidator, ValidationError, core_schema

from autotool.config import OverrideSection
from autotool.errors import ConfigError
from autotool.model import Overrides, Parameter, ToolSpec
from autotool.policy.tokens import secret_kind
from autotool.schema import mirrored, naming
from autotool.schema.problems import expected, shown

_KEYWORDS = {
    "minimum": ("minimum", ("integer", "number")),
    "maximum": ("maximum", ("integer", "number")),
    "min_length": ("minLength", ("string",)),
    "max_length": ("maxLength", ("string",)),
    "pattern": ("pattern", ("string",)),
    "min_items": ("minItems", ("array",)),
    "max_items": ("maxItems", ("array",)),
}
"""Each bound of the config: its JSON Schema keyword, and the types that it bounds."""

_LOWER = ("minimum", "minLength", "minItems")


def overridden(tool: ToolSpec, sections: Mapping[str, OverrideSection]) -> ToolSpec:
    """The tool with its parameters as the config has them.

    Raises:
        ConfigError: there is no such parameter, or what is said of it contradicts itself or the code; names it.
    """
    if not sections:
        return tool
    work = _Work(tool)
    for name, section in sections.items():
        work.take(name, section)
    return work.done()


def shape(tool: ToolSpec, arguments: Mapping[str, Any]) -> tuple[Mapping[str, Any], list[str]]:
    """The arguments that reach the code, and a line for each that the config excludes."""
    own = tool.overrides
    if own is None:
        return arguments, []
    schema = tool.candidate.input_schema
    problems = [_unknown(name, schema) for name in arguments if _is_withheld(name, own, schema)]
    for name, value in arguments.items():
        if name in own.bounds:
            problems += _excluded(name, value, own.bounds[name])
    kept = dict(arguments)
    for name, value in own.defaults.items():
        if kept.get(name) is None:
            kept[name] = value
    kept.update(own.fixed)
    return kept, problems


def _is_withheld(name: str, own: Overrides, schema: Mapping[str, Any]) -> bool:
    # A function that takes any name could be reached by a spelling that only its own code knows.
    return name in own.withheld or (schema.get("additionalProperties") is not False and not naming.is_legal(name))


def _unknown(name: str, schema: Mapping[str, Any]) -> str:
    known = ", ".join(f"`{other}`" for other in schema.get("properties", {}))
    return f"`{name}`: is not known; " + (f"there are {known}" if known else "this tool takes no arguments")


def _excluded(name: str, value: Any, schema: Mapping[str, Any]) -> list[str]:
    types = _types(schema)
    read = _repaired(value, types)
    if read is None or _holds(read, schema):
        return []
    return [f"`{name}`: expected {expected(schema)}, got {shown(value)}"]


def _repaired(value: Any, types: Sequence[str]) -> Any:
    """A value as the code's own reader takes it: JSON sent as a text, where no text is expected."""
    if isinstance(value, str) and types and "string" not in types:
        try:
            return json.loads(value)
        except ValueError:
            return value
    return value


def _holds(value: Any, schema: Mapping[str, Any]) -> bool:
    """Whether a value keeps to the bounds; what is of another type is for the code's own reader to refuse."""
    if "anyOf" in schema:
        return any(_is_of(value, arm) and _holds(value, arm) for arm in schema["anyOf"]) or not any(
            _is_of(value, arm) for arm in schema["anyOf"]
        )
    if "enum" in schema and not isinstance(value, list | dict) and value not in schema["enum"]:
        return False
    if isinstance(value, bool):
        return True
    if isinstance(value, int | float):
        return schema.get("minimum", value) <= value <= schema.get("maximum", value)
    if isinstance(value, str):
        fits = schema.get("minLength", 0) <= len(value) <= schema.get("maxLength", len(value))
        return fits and ("pattern" not in schema or _matches(schema["pattern"], value))
    if isinstance(value, list):
        return _list_holds(cast("list[Any]", value), schema)
    return True


def _list_holds(values: list[Any], schema: Mapping[str, Any]) -> bool:
    choices = schema.get("items", {}).get("enum")
    fits = schema.get("minItems", 0) <= len(values) <= schema.get("maxItems", len(values))
    return fits and (choices is None or all(one in choices for one in values))


def _is_of(value: Any, schema: Mapping[str, Any]) -> bool:
    kinds: dict[str, Any] = {"string": str, "integer": int, "number": (int, float), "array": list, "object": dict}
    return any(isinstance(value, kinds.get(kind, ())) for kind in _types(schema)) and not isinstance(value, bool)


def _types(schema: Mapping[str, Any]) -> list[str]:
    """The JSON types that a schema names, at its top and in its alternatives; empty when it names none."""
    found = schema.get("type")
    own = [found] if isinstance(found, str) else list(cast("Iterable[str]", found or ()))
    return own + [kind for arm in schema.get("anyOf", ()) for kind in _types(arm)]


@lru_cache(maxsize=1024)
def _pattern(pattern: str) -> SchemaValidator:
    # This engine takes time in proportion to the text, whatever the pattern.
    return SchemaValidator(core_schema.str_schema(pattern=pattern))


def _matches(pattern: str, value: str) -> bool:
    try:
        _pattern(pattern).validate_python(value)
    except ValidationError:
        return False
    return True


class _Work:
    """One tool's parameters on their way through the sections."""

    def __init__(self, tool: ToolSpec) -> None:
        self._tool = tool
        schema = tool.candidate.input_schema
        self._properties: dict[str, Any] = dict(schema.get("properties", {}))
        self._required: list[str] = list(schema.get("required", ()))
        self._parameters = {one.wire_name: one for one in tool.candidate.parameters}
        self._fixed: dict[str, Any] = {}
        self._defaults: dict[str, Any] = {}
        self._withheld: set[str] = set()
        self._bounds: dict[str, dict[str, Any]] = {}

    def take(self, name: str, section: OverrideSection) -> None:
        wire, where = self._find(name), f"`[tool.{self._tool.name}] params.{name}`"
        is_withheld = section.hidden or section.fixed is not None
        if is_withheld and (section.default is not None or section.header or _given(section)):
            raise ConfigError(
                f"{where}: what is hidden or fixed has no default, header or bounds", hint="Say one of them."
            )
        if is_withheld:
            self._withhold(wire, where, section)
            return
        schema = dict(self._properties[wire])
        if section.description is not None:
            schema["description"] = section.description
        schema = self._bounded(wire, where, schema, section)
        if section.default is not None:
            self._check(where, "default", section.default, schema)
            schema["default"] = self._defaults[wire] = section.default
            self._required = [one for one in self._required if one != wire]
        if section.header:
            _check_header(where, name, section)
            schema[mirrored.KEY] = section.header
        self._put(wire, schema)

    def done(self) -> ToolSpec:
        schema = {**self._tool.candidate.input_schema, "properties": self._properties}
        schema.pop("required", None)
        if self._required:
            schema["required"] = self._required
        broken = mirrored.problem(schema)
        if broken:
            raise ConfigError(f"`[tool.{self._tool.name}]`: {broken}")
        candidate = replace(self._tool.candidate, input_schema=schema, parameters=tuple(self._parameters.values()))
        own = Overrides(self._fixed, self._defaults, frozenset(self._withheld), self._bounds)
        return replace(self._tool, candidate=candidate, overrides=own)

    def _find(self, name: str) -> str:
        """The name in the schema of the parameter that is meant."""
        if name in self._properties:
            return name
        for wire, parameter in self._parameters.items():
            if parameter.name == name and wire in self._properties:
                return wire
        close = difflib.get_close_matches(name, list(self._properties), n=2)
        near = " or ".join(f"`{one}`" for one in close or list(self._properties)[:8])
        raise ConfigError(
            f"`[tool.{self._tool.name}] params.{name}` names a parameter that does not exist",
            hint=f"Did you mean {near}?" if near else "The tool takes no arguments.",
        )

    def _spellings(self, wire: str) -> set[str]:
        parameter = self._parameters.get(wire)
        return {wire} | ({parameter.name} if parameter else set())

    def _withhold(self, wire: str, where: str, section: OverrideSection) -> None:
        schema = self._properties.pop(wire)
        if section.fixed is not None:
            self._check(where, "fixed", section.fixed, schema)
            self._fixed[wire] = section.fixed
        elif wire in self._required:
            raise ConfigError(f"{where}: it is required, so that nothing could call the tool", hint="Say `fixed = …`.")
        self._required = [one for one in self._required if one != wire]
        self._withheld |= self._spellings(wire)
        parameter = self._parameters.get(wire)
        if parameter is not None:
            why = "the config fills it in" if section.fixed is not None else "the config hides it"
            self._parameters[wire] = replace(parameter, schema={}, required=False, hidden=why)

    def _bounded(self, wire: str, where: str, schema: dict[str, Any], section: OverrideSection) -> dict[str, Any]:
        types = _types(schema)
        bounds: dict[str, Any] = {}
        for key, value in _given(section).items():
            keyword, kinds = _KEYWORDS[key]
            if types and not set(types) & set(kinds):
                raise ConfigError(f"{where}: `{key}` does not bound a value of type {' or '.join(types)}")
            bounds[keyword] = int(value) if isinstance(value, float) and value.is_integer() else value
        if "pattern" in bounds:
            _check_pattern(where, bounds["pattern"])
        for keyword, value in bounds.items():
            schema = _tightened(where, schema, keyword, value, _KEYWORD_TYPES[keyword])
        if section.choices:
            schema = self._chosen(where, schema, list(section.choices))
        if bounds or section.choices:
            for spelling in self._spellings(wire):
                self._bounds[spelling] = schema
        return schema

    def _chosen(self, where: str, schema: dict[str, Any], choices: list[Any]) -> dict[str, Any]:
        inner = dict(schema.get("items", {})) if schema.get("type") == "array" else schema
        for value in choices:
            self._check(where, "choices", value, inner)
        if schema.get("type") == "array":
            return {**schema, "items": {**inner, "enum": choices}}
        return {**schema, "enum": choices}

    def _check(self, where: str, key: str, value: Any, schema: Mapping[str, Any]) -> None:
        """A value of the config's that the code would refuse is an error now, and not at every call."""
        import jsonschema

        root = {**schema, "$defs": self._tool.candidate.input_schema.get("$defs", {})}
        if not jsonschema.Draft202012Validator(root).is_valid(_plain(value)):
            raise ConfigError(f"{where}: `{key}`: expected {expected(schema)}, not {shown(value)}")

    def _put(self, wire: str, schema: dict[str, Any]) -> None:
        self._properties[wire] = schema
        parameter = self._parameters.get(wire)
        if parameter is not None:
            self._parameters[wire] = _told(parameter, schema, is_required=wire in self._required)


_KEYWORD_TYPES = dict(_KEYWORDS.values())


def _told(parameter: Parameter, schema: dict[str, Any], *, is_required: bool) -> Parameter:
    description = str(schema.get("description", parameter.description))
    return replace(parameter, schema=schema, description=description, required=is_required)


def _given(section: OverrideSection) -> dict[str, Any]:
    return {key: getattr(section, key) for key in _KEYWORDS if getattr(section, key) is not None}


def _plain(value: Any) -> Any:
    return list(cast("tuple[Any, ...]", value)) if isinstance(value, tuple) else value


def _tightened(where: str, schema: dict[str, Any], keyword: str, value: Any, kinds: tuple[str, ...]) -> dict[str, Any]:
    if "anyOf" in schema:
        arms = [
            _tightened(where, arm, keyword, value, kinds) if set(_types(arm)) & set(kinds) else arm
            for arm in schema["anyOf"]
        ]
        return {**schema, "anyOf": arms}
    present = schema.get(keyword)
    is_looser = present is not None and (
        (present > value if keyword in _LOWER else present < value) if keyword != "pattern" else present != value
    )
    if is_looser:
        raise ConfigError(
            f"{where}: the code itself demands {keyword} {present!r}, and {value!r} would loosen it",
            hint="The config can only tighten what the code takes.",
        )
    return {**schema, keyword: value}


def _check_pattern(where: str, pattern: str) -> None:
    try:
        _pattern(pattern)
    except SchemaError:
        raise ConfigError(
            f"{where}: {pattern!r} is no regular expression that can be matched in linear time",
            hint="Look-arounds and back references cannot.",
        ) from None


def _check_header(where: str, name: str, section: OverrideSection) -> None:
    if secret_kind(name) and not section.force:
        raise ConfigError(
            f"{where}: its name looks secret, and headers are logged by what stands between",
            hint="Say `force = true` if it is none.",
        )
