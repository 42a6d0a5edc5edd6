"""Which callables a module, class or object offers, and under which names."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import ModuleType
from typing import Any, cast


@dataclass(frozen=True, slots=True)
class Member:
    """A callable that a target offers.

    Attributes:
        name: the name it is bound to.
        module: the dotted module where a person would look for it.
        path: the dotted path inside that module.
        function: what is called.
        serial: the instance whose methods do not overlap, or None.
    """

    name: str
    module: str
    path: str
    function: Callable[..., Any]
    serial: object | None = None


def of_module(module: ModuleType, name: str) -> Iterator[Member]:
    """The module's functions: those in `__all__`, or else the public ones that it defines itself."""
    exported = getattr(module, "__all__", None)
    names = (
        [str(n) for n in exported]
        if isinstance(exported, list | tuple)
        else [n for n in vars(module) if not n.startswith("_")]
    )
    for attribute in dict.fromkeys(names):
        try:
            value = getattr(module, attribute)
        except Exception:
            continue
        if not is_function(value):
            continue
        if exported is None and not _is_defined_in(value, module):
            continue
        yield Member(attribute, name, attribute, value, serial_of(value))


def of_object(value: Any, module: str, path: str) -> Iterator[Member]:
    """The public methods of an instance or a class, inherited ones included, properties and attributes not."""
    owner = cast("type[Any]", value if inspect.isclass(value) else type(value))
    for attribute in dir(value):
        if attribute.startswith("_") or isinstance(
            inspect.getattr_static(owner, attribute, None), property | functools.cached_property
        ):
            continue
        try:
            found = getattr(value, attribute)
        except Exception:
            continue
        if is_function(found) and not inspect.isclass(found):
            yield Member(attribute, module, f"{path}.{attribute}" if path else attribute, found, serial_of(found))


def is_function(value: Any) -> bool:
    """Whether `value` is something people call: a routine, a partial, a cached function or a callable object."""
    if inspect.isclass(value) or not callable(value):
        return False
    if inspect.isroutine(value) or isinstance(value, functools.partial) or hasattr(value, "__wrapped__"):
        return True
    home = type(value).__module__
    if home.partition(".")[0] in ("click", "typer", "rich_click"):
        return False
    return home not in ("typing", "typing_extensions", "types", "unittest.mock")


def serial_of(function: Any) -> object | None:
    """The instance of a bound method; calls on it run one after another, since its author wrote for one thread."""
    while isinstance(function, functools.partial):
        function = cast("functools.partial[Any]", function).func
    owner = getattr(function, "__self__", None)
    if owner is None or inspect.ismodule(owner) or inspect.isclass(owner) or inspect.isbuiltin(function):
        return None
    return owner


def _is_defined_in(value: Any, module: ModuleType) -> bool:
    """Whether `module` is where `value` lives: itself, its C half (`_name`, or `posix` behind `os`), or nowhere said."""
    home = getattr(value, "__module__", None)
    name = module.__name__
    if home is None:
        return inspect.isbuiltin(value) or inspect.isroutine(value)
    leaf = name.rpartition(".")[2]
    if home in (name, f"_{leaf}", f"_{name}"):
        return True
    if not inspect.isroutine(value) and not hasattr(value, "__wrapped__"):
        # A callable object or a partial: its class may live anywhere, its name is what the module gives it.
        return isinstance(value, functools.partial) or home == name
    return name == "os" and home in ("posix", "nt")


def unbound_owner(function: Any) -> str:
    """The class of a plain function that is a method without its instance, or ""."""
    qualname = getattr(function, "__qualname__", "")
    if not inspect.isfunction(function) or "." not in qualname or "<locals>" in qualname.rpartition(".")[0]:
        return ""
    return qualname.rpartition(".")[0]
