"""What a function may ask of a person: a form, which is a flat JSON Schema, or a visit to an address.

The shapes: 2026-07-28, client, elicitation, "Requested Schema" and "URL Mode Elicitation Requests".
"""

from __future__ import annotations

import dataclasses
import datetime
import enum
import types
import typing
import urllib.parse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, cast

METHOD = "elicitation/create"

_PLAIN: dict[Any, dict[str, Any]] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    datetime.date: {"type": "string", "format": "date"},
    datetime.datetime: {"type": "string", "format": "date-time"},
}
_MISSING: Any = object()
_UNIONS = (typing.Union, types.UnionType)
_TOLD = {"type", "title", "description", "default"}
_ALLOWED: dict[str, set[str]] = {
    "string": _TOLD | {"minLength", "maxLength", "format", "enum", "enumNames", "oneOf"},
    "integer": _TOLD | {"minimum", "maximum"},
    "number": _TOLD | {"minimum", "maximum"},
    "boolean": _TOLD,
    "array": _TOLD | {"minItems", "maxItems", "items"},
}
_FORMATS = ("email", "uri", "date", "date-time")


@dataclass(frozen=True, slots=True)
class Question:
    """A form for the person behind the client.

    Attributes:
        message: what is asked, in words.
        schema: names to types (`str`, `int`, `float`, `bool`, a date or a time with a date, a `Literal`, an `Enum`, a list of one of these
            two, any of them `| None`, and `Annotated[T, "a description"]`); or a dataclass with such fields, whose defaults are shown; or the
            JSON Schema of a flat object.
    """

    message: str
    schema: Mapping[str, Any] | type

    def request(self) -> dict[str, Any]:
        """The request to the client.

        Raises:
            TypeError: something in it cannot be asked for.
        """
        return {
            "method": METHOD,
            "params": {"mode": "form", "message": self.message, "requestedSchema": self.form()},
        }

    def form(self) -> dict[str, Any]:
        """The JSON Schema of the form, a flat object.

        Raises:
            TypeError: something in it cannot be asked for.
        """
        kinds = self._kinds()
        if kinds is None:
            form = dict(cast("Mapping[str, Any]", self.schema))
        else:
            defaults = self._defaults()
            fields = {name: _field(name, kind, defaults.get(name, _MISSING)) for name, kind in kinds.items()}
            required = [name for name, kind in kinds.items() if name not in defaults and not _is_optional(kind)]
            form = {"type": "object", "properties": fields, "required": required}
        _check(form)
        return form

    def read(self, content: Mapping[str, Any]) -> Any:
        """What was filled in, as the function gets it: by name, or as an object of the dataclass.

        What the form asked nothing of is dropped, and a default stands where the person left something out.
        """
        kinds = self._kinds()
        fields = self.form()["properties"]
        given = {name: field["default"] for name, field in fields.items() if "default" in field}
        given |= {name: value for name, value in content.items() if name in fields}
        if kinds is None:
            return given
        found = {name: _value(kinds[name], value) for name, value in given.items()}
        if isinstance(self.schema, type):
            return self.schema(
                **{name: found.get(name) for name in kinds if name in found or _is_optional(kinds[name])}
            )
        return found

    def _kinds(self) -> dict[str, Any] | None:
        """The type of each field; None where the schema is JSON Schema already."""
        if isinstance(self.schema, type):
            if not dataclasses.is_dataclass(self.schema):
                raise TypeError(f"`{self.schema.__name__}` is no form; a dataclass or a dict of names and types is")
            hints = typing.get_type_hints(self.schema, include_extras=True)
            return {field.name: hints[field.name] for field in dataclasses.fields(self.schema) if field.init}
        return None if self.schema.get("type") == "object" else dict(self.schema)

    def _defaults(self) -> dict[str, Any]:
        if not isinstance(self.schema, type):
            return {}
        found: dict[str, Any] = {}
        for field in dataclasses.fields(cast("Any", self.schema)):
            if field.default is not dataclasses.MISSING:
                found[field.name] = field.default
            elif field.default_factory is not dataclasses.MISSING:
                found[field.name] = field.default_factory()
        return found


@dataclass(frozen=True, slots=True)
class Visit:
    """An address that the person is asked to open: for what must not pass through the client, such as a password or a payment.

    Attributes:
        message: why, in words.
        url: https, or http on this machine; without a password in it.
    """

    message: str
    url: str

    def request(self) -> dict[str, Any]:
        """The request to the client.

        Raises:
            ValueError: the address cannot be given to a person.
        """
        parts = urllib.parse.urlsplit(self.url)
        is_here = parts.hostname in ("localhost", "127.0.0.1", "::1")
        if not parts.hostname or not (parts.scheme == "https" or (parts.scheme == "http" and is_here)):
            raise ValueError(f"{self.url[:64]!r} cannot be opened by a person; an https address can")
        if parts.username is not None or not (self.url.isascii() and self.url.isprintable() and " " not in self.url):
            raise ValueError("the address has a user, a password, or characters that are no part of one")
        return {"method": METHOD, "params": {"mode": "url", "message": self.message, "url": self.url}}


def _parts(kind: Any) -> tuple[Any, str]:
    """A field's type without what is said around it, and its description."""
    text = ""
    if typing.get_origin(kind) is Annotated:
        kind, *facts = typing.get_args(kind)
        text = next((fact for fact in facts if isinstance(fact, str)), "")
    if typing.get_origin(kind) in _UNIONS:
        arms = [arm for arm in typing.get_args(kind) if arm is not type(None)]
        if len(arms) == 1:
            inner, below = _parts(arms[0])
            return inner, text or below
    return kind, text


def _is_optional(kind: Any) -> bool:
    if typing.get_origin(kind) is Annotated:
        return _is_optional(typing.get_args(kind)[0])
    return typing.get_origin(kind) in _UNIONS and type(None) in typing.get_args(kind)


def _choices(kind: Any) -> tuple[Any, ...]:
    """The values among which a `Literal` or an `Enum` leaves the choice; empty for other types."""
    if typing.get_origin(kind) is Literal:
        return typing.get_args(kind)
    return tuple(kind) if isinstance(kind, type) and issubclass(kind, enum.Enum) else ()


def _text(choice: Any) -> str:
    return str(choice.value if isinstance(choice, enum.Enum) else choice)


def _field(name: str, kind: Any, default: Any) -> dict[str, Any]:
    if isinstance(kind, Mapping):
        return dict(cast("Mapping[str, Any]", kind))
    inner, description = _parts(kind)
    found = _schema(name, inner)
    if description:
        found["description"] = description
    if default is not _MISSING and default is not None:
        found["default"] = _plain(default)
    return found


def _schema(name: str, kind: Any) -> dict[str, Any]:
    if kind in _PLAIN:
        return dict(_PLAIN[kind])
    if _choices(kind):
        return {"type": "string", "enum": [_text(choice) for choice in _choices(kind)]}
    if typing.get_origin(kind) is list and _choices(typing.get_args(kind)[0]):
        return {"type": "array", "items": _schema(name, typing.get_args(kind)[0])}
    raise TypeError(
        f"`{name}`: {kind!r} cannot be asked for; a form has texts, numbers, booleans, dates, choices, and lists of choices"
    )


def _plain(default: Any) -> Any:
    """A default as JSON."""
    if isinstance(default, datetime.date | datetime.datetime):
        return default.isoformat()
    if isinstance(default, list | tuple | set | frozenset):
        return [_text(one) for one in cast("Sequence[Any]", default)]
    return _text(default) if isinstance(default, enum.Enum) else default


def _value(kind: Any, value: Any) -> Any:
    """What the person filled in, as a value of the type that was asked for."""
    if isinstance(kind, Mapping) or value is None:
        return value
    inner, _ = _parts(kind)
    if inner in (datetime.date, datetime.datetime):
        return inner.fromisoformat(value)
    if isinstance(value, list):
        (inner,) = typing.get_args(inner)
        return [_chosen(inner, one) for one in cast("list[Any]", value)]
    return _chosen(inner, value) if _choices(inner) else value


def _chosen(kind: Any, text: Any) -> Any:
    return next((choice for choice in _choices(kind) if _text(choice) == text), text)


def _check(form: Mapping[str, Any]) -> None:
    properties = form.get("properties")
    if not isinstance(properties, Mapping) or not properties:
        raise TypeError("a form has at least one field, under `properties`")
    unknown = set(form) - {"$schema", "type", "title", "description", "properties", "required", "additionalProperties"}
    if unknown:
        raise TypeError(f"a form has no `{sorted(unknown)[0]}`; it is a flat object")
    for name, field in cast("Mapping[str, Any]", properties).items():
        _check_field(name, field)


def _check_field(name: str, field: Any) -> None:
    kind = field.get("type") if isinstance(field, Mapping) else None
    if kind not in _ALLOWED:
        raise TypeError(f"`{name}`: a field of a form is a {', '.join(_ALLOWED)}, not {kind!r}")
    unknown = set(cast("Mapping[str, Any]", field)) - _ALLOWED[kind]
    if unknown:
        raise TypeError(f"`{name}`: `{sorted(unknown)[0]}` cannot stand in a field of a form of type {kind}")
    if field.get("format", "date") not in _FORMATS:
        raise TypeError(f"`{name}`: the formats of a text are {', '.join(_FORMATS)}, not {field['format']!r}")
    if kind == "array":
        items = field.get("items")
        if not isinstance(items, Mapping) or not ("enum" in items or "anyOf" in items):
            raise TypeError(f"`{name}`: an array in a form is a list of choices, `items` with `enum` or `anyOf`")
