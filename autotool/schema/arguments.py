"""The arguments of one callable: the schema that is published, and how each value is read and placed."""

from __future__ import annotations

import dataclasses
import enum
import math
import typing
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, cast

import typing_extensions
from pydantic_core import PydanticUndefined, from_json, to_json

from autotool.context import is_context
from autotool.errors import SignatureError
from autotool.introspect.signatures import ELLIPSIS_DEFAULT, EMPTY, RawParameter, RawSignature
from autotool.marks import Header
from autotool.model import Parameter, ParameterKind, TypeOrigin
from autotool.schema import problems, unions
from autotool.schema.naming import wire_parameter_name
from autotool.schema.notjson import NotJson, importable
from autotool.schema.readers import Reader, reader_for

if typing.TYPE_CHECKING:
    from autotool.schema.supplied import SuppliedSchema

_EVIDENT_DEFAULTS = (bool, int, float, str, bytes, list, dict, set, frozenset, tuple)
_MUTABLE = (list, dict, set, bytearray)
_OPEN = reader_for(Any)


@dataclass(frozen=True, slots=True)
class Field:
    """One parameter that a call may fill.

    Attributes:
        name: the name in Python; `wire_name` the one in the schema.
        reader: reads a value of it (of one item, for `*args` and `**kwargs`).
        default: the live default, `EMPTY` where it is required, or a `Factory`.
        null_is_omitted: whether a given null means that the argument was left out.
        fills_default: whether `default` is passed when the argument is left out: the function's own would be a
            pydantic `Field`, or a mutable that calls would share.
        hidden: whether it is not offered; it then only holds its place.
    """

    name: str
    wire_name: str
    kind: ParameterKind
    reader: Reader
    default: Any = EMPTY
    null_is_omitted: bool = False
    fills_default: bool = False
    hidden: bool = False


@dataclass(frozen=True, slots=True)
class Factory:
    """A default that is made anew for each call."""

    make: typing.Callable[[], Any]


@dataclass(frozen=True, slots=True)
class Arguments:
    """What a callable takes.

    Attributes:
        json_schema: JSON Schema 2020-12 of the `arguments` object.
        parameters: every parameter in order, hidden ones included, for people.
        fields: in the order of the signature, hidden ones included, without `**kwargs`.
        extra: the `**kwargs` field, or None.
        spellings: every accepted name, wire name and original, to its field.
        warnings: what a person should know, one sentence each.
        supplied: the author's own schema, which then stands in the place of what the signature says.
        context: the name of the parameter that gets the call's `Context`, or "".
    """

    json_schema: dict[str, Any]
    parameters: tuple[Parameter, ...]
    fields: tuple[Field, ...]
    extra: Field | None = None
    spellings: Mapping[str, Field] = dataclasses.field(default_factory=dict[str, Field])
    warnings: tuple[str, ...] = ()
    supplied: SuppliedSchema | None = None
    context: str = ""


@dataclass(frozen=True, slots=True)
class Words:
    """What the docstring says of one parameter: `annotation` is a typing object, or `EMPTY`."""

    description: str = ""
    annotation: Any = EMPTY


@dataclass(frozen=True, slots=True)
class _Facts:
    """What `Annotated[...]` and `Field(...)` say beside the type."""

    annotation: Any
    description: str = ""
    alias: str = ""
    default: Any = EMPTY
    header: Header | None = None


def build(signature: RawSignature, words: Mapping[str, Words], subject: str) -> Arguments:
    """Make the arguments of the callable that people call `subject`.

    Raises:
        SignatureError: a required parameter has a type that JSON cannot carry; names it.
    """
    fields: list[Field] = []
    shown: list[Parameter] = []
    warnings: list[str] = []
    spellings: dict[str, Field] = {}
    extra: Field | None = None
    context = ""
    for raw in signature.parameters:
        if is_context(raw.annotation) and raw.kind in ("positional_or_keyword", "keyword_only"):
            context = raw.name
            continue
        facts = _facts(raw)
        field, parameter = _read(raw, facts, words.get(raw.name, Words()), subject, warnings)
        if any(other.wire_name == field.wire_name for other in fields):
            field = dataclasses.replace(field, wire_name=wire_parameter_name(f"{field.wire_name}_{len(fields)}"))
            parameter = dataclasses.replace(parameter, wire_name=field.wire_name)
        shown.append(parameter)
        if raw.kind == "var_keyword":
            extra = None if field.hidden else field
            continue
        fields.append(field)
        if not field.hidden:
            spellings.setdefault(facts.alias or field.name, field)
    for field in fields:
        if not field.hidden:
            spellings.setdefault(field.name, field)
            spellings[field.wire_name] = field
    schema = _object_schema([field for field in fields if not field.hidden], shown, extra)
    warnings.extend(_not_offered(shown, subject))
    return Arguments(schema, tuple(shown), tuple(fields), extra, spellings, tuple(warnings), context=context)


def _not_offered(shown: Sequence[Parameter], subject: str) -> list[str]:
    """One sentence for each reason, naming every parameter that is left out for it."""
    by_reason: dict[str, list[str]] = {}
    for parameter in shown:
        if parameter.hidden:
            by_reason.setdefault(parameter.hidden, []).append(f"`{parameter.name}`")
    return [
        f"{subject}: {', '.join(names)} {'is' if len(names) == 1 else 'are'} not offered, because {why}"
        for why, names in by_reason.items()
    ]


def _read(raw: RawParameter, facts: _Facts, words: Words, subject: str, warnings: list[str]) -> tuple[Field, Parameter]:
    default = facts.default
    annotation, origin = _typed(raw, facts, words, default)
    if raw.unresolved:
        warnings.append(
            f"{subject}: the type of `{raw.name}` (`{raw.unresolved}`) cannot be resolved, so any value is accepted"
        )
    wire_name = wire_parameter_name(facts.alias or raw.name)
    required = default is EMPTY and raw.kind not in ("var_positional", "var_keyword")
    description = facts.description or words.description
    text = "" if annotation in (EMPTY, Any) else problems.type_text(annotation)
    try:
        reader, null_is_omitted = _reader(annotation, raw, default)
    except NotJson as why:
        if required:
            raise SignatureError(
                f"`{subject}`: the required parameter `{raw.name}` has a type that JSON cannot carry: {why}"
            ) from why
        field = Field(raw.name, wire_name, raw.kind, _OPEN, default, hidden=True)
        return field, Parameter(raw.name, wire_name, raw.kind, False, {}, description, text, origin, str(why))
    fills = is_field(raw.default) or isinstance(default, _MUTABLE)
    field = Field(
        raw.name, wire_name, raw.kind, reader, default, null_is_omitted, fills_default=fills and default is not EMPTY
    )
    schema = _published(field, raw, description)
    if facts.header is not None:
        schema.update(facts.header.keywords)
    return field, Parameter(raw.name, wire_name, raw.kind, required, schema, description, text, origin)


def is_field(value: Any) -> bool:
    """Whether `value` is a pydantic `Field(...)`; pydantic itself is not imported to tell."""
    return type(value).__name__ == "FieldInfo" and type(value).__module__ == "pydantic.fields"


def _facts(raw: RawParameter) -> _Facts:
    """Take `Annotated[T, "text", Field(...), Doc(...)]` and a `Field(...)` default apart."""
    annotation, description, alias, default = raw.annotation, "", "", raw.default
    extra: list[Any] = []
    if typing_extensions.get_origin(annotation) is Annotated:
        annotation, *extra = typing_extensions.get_args(raw.annotation)
    if is_field(raw.default):
        extra.append(raw.default)
        default = _field_default(raw.default)
    for fact in extra:
        description = _description(fact) or description
        if is_field(fact):
            alias = alias or _alias(fact)
            default = _field_default(fact) if default is EMPTY else default
    header = next((fact for fact in extra if isinstance(fact, Header)), None)
    kept = [_without_alias(fact) for fact in extra if not isinstance(fact, str | typing_extensions.Doc | Header)]
    if kept and annotation is not EMPTY:
        annotation = Annotated[(annotation, *kept)]  # pyright: ignore[reportInvalidTypeForm] - built at run time
    return _Facts(annotation, description, alias, default, header)


def _description(fact: Any) -> str:
    if isinstance(fact, str):
        return fact
    if isinstance(fact, typing_extensions.Doc):
        return fact.documentation
    return str(fact.description or "") if is_field(fact) else ""


def _alias(fact: Any) -> str:
    for alias in (fact.validation_alias, fact.alias):
        if isinstance(alias, str):
            return alias
    return ""


def _without_alias(fact: Any) -> Any:
    """Constraints only: the name, the default and the description are published by autotool itself."""
    if not is_field(fact):
        return fact
    bare = type(fact)()
    bare.metadata = fact.metadata
    return bare


def _field_default(field: Any) -> Any:
    if field.default is not PydanticUndefined and field.default is not ...:
        return field.default
    if field.default_factory is not None:
        return Factory(cast("typing.Callable[[], Any]", field.default_factory))
    return EMPTY


def _typed(raw: RawParameter, facts: _Facts, words: Words, default: Any) -> tuple[Any, TypeOrigin]:
    """The type and where it comes from: annotation or stub, then the docstring, then the default."""
    if facts.annotation is not EMPTY and not (facts.annotation is Any and raw.origin in ("stub", "typeshed")):
        return facts.annotation, raw.origin
    if raw.unresolved:
        return Any, "open"
    if words.annotation is not EMPTY:
        return words.annotation, "docstring"
    if isinstance(default, _EVIDENT_DEFAULTS) and raw.kind not in ("var_positional", "var_keyword"):
        return type(default) if type(default) in _EVIDENT_DEFAULTS else _plain_base(default), "default"
    if _is_enum(default):
        return type(default), "default"
    return Any, "open"


def _is_enum(value: Any) -> bool:

    return isinstance(value, enum.Enum)


def _plain_base(default: Any) -> Any:
    return type(default) if _is_enum(default) else next(base for base in _EVIDENT_DEFAULTS if isinstance(default, base))


def _reader(annotation: Any, raw: RawParameter, default: Any) -> tuple[Reader, bool]:
    if raw.kind in ("var_positional", "var_keyword"):
        return reader_for(annotation), False
    optional = default is not EMPTY
    if optional and importable.get():
        # Where a name is only possible, not demanded, none is taken.
        token = importable.set(())
        try:
            return _reader(annotation, raw, default)
        finally:
            importable.reset(token)
    if optional and (default is None or default is ELLIPSIS_DEFAULT):
        plain = unions.without_none(annotation)
        reader = reader_for(plain)
        return reader, not (reader.is_open and default is not None)
    reader = reader_for(annotation)
    return reader, optional and not reader.admits_none


def _published(field: Field, raw: RawParameter, description: str) -> dict[str, Any]:
    schema = {key: value for key, value in field.reader.schema.items() if key != "$defs"}
    if raw.kind == "var_positional":
        schema = {"type": "array", "items": schema}
    note = str(schema.pop("description", ""))
    parts = [description, "" if note in description else note]
    if any(parts):
        schema["description"] = " ".join(part for part in parts if part)
    default = json_default(field)
    if default is not EMPTY:
        schema["default"] = default
    return schema


def json_default(field: Field) -> Any:
    """The default as JSON, or `EMPTY` where there is none that is true and that the schema admits."""
    default = field.default
    if default in (None, EMPTY, ELLIPSIS_DEFAULT) if not _is_array(default) else True:
        return EMPTY
    if isinstance(default, Factory) or (isinstance(default, float) and not math.isfinite(default)):
        return EMPTY
    value = _as_json(default)
    if value is EMPTY:
        return EMPTY
    if field.reader.is_open:
        return value if isinstance(default, bool | int | float | str | list | dict | tuple) else EMPTY
    try:
        field.reader.read(value, field.name)
    except Exception:
        return EMPTY
    return value


def _is_array(value: Any) -> bool:
    return type(value).__module__.partition(".")[0] in ("numpy", "pandas", "polars")


def _as_json(value: Any) -> Any:
    if _is_enum(value):
        value = value.value
    if isinstance(value, bytes | bytearray):
        return EMPTY
    try:
        parsed = from_json(to_json(value, inf_nan_mode="strings"))
    except Exception:
        return EMPTY
    if isinstance(value, float | int | str | bool):
        return parsed
    return EMPTY if _mentions_non_finite(value) else parsed


def _mentions_non_finite(value: Any) -> bool:
    if isinstance(value, float):
        return not math.isfinite(value)
    if isinstance(value, dict):
        return any(_mentions_non_finite(item) for item in cast("dict[Any, Any]", value).values())
    return isinstance(value, list | tuple) and any(_mentions_non_finite(item) for item in cast("Sequence[Any]", value))


def _object_schema(fields: Sequence[Field], shown: Sequence[Parameter], extra: Field | None) -> dict[str, Any]:
    published = {parameter.name: parameter.schema for parameter in shown}
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {field.wire_name: published[field.name] for field in fields},
    }
    required = [field.wire_name for field in fields if field.default is EMPTY and field.kind != "var_positional"]
    if required:
        schema["required"] = required
    schema["additionalProperties"] = False
    if extra is not None:
        rest = {key: value for key, value in published[extra.name].items() if key != "default"}
        schema["additionalProperties"] = rest or True
    definitions: dict[str, Any] = {}
    for field in [*fields, *([extra] if extra else [])]:
        definitions.update(field.reader.schema.get("$defs", {}))
    if definitions:
        schema["$defs"] = definitions
    return schema
