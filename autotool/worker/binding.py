"""From the arguments of a call to the positional and keyword arguments of a function."""

from __future__ import annotations

import copy
import difflib
import io
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, cast

from autotool.errors import ArgumentError
from autotool.introspect.signatures import ELLIPSIS_DEFAULT, EMPTY
from autotool.schema.arguments import Arguments, Factory, Field
from autotool.schema.problems import expected, shown

_MUTABLE = (list, dict, set, bytearray)


@dataclass(frozen=True, slots=True)
class Bound:
    """Arguments ready for the call `function(*args, **kwargs)`, and the files that were opened for it."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    files: tuple[Any, ...] = ()

    def close(self) -> None:
        """Close what was opened for this call."""
        for file in self.files:
            with suppress(Exception):
                file.close()


def bind(arguments: Arguments, values: Mapping[str, Any]) -> Bound:
    """Check `values` against the published schema and put each where the function expects it.

    Raises:
        ArgumentError: something is missing, unknown or of the wrong kind; every problem is named.
    """
    if arguments.supplied is not None:
        return _bind_as_supplied(arguments, values)
    found: dict[str, Any] = {}
    extra: dict[str, Any] = {}
    problems: list[str] = []
    given: set[str] = set()
    for name, value in values.items():
        field = arguments.spellings.get(name)
        given.add(field.name if field else name)
        try:
            if field is not None:
                _take(field, name, value, found, problems)
            elif arguments.extra is not None and not any(name == other.name for other in arguments.fields):
                extra[name] = arguments.extra.reader.read(value, name)
            else:
                problems.append(_unknown(name, arguments))
        except ArgumentError as error:
            problems.extend(error.problems)
    problems.extend(
        f"`{field.wire_name}`: is required and was not given{_misspelt(field, extra)}; expected {expected(field.reader.schema)}"
        for field in arguments.fields
        if field.default is EMPTY and field.kind != "var_positional" and field.name not in given
    )
    if problems:
        raise ArgumentError(problems)
    args, kwargs = _place(arguments, found)
    kwargs.update(extra)
    files = tuple(value for value in (*args, *kwargs.values()) if isinstance(value, io.IOBase))
    return Bound(args, kwargs, files)


def _bind_as_supplied(arguments: Arguments, values: Mapping[str, Any]) -> Bound:
    """Arguments that the author's own schema describes reach the function as they came."""
    assert arguments.supplied is not None  # checked by the caller
    problems = arguments.supplied.problems(values)
    if problems:
        raise ArgumentError(problems)
    found = {field.name: values[name] for name, field in arguments.spellings.items() if name in values}
    args, kwargs = _place(arguments, found)
    if arguments.extra is not None:
        kwargs.update({name: value for name, value in values.items() if name not in arguments.spellings})
    return Bound(args, kwargs)


def _take(field: Field, name: str, value: Any, found: dict[str, Any], problems: list[str]) -> None:
    if value is None and field.null_is_omitted:
        return
    if field.name in found:
        problems.append(f"`{name}`: is given twice, also as `{field.wire_name}`")
        return
    if field.kind == "var_positional":
        found[field.name] = _items(field, name, value)
        return
    try:
        found[field.name] = field.reader.read(value, name)
    except ArgumentError:
        # A null that a client sent as text, like any other JSON value.
        if not (field.null_is_omitted and value == "null"):
            raise


def _items(field: Field, name: str, value: Any) -> list[Any]:
    value = _array(value)
    if not isinstance(value, list):
        raise ArgumentError([f"`{name}`: expected an array, got {shown(value)}"])
    items: list[Any] = []
    problems: list[str] = []
    for place, item in enumerate(cast("list[Any]", value)):
        try:
            items.append(field.reader.read(item, f"{name}[{place}]"))
        except ArgumentError as error:
            problems.extend(error.problems)
    if problems:
        raise ArgumentError(problems)
    return items


def _array(value: Any) -> Any:
    """A JSON array that a client sent as text."""
    if isinstance(value, str) and value.lstrip().startswith("["):
        from pydantic_core import from_json

        with suppress(ValueError):
            return from_json(value, allow_inf_nan=False)
    return value


def _misspelt(field: Field, extra: Mapping[str, Any]) -> str:
    close = difflib.get_close_matches(field.wire_name, extra, n=1)
    return f" (`{close[0]}` was)" if close else ""


def _unknown(name: str, arguments: Arguments) -> str:
    names = [field.wire_name for field in arguments.fields if not field.hidden]
    folded = {other.casefold(): other for other in names}
    close = difflib.get_close_matches(name.casefold(), list(folded), n=1, cutoff=0.5)
    inside = [
        other
        for other in names
        if min(len(other), len(name)) > 2
        and (other.casefold() in name.casefold() or name.casefold() in other.casefold())
    ]
    if close or inside:
        return f"`{name}`: is not known; did you mean `{folded[close[0]] if close else inside[0]}`?"
    known = ", ".join(f"`{other}`" for other in names)
    return f"`{name}`: is not known; " + (f"there are {known}" if known else "this tool takes no arguments")


def _place(arguments: Arguments, found: Mapping[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Positional where the signature demands it, by keyword elsewhere."""
    args: list[Any] = []
    kwargs: dict[str, Any] = {}
    rest = next((field for field in arguments.fields if field.kind == "var_positional"), None)
    spread = bool(rest and found.get(rest.name))
    positional = _positional(arguments, found, spread=spread)
    args.extend(value for _, value in positional)
    placed = {field.name for field, _ in positional}
    if rest is not None and spread:
        args.extend(found[rest.name])
    for field in arguments.fields:
        if field.name in placed or field.kind == "var_positional":
            continue
        if field.name in found:
            kwargs[field.name] = found[field.name]
        elif field.fills_default:
            kwargs[field.name] = fresh(field.default)
    return tuple(args), kwargs


def fresh(default: Any) -> Any:
    """A default of its own for one call, so that no call sees what another one did to it."""
    if isinstance(default, Factory):
        return default.make()
    if isinstance(default, _MUTABLE):
        try:
            return copy.deepcopy(default)
        except Exception:
            return copy.copy(default)
    return default


def _positional(arguments: Arguments, found: Mapping[str, Any], *, spread: bool) -> list[tuple[Field, Any]]:
    """Positional-only values up to the last one given, and all that stands before `*args` when that is given."""
    wanted = ("positional_only", "positional_or_keyword") if spread else ("positional_only",)
    candidates = [field for field in arguments.fields if field.kind in wanted]
    given = [place for place, field in enumerate(candidates) if field.name in found or field.fills_default]
    last = len(candidates) if spread else (max(given) + 1 if given else 0)
    placed: list[tuple[Field, Any]] = []
    for field in candidates[:last]:
        if field.name in found:
            placed.append((field, found[field.name]))
        elif field.default is ELLIPSIS_DEFAULT:
            later = candidates[last - 1].wire_name
            raise ArgumentError([f"`{field.wire_name}`: must be given too when `{later}` is given"])
        else:
            placed.append((field, fresh(field.default)))
    return placed
