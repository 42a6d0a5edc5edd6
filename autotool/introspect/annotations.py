"""The annotations of one callable as typing objects, one at a time, so that a bad one costs only itself."""

from __future__ import annotations

import ast
import builtins
import functools
import importlib
import inspect
import sys
import typing
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, cast

import typing_extensions

_TYPING_MODULES = frozenset({"typing", "typing_extensions", "collections.abc", "types", "os"})
"""Modules whose names mean the same at run time as for a type checker."""


@dataclass(frozen=True, slots=True)
class Annotations:
    """Resolved annotations by parameter name ("return" for the result), and the text of those that do not resolve."""

    types: dict[str, Any] = field(default_factory=dict[str, Any])
    unresolved: dict[str, str] = field(default_factory=dict[str, str])


def of(function: Callable[..., Any]) -> Annotations:
    """Resolve the annotations of `function` (PEP 563 and 649 alike), never raising."""
    home = _annotated(function)
    raw = _raw(home)
    if not raw:
        return _overloaded(home)
    try:
        types = typing.get_type_hints(home, include_extras=True)
    except Exception:
        return _one_by_one(home, raw)
    # `get_type_hints` once turned `x: int = None` into `int | None`; the author's words are wanted.
    return Annotations({name: types.get(name, value) for name, value in raw.items()})


def _overloaded(home: Any) -> Annotations:
    """What the overloads of a function without annotations say: the union, parameter by parameter."""
    try:
        overloads = [of(overload) for overload in typing.get_overloads(home)]
    except Exception:
        return Annotations()
    found: dict[str, Any] = {}
    for name in dict.fromkeys(name for overload in overloads for name in overload.types):
        arms = [overload.types[name] for overload in overloads if name in overload.types]
        found[name] = functools.reduce(lambda left, right: typing.Union[left, right], arms)  # noqa: UP007 - built at run time
    return Annotations(found)


def is_required_key(cls: Any, name: str, hint: Any) -> bool:
    """Whether a TypedDict demands a key; `__required_keys__` does not see `NotRequired` in annotations that are text."""
    origin = typing_extensions.get_origin(hint)
    if origin in (typing_extensions.NotRequired, typing_extensions.Required):
        return origin is typing_extensions.Required
    return name in cls.__required_keys__ or (
        bool(getattr(cls, "__total__", True)) and name not in cls.__optional_keys__
    )


def _annotated(function: Any) -> Any:
    while isinstance(function, functools.partial):
        function = cast("functools.partial[Any]", function).func
    if inspect.isclass(function):
        return function.__init__
    if inspect.ismethod(function):
        return function.__func__
    if not inspect.isroutine(function):
        call = inspect.getattr_static(type(function), "__call__", None)
        if inspect.isfunction(call) or not hasattr(function, "__annotations__"):
            return call
    return function


def _raw(home: Any) -> dict[str, Any]:
    try:
        if sys.version_info >= (3, 14):
            import annotationlib

            return annotationlib.get_annotations(home, format=annotationlib.Format.FORWARDREF)
        return dict(inspect.get_annotations(home))
    except Exception:
        found = getattr(home, "__annotations__", None)
        return dict(found) if isinstance(found, dict) else {}


def _one_by_one(home: Any, raw: dict[str, Any]) -> Annotations:
    scope = _scope(home)
    types: dict[str, Any] = {}
    unresolved: dict[str, str] = {}
    for name, value in raw.items():
        try:
            types[name] = resolve(value, scope)
        except Exception:
            unresolved[name] = value if isinstance(value, str) else _text(value)
    return Annotations(types, unresolved)


def _text(value: Any) -> str:
    argument = getattr(value, "__forward_arg__", None)
    return argument if isinstance(argument, str) else repr(value)


class _Scope(dict[str, Any]):
    """Names visible to an annotation: the function's globals, then what its module imports for type checkers only."""

    def __init__(self, module: str, names: dict[str, Any]) -> None:
        super().__init__(names)
        self._module = module

    def __missing__(self, name: str) -> Any:
        if hasattr(builtins, name):
            return getattr(builtins, name)
        origin = _checking_imports(self._module).get(name)
        if origin is None:
            raise NameError(name)
        return _import_for_types(*origin)


def _scope(home: Any) -> _Scope:
    function = inspect.unwrap(home)
    names = dict(getattr(function, "__globals__", {}))
    names.update({parameter.__name__: parameter for parameter in getattr(function, "__type_params__", ())})
    closure = getattr(function, "__closure__", None) or ()
    code = getattr(function, "__code__", None)
    for name, cell in zip(getattr(code, "co_freevars", ()), closure, strict=False):
        try:
            names.setdefault(name, cell.cell_contents)
        except ValueError:
            continue
    # `__module__` may be a name for show, as in pandas; the globals tell where the code stands.
    home_name = names.get("__name__", getattr(function, "__module__", ""))
    return _Scope(str(home_name), names)


def resolve(value: Any, scope: dict[str, Any]) -> Any:
    """Evaluate one annotation, text or typing object, in `scope`.

    Raises:
        Exception: whatever the evaluation raises; most often `NameError`.
    """
    if value is None:
        return type(None)
    text = getattr(value, "__forward_arg__", value)
    if isinstance(text, str):
        value = eval(text, {"__builtins__": {}}, scope)  # the person's own module text, already imported
    carrier = type("Carrier", (), {"__annotations__": {"value": value}})
    return typing.get_type_hints(carrier, globalns={}, localns=scope, include_extras=True)["value"]


def _import_for_types(module: str, attribute: str) -> Any:
    """What a `TYPE_CHECKING` import names, where getting it runs no new code of anybody's."""
    present = sys.modules.get(module)
    is_third_party = module.partition(".")[0] not in sys.stdlib_module_names
    if present is None and module in _TYPING_MODULES:
        present = importlib.import_module(module)
    if present is None or not (is_third_party or module in _TYPING_MODULES):
        raise NameError(attribute or module)
    return getattr(present, attribute) if attribute else present


@functools.cache
def _checking_imports(module_name: str) -> dict[str, tuple[str, str]]:
    """Names that a module imports under `if TYPE_CHECKING:`, as (module, attribute)."""
    module = sys.modules.get(module_name)
    try:
        tree = ast.parse(inspect.getsource(cast("Any", module)))
    except Exception:
        return {}
    found: dict[str, tuple[str, str]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            for statement in node.body:
                found.update(_imported_names(statement, module_name))
    return found


def _imported_names(statement: ast.stmt, module_name: str) -> dict[str, tuple[str, str]]:
    if isinstance(statement, ast.Import):
        return {
            (a.asname or a.name.partition(".")[0]): (a.name if a.asname else a.name.partition(".")[0], "")
            for a in statement.names
        }
    if not isinstance(statement, ast.ImportFrom):
        return {}
    source = statement.module or ""
    if statement.level:
        package = module_name.rsplit(".", statement.level)[0]
        source = f"{package}.{source}" if source else package
    return {alias.asname or alias.name: (source, alias.name) for alias in statement.names}
