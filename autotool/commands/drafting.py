"""From the form of a program's command line to the `[command.*]` section that says the same."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from autotool.commands.form import UNSET, Form, Operand, Option, Style, Value
from autotool.config import CommandSection, ParameterSection

STOPS: dict[Style, str] = {
    "getopt": "--",
    "posix": "--",
    "git": "--end-of-options",
    "argparse": "--",
    "click": "--",
    "other": "",
}
"""The word that ends the options, by the way in which a program takes its words apart."""
_ALWAYS_STOPPED: tuple[Style, ...] = ("argparse", "click")
"""Programs of which `--` before operands is certain, and needed: an option with any number of values would swallow them."""

_TAKES_ANY_WORD: tuple[Style, ...] = ("getopt", "posix", "git", "click")
"""Programs that take the word behind an option for its value, whatever it looks like."""


@dataclass
class Draft:
    """A section in the making, and the defaults that the program itself has (shown to callers, never sent)."""

    run: list[Any] = field(default_factory=list[Any])
    params: dict[str, ParameterSection] = field(default_factory=dict[str, ParameterSection])
    own_defaults: dict[str, Any] = field(default_factory=dict[str, Any])

    def option(self, option: Option, style: Style) -> None:
        """Add an option's words and its parameter."""
        items, parameter = _written(option, style)
        self.run.extend(items)
        self._declare(option.name, parameter, option.default)

    def operands(self, operands: Sequence[Operand], style: Style) -> None:
        """Add the operands, behind the word that ends the options where that is certain."""
        plain = [operand for operand in operands if not operand.after_dashes]
        words = _nested(plain)
        if words and style in _ALWAYS_STOPPED and not plain[0].takes_options:
            is_needed = any(operand.least for operand in plain)
            words = (
                ["--", *words] if is_needed else [("--", *(words if isinstance(words[0], tuple) else [tuple(words)]))]
            )
        self.run.extend(words)
        self.run.extend(("--", _place(operand)) for operand in operands if operand.after_dashes)
        for operand in operands:
            self._declare(operand.name, _operand_parameter(operand), operand.default)

    def inner_operands(self, operands: Sequence[Operand]) -> None:
        """Add operands behind which the word of a command follows."""
        self.run.extend(_nested(operands))
        for operand in operands:
            self._declare(operand.name, _operand_parameter(operand), operand.default)

    def _declare(self, name: str, parameter: ParameterSection, default: Any) -> None:
        self.params[name] = parameter
        if default is not UNSET and default is not None:
            self.own_defaults[name] = default


def draft(form: Form, words: Sequence[str], options: Iterable[Option]) -> tuple[CommandSection, dict[str, Any]]:
    """The section of `form` behind the fixed `words`, with these `options` of it, and the program's own defaults."""
    made = Draft(run=list(words))
    chosen = list(options)
    for option in chosen:
        if not option.after_operands:
            made.option(option, form.style)
    made.operands([operand for operand in form.operands if not operand.danger], form.style)
    for option in chosen:
        if option.after_operands:
            made.option(option, form.style)
    groups = [tuple(name for name in group if name in made.params) for group in form.exclusive]
    needed = [tuple(name for name in group if name in made.params) for group in form.one_required]
    section = CommandSection(
        run=tuple(made.run),
        params=made.params,
        end_of_options=STOPS[form.style],
        exclusive=tuple(group for group in groups if len(group) > 1),
        one_required=tuple(group for group in needed if group),
    )
    return section, made.own_defaults


def _written(option: Option, style: Style) -> tuple[list[Any], ParameterSection]:
    """The words of an option in a template, and the parameter that fills them."""
    name, flag = option.name, preferred(option.flags)
    base = ParameterSection(description=option.description, optional=not option.is_required)
    if option.value is None and not option.words and option.least is None:
        return [f"{{{name}}}"], _switch(option, base, flag)
    if option.words or option.least is not None:
        return [(flag, f"{{{name}...}}")], _several(option, base, style)
    assert option.value is not None  # the other cases returned above
    if option.value.type == "boolean":
        join = "=" if flag.startswith("--") or style != "click" else ""
        words = ("True", "") if style == "argparse" else ("true", "false")
        on, off = (f"{flag}{join}{word}" for word in words)
        return [f"{{{name}}}"], replace(base, type="boolean", flag=on, off_flag=off)
    parameter = _array(option.value, base) if option.is_repeatable else _valued(option.value, base)
    if option.no_dash:
        parameter = _without_dash(parameter)
    joined = f"{flag}={{{name}}}" if flag.startswith("--") or option.joint == "=" else f"{flag}{{{name}}}"
    if option.is_optional_value and not option.is_repeatable:
        return [joined], replace(parameter, bare=flag)
    # Not every program takes `--option=value` (curl does not): what the help shows is what it takes.
    as_shown = style in ("other", "posix") and option.joint == " "
    if option.joint in ("=", "none") or (flag.startswith("--") and not as_shown):
        return [joined], parameter
    if style == "argparse" and len(flag) == 2:
        return [f"{flag}{{{name}}}"], parameter
    return [(flag, f"{{{name}}}")], replace(parameter, dash=style in _TAKES_ANY_WORD)


def _without_dash(parameter: ParameterSection) -> ParameterSection:
    kind = parameter.items if parameter.type == "array" else parameter.type
    if kind in ("integer", "number"):
        return replace(parameter, minimum=max(0, parameter.minimum or 0))
    return parameter if parameter.choices else replace(parameter, pattern="^([^-]|-?$)")


def _switch(option: Option, base: ParameterSection, flag: str) -> ParameterSection:
    if option.is_counted:
        return replace(base, type="integer", flag=flag)
    return replace(base, type="boolean", flag=flag, off_flag=option.negative)


def _several(option: Option, base: ParameterSection, style: Style) -> ParameterSection:
    value = option.words[0] if option.words else option.value or Value()
    if any(other.type != value.type for other in option.words):
        value = Value()
    least = len(option.words) or option.least
    most = len(option.words) or None
    array = _array(value, base)
    return replace(array, min_items=least, max_items=most, dash=style == "click" and bool(option.words))


def _valued(value: Value, base: ParameterSection) -> ParameterSection:
    if value.choices:
        return replace(base, type="enum", choices=_choices(value))
    return replace(base, type=value.type, **_bounds(value))


def _array(value: Value, base: ParameterSection) -> ParameterSection:
    if value.choices:
        return replace(base, type="array", choices=_choices(value))
    items: Any = "string" if value.type == "boolean" else value.type
    return replace(base, type="array", items=items, **_bounds(value))


def _bounds(value: Value) -> dict[str, Any]:
    return {} if value.type not in ("integer", "number") else {"minimum": value.minimum, "maximum": value.maximum}


def _choices(value: Value) -> tuple[str | int, ...]:
    if value.type == "integer":
        return tuple(int(choice) for choice in value.choices)
    return value.choices


def preferred(flags: Sequence[str]) -> str:
    """The spelling that is written: the longest with two dashes, or else the first."""
    long = [flag for flag in flags if flag.startswith("--")]
    return max(long, key=len) if long else flags[0]


def _place(operand: Operand) -> str:
    return f"{{{operand.name}...}}" if operand.is_array else f"{{{operand.name}}}"


def _nested(operands: Sequence[Operand]) -> list[Any]:
    """Each optional operand in a group with the optional ones behind it: they can only be told apart in order."""
    if not operands:
        return []
    first, rest = operands[0], operands[1:]
    if first.least == 0 and all(operand.least == 0 for operand in rest):
        return [(_place(first), *_nested(rest))]
    return [_place(first), *_nested(rest)]


def _operand_parameter(operand: Operand) -> ParameterSection:
    base = ParameterSection(description=operand.description, optional=operand.least == 0)
    if operand.is_array:
        array = _array(operand.value, base)
        return replace(array, min_items=operand.least or None, max_items=operand.most, dash=operand.takes_options)
    return _valued(operand.value, base)
