"""What a function's code can reach, read from its compiled form without running it."""

from __future__ import annotations

import builtins
import dataclasses
import dis
import enum
import functools
import inspect
import re
import types
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from autotool.introspect import verbs

_MOST_FUNCTIONS = 30
_SETTING_STATE = {dis.opmap[name] for name in ("STORE_GLOBAL", "DELETE_GLOBAL", "STORE_ATTR", "DELETE_ATTR")}
_SETTING_ITEMS = {dis.opmap[name] for name in ("STORE_SUBSCR", "DELETE_SUBSCR")}
_SETTING_CELLS = dis.opmap["STORE_DEREF"]
_IMPORTING = dis.opmap["IMPORT_NAME"]
_CONSTANTS = (str, bytes, int, float, complex, type(None), type(...), re.Pattern, range, frozenset, enum.Enum)
_PLAIN_MODULES = {
    "builtins",
    "typing",
    "datetime",
    "decimal",
    "uuid",
    "pathlib",
    "collections.abc",
    "re",
    "fractions",
}
_CACHED = type(functools.lru_cache(len))
_WRITE_MODE = re.compile(r"[rwaxbtU]{0,2}[wax+][bt+]{0,2}")
_SQL_LOSS = re.compile(r"\s*(?:delete\s+from|drop\s+(?:table|database|index|view|schema)|truncate)\b", re.IGNORECASE)


@dataclass(slots=True)
class Findings:
    """What was found, each a clause for a person, by what it shows.

    Attributes:
        destroys, writes, network, reads: what the code uses to these ends.
        unknown: names whose effect is not known; while there are any, nothing is proven.
    """

    destroys: list[str] = field(default_factory=list[str])
    writes: list[str] = field(default_factory=list[str])
    network: list[str] = field(default_factory=list[str])
    reads: list[str] = field(default_factory=list[str])
    unknown: list[str] = field(default_factory=list[str])

    @property
    def changes_nothing(self) -> bool:
        """Whether all of the code is known, and none of it changes anything."""
        return not (self.destroys or self.writes or self.network or self.unknown)


def scan(function: object) -> Findings | None:
    """What a Python function's code reaches, through functions of its own package too; None without code.

    Arguments are taken for what JSON can carry, so that only methods whose names are known to act are acts.
    """
    plain = _plain(function)
    if plain is None:
        return None
    findings = Findings()
    _take_surroundings(function, plain, findings)
    seen: set[types.CodeType] = set()
    waiting = [(plain, 0)]
    while waiting:
        one, depth = waiting.pop(0)
        if one.__code__ in seen:
            continue
        seen.add(one.__code__)
        if len(seen) > _MOST_FUNCTIONS:
            findings.unknown.append("more functions than are followed")
            break
        # What helpers of helpers tidy up (a temporary file, a child) is not what the function is for.
        found = findings if depth <= 1 else Findings(destroys=findings.writes, **_places(findings))
        for code in _codes(one.__code__):
            waiting.extend((other, depth + 1) for other in _scan_code(code, one, found))
    return findings


def _places(findings: Findings) -> dict[str, list[str]]:
    return {name: getattr(findings, name) for name in ("writes", "network", "reads", "unknown")}


def _plain(function: object) -> types.FunctionType | None:
    found: Any = function
    for _ in range(20):
        if isinstance(found, functools.partial):
            found = found.func
        elif isinstance(found, types.MethodType):
            found = found.__func__
        else:
            inner = inspect.getattr_static(found, "__wrapped__", None)
            if inner is None:
                return found if isinstance(found, types.FunctionType) else None
            found = inner
    return None


def _take_surroundings(function: object, plain: types.FunctionType, findings: Findings) -> None:
    """What the code may act on beside its globals: its object, bound arguments, parameters of a class."""
    if isinstance(function, functools.partial):
        bound = [*function.args, *function.keywords.values()]
        findings.unknown.extend("a bound argument" for value in bound if not _is_constant(value))
    elif function is not plain and not isinstance(function, _CACHED):
        findings.unknown.append("the object or the decorator through which it is called")
    for name, annotation in plain.__annotations__.items():
        words = re.findall(r"[^\W\d]\w*", annotation) if isinstance(annotation, str) else []
        kinds = [plain.__globals__.get(word) for word in words] if words else [annotation]
        if name != "return" and any(inspect.isclass(kind) and not _is_plain_class(kind) for kind in kinds):
            findings.unknown.append(f"the object that `{name}` is")


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _codes(constant)


def _scan_code(code: types.CodeType, owner: types.FunctionType, findings: Findings) -> list[types.FunctionType]:
    """Take one code object's findings; the functions of the same package that it uses are returned."""
    ops = set(code.co_code[::2])
    if ops & _SETTING_STATE or (_SETTING_CELLS in ops and _sets_outer_variable(code, owner)):
        findings.unknown.append("state that it sets")
    if _IMPORTING in ops:
        findings.unknown.append("what it imports when called")
    for constant in code.co_consts:
        if isinstance(constant, str) and _SQL_LOSS.match(constant):
            findings.destroys.append(f"the statement {' '.join(constant.split())[:40]!r}")
    values = _values(code, owner)
    for name in code.co_names:
        if name not in values:
            _take_name(name, code, findings)
    changes_items = bool(ops & _SETTING_ITEMS) or not verbs.MUTATING_METHODS.isdisjoint(code.co_names)
    follow = [value for value in values.values() if _is_of_the_same_package(value, owner)]
    for name, value in values.items():
        if not _is_of_the_same_package(value, owner):
            _take_value(name, value, code, findings, changes_items=changes_items)
    return follow


def _sets_outer_variable(code: types.CodeType, owner: types.FunctionType) -> bool:
    stores = (one.argval for one in dis.get_instructions(code) if one.opname == "STORE_DEREF")
    return not set(owner.__code__.co_freevars).isdisjoint(stores)


def _is_of_the_same_package(value: object, owner: types.FunctionType) -> bool:
    return isinstance(value, types.FunctionType) and _top(value.__module__) == _top(owner.__module__)


def _take_value(name: str, value: object, code: types.CodeType, findings: Findings, *, changes_items: bool) -> None:
    if isinstance(value, types.ModuleType):
        _take_module(name, value, code, findings)
    elif inspect.isroutine(value) or inspect.isclass(value):
        _take_callable(value, findings)
    elif not _is_constant(value) and (changes_items or not isinstance(value, list | dict | set | Mapping)):
        findings.unknown.append(f"`{name}`")


def _values(code: types.CodeType, owner: types.FunctionType) -> dict[str, Any]:
    """The objects that the names in the code stand for, as far as they exist now."""
    found = {name: owner.__globals__[name] for name in code.co_names if name in owner.__globals__}
    for name, cell in zip(owner.__code__.co_freevars, owner.__closure__ or (), strict=False):
        try:
            found[name] = cell.cell_contents
        except ValueError:
            continue
    return found


def _take_name(name: str, code: types.CodeType, findings: Findings) -> None:
    """A builtin, or an attribute of some value."""
    if name == "open":
        modes = [one for one in code.co_consts if isinstance(one, str) and _WRITE_MODE.fullmatch(one)]
        if modes or "mode" in code.co_varnames:
            findings.writes.append("`open` for writing")
        else:
            findings.reads.append("`open`")
    elif name in verbs.DESTROYING_METHODS:
        findings.destroys.append(f"`.{name}()`")
    elif name in verbs.WRITING_METHODS:
        findings.writes.append(f"`.{name}()`")
    elif name in verbs.READING_METHODS:
        findings.reads.append(f"`.{name}()`")
    elif hasattr(builtins, name) and f"builtins.{name}" in verbs.CHANGING:
        findings.unknown.append(f"`{name}`")


def _take_module(name: str, module: types.ModuleType, code: types.CodeType, findings: Findings) -> None:
    if module.__name__ in verbs.HARMLESS_MODULES or module.__name__ in verbs.PURE_MODULES - verbs.MIXED_MODULES:
        return
    used = _attributes(name, code)
    for attribute in used:
        if attribute != "open" or module.__name__ != "io":  # `_take_name` has looked at its mode
            _take(module.__name__, attribute, findings)
    if not used:
        findings.unknown.append(f"`{module.__name__}`")


def _attributes(name: str, code: types.CodeType) -> list[str]:
    """The attributes that the code takes of the global `name`, from loads that follow one another."""
    found: list[str] = []
    previous = ""
    for instruction in dis.get_instructions(code):
        if instruction.opname in {"LOAD_ATTR", "LOAD_METHOD"} and previous == name:
            found.append(str(instruction.argval))
        previous = str(instruction.argval) if instruction.opname in {"LOAD_GLOBAL", "LOAD_NAME", "LOAD_DEREF"} else ""
    return found


def _take_callable(value: Any, findings: Findings) -> None:
    module, name = getattr(value, "__module__", None) or "", getattr(value, "__name__", "")
    if inspect.isclass(value) and (_is_plain_class(value) or issubclass(value, BaseException)):
        return
    if module in verbs.HARMLESS_MODULES:
        return
    _take(module, name, findings)


def _take(module: str, name: str, findings: Findings) -> None:
    effect = verbs.effect_of(module, name)
    clause = f"`{verbs.plain_module(module)}.{name}`"
    places = {
        "destroys": findings.destroys,
        "writes": findings.writes,
        "network": findings.network,
        "reads": findings.reads,
        "chance": findings.unknown,
        "unknown": findings.unknown,
    }
    if effect in places:
        places[effect].append(clause)
    if effect == "network" and name in verbs.SENDING_REQUESTS:
        findings.writes.append(clause)


def _is_constant(value: Any) -> bool:
    if isinstance(value, tuple):
        return all(_is_constant(item) for item in value)
    if isinstance(value, _CONSTANTS):
        return True
    return type(value).__module__ in {
        "typing",
        "logging",
        "datetime",
        "decimal",
        "fractions",
        "uuid",
        "pathlib",
    }


def _is_plain_class(kind: type) -> bool:
    """Whether making one of these, or having one, is having data."""
    if kind.__module__ in _PLAIN_MODULES or verbs.effect_of(kind.__module__, kind.__name__) == "pure":
        return True
    if issubclass(kind, enum.Enum) or (issubclass(kind, tuple) and hasattr(kind, "_fields")):
        return True
    return dataclasses.is_dataclass(kind) and not hasattr(kind, "__post_init__")


def _top(module: str | None) -> str:
    return (module or "").partition(".")[0]
