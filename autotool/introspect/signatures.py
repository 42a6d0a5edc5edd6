"""Reads one callable: its parameters in order, their defaults, and the types that its author gave them."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, cast

import typing_extensions

from autotool.introspect import annotations, stubs
from autotool.model import ParameterKind, TypeOrigin

EMPTY: Any = inspect.Parameter.empty
"""No default, or no annotation."""

ELLIPSIS_DEFAULT: Any = ...
"""There is a default, but nobody can say what it is (a C function, a stub)."""

_KINDS: dict[Any, ParameterKind] = {
    inspect.Parameter.POSITIONAL_ONLY: "positional_only",
    inspect.Parameter.POSITIONAL_OR_KEYWORD: "positional_or_keyword",
    inspect.Parameter.VAR_POSITIONAL: "var_positional",
    inspect.Parameter.KEYWORD_ONLY: "keyword_only",
    inspect.Parameter.VAR_KEYWORD: "var_keyword",
}


@dataclass(frozen=True, slots=True)
class RawParameter:
    """A parameter as it stands in the code.

    Attributes:
        annotation: a typing object, or `EMPTY` where there is none or it could not be resolved.
        default: the live default, `EMPTY`, or `ELLIPSIS_DEFAULT`.
        unresolved: the text of an annotation that names something that does not exist at run time, or "".
    """

    name: str
    kind: ParameterKind
    annotation: Any = EMPTY
    default: Any = EMPTY
    origin: TypeOrigin = "open"
    unresolved: str = ""


@dataclass(frozen=True, slots=True)
class RawSignature:
    """What the code says of a callable. `returns` is a typing object or `EMPTY`."""

    parameters: tuple[RawParameter, ...]
    returns: Any = EMPTY
    is_async: bool = False
    overloaded: bool = False


class NoSignature(Exception):
    """Neither the callable nor a stub file says what its parameters are."""


def read(function: Callable[..., Any], module: str, qualname: str) -> RawSignature:
    """Read `function`, which is found as `qualname` in `module` (for its stub).

    Raises:
        NoSignature: nothing says what its parameters are.
    """
    target = contract_of(function)
    stub = stubs.lookup(*stub_home(function, module, qualname))
    signature = _runtime_signature(target)
    if signature is None or (stub is not None and _is_opaque(signature)):
        if stub is None and signature is None:
            raise NoSignature
        if stub is not None:
            return _from_stub(stub, function)
    assert signature is not None  # narrowed above; both missing has raised
    found = annotations.of(target)
    parameters = tuple(
        RawParameter(
            name=parameter.name,
            kind=_KINDS[parameter.kind],
            annotation=found.types.get(parameter.name, EMPTY),
            default=parameter.default,
            origin="annotation" if parameter.name in found.types else "open",
            unresolved=found.unresolved.get(parameter.name, ""),
        )
        for parameter in signature.parameters.values()
        if not _is_bound_by_partial(function, parameter)
    )
    parameters = tuple(part for parameter in parameters for part in _unpacked(parameter))
    raw = RawSignature(parameters, found.types.get("return", EMPTY), is_async(function))
    return raw if stub is None else _with_stub_types(raw, stub)


def _unpacked(parameter: RawParameter) -> list[RawParameter]:
    """`**options: Unpack[SomeTypedDict]` as the keyword-only parameters that it stands for (PEP 692)."""
    if (
        parameter.kind != "var_keyword"
        or typing_extensions.get_origin(parameter.annotation) is not typing_extensions.Unpack
    ):
        return [parameter]
    (cls,) = typing_extensions.get_args(parameter.annotation)
    try:
        hints = typing_extensions.get_type_hints(cls, include_extras=True)
    except Exception:
        return [replace(parameter, annotation=EMPTY)]
    return [
        RawParameter(
            name=name,
            kind="keyword_only",
            annotation=_bare_key(hint),
            default=EMPTY if annotations.is_required_key(cls, name, hint) else ELLIPSIS_DEFAULT,
            origin=parameter.origin,
        )
        for name, hint in hints.items()
    ]


def _bare_key(hint: Any) -> Any:
    is_wrapped = typing_extensions.get_origin(hint) in (typing_extensions.NotRequired, typing_extensions.Required)
    return typing_extensions.get_args(hint)[0] if is_wrapped else hint


def read_constructor(cls: type) -> RawSignature:
    """What a class is constructed from, without `self`.

    Raises:
        NoSignature: nothing says it.
    """
    try:
        raw = read(cls, cls.__module__, f"{cls.__qualname__}.__init__")
        if raw.parameters and any(parameter.annotation is not EMPTY for parameter in raw.parameters):
            return raw
    except NoSignature:
        raw = None
    stub = stubs.lookup(cls.__module__, f"{cls.__qualname__}.__init__") or stubs.lookup(
        cls.__module__, f"{cls.__qualname__}.__new__"
    )
    if stub is not None and stub.parameters:
        return _from_stub(stub, cls)
    if raw is None:
        raise NoSignature
    return raw


def contract_of(function: Callable[..., Any]) -> Callable[..., Any]:
    """The callable whose parameters are the contract.

    A wrapper that only passes `*args, **kwargs` on is looked through; one that names its own parameters is taken at
    its word, since it may fill in others itself.
    """
    seen: set[int] = set()
    current = function
    while id(current) not in seen:
        seen.add(id(current))
        wrapped = getattr(current, "__wrapped__", None)
        if not callable(wrapped):
            break
        own = _runtime_signature(current)
        if own is not None and not _only_passes_on(own):
            break
        current = wrapped
    return current


def _only_passes_on(signature: inspect.Signature) -> bool:
    kinds = {parameter.kind for parameter in signature.parameters.values()}
    return kinds == {inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD}


def _is_opaque(signature: inspect.Signature) -> bool:
    """Whether a signature says no more than "anything": a stub, where there is one, says more."""
    parameters = signature.parameters.values()
    return bool(parameters) and _only_passes_on(signature) and all(p.annotation is EMPTY for p in parameters)


def _runtime_signature(function: Callable[..., Any]) -> inspect.Signature | None:
    try:
        return inspect.signature(function, follow_wrapped=False)
    except (ValueError, TypeError, NameError, AttributeError):
        pass
    except Exception:
        return None
    if isinstance(function, functools.partial):
        return None
    wrapped = getattr(function, "__wrapped__", None)
    return _runtime_signature(wrapped) if callable(wrapped) else None


def _is_bound_by_partial(function: Any, parameter: inspect.Parameter) -> bool:
    return isinstance(function, functools.partial) and parameter.name in function.keywords


def is_async(function: Any) -> bool:
    """Whether calling `function` gives a coroutine or an async generator, looked at through partials and wrappers."""
    while isinstance(function, functools.partial):
        function = cast("functools.partial[Any]", function).func
    if inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function):
        return True
    call = inspect.getattr_static(type(function), "__call__", None)
    return not inspect.isroutine(function) and inspect.iscoroutinefunction(call)


def stub_home(function: Any, module: str, qualname: str) -> tuple[str, str]:
    """Where a stub would describe `function`: a bound method of a module's own instance, or a re-exported function."""
    while isinstance(function, functools.partial):
        function = cast("functools.partial[Any]", function).func
        module, qualname = (
            getattr(function, "__module__", module) or module,
            getattr(function, "__qualname__", qualname),
        )
    owner = getattr(function, "__self__", None)
    if owner is not None and not inspect.ismodule(owner) and "." not in qualname:
        cls = cast("type[Any]", owner if inspect.isclass(owner) else type(owner))
        if cls.__module__ not in ("builtins", module):
            return cls.__module__, f"{cls.__qualname__}.{getattr(function, '__name__', qualname)}"
    return module, qualname


def _from_stub(stub: stubs.StubSignature, function: Any) -> RawSignature:
    parameters = tuple(
        RawParameter(
            name=parameter.name,
            kind=parameter.kind,
            annotation=parameter.annotation,
            default=_stub_default(parameter),
            origin=stub.origin,
        )
        for parameter in stub.parameters
    )
    if isinstance(function, functools.partial):
        bound = cast("functools.partial[Any]", function)
        positional = [p for p in parameters if p.kind in ("positional_only", "positional_or_keyword")]
        taken = {p.name for p in positional[: len(bound.args)]} | set(bound.keywords)
        parameters = tuple(p for p in parameters if p.name not in taken)
    return RawSignature(parameters, stub.returns, stub.is_async or is_async(function), stub.overloaded)


def _stub_default(parameter: stubs.StubParameter) -> Any:
    if not parameter.has_default:
        return EMPTY
    return ELLIPSIS_DEFAULT if parameter.default is stubs.MISSING else parameter.default


def _with_stub_types(raw: RawSignature, stub: stubs.StubSignature) -> RawSignature:
    """Fill in what the code leaves open. The code's own names, kinds and defaults stand: they are what will be called."""
    by_name = {parameter.name: parameter for parameter in stub.parameters}
    by_place = [p for p in stub.parameters if p.kind in ("positional_only", "positional_or_keyword")]
    filled: list[RawParameter] = []
    for place, parameter in enumerate(raw.parameters):
        said = by_name.get(parameter.name)
        if said is None and parameter.kind == "positional_only" and place < len(by_place):
            said = by_place[place]
        if said is None or parameter.annotation is not EMPTY or said.annotation is Any:
            filled.append(parameter)
        else:
            filled.append(replace(parameter, annotation=said.annotation, origin=stub.origin))
    returns = raw.returns if raw.returns is not EMPTY else stub.returns
    return RawSignature(tuple(filled), returns, raw.is_async or stub.is_async, stub.overloaded)
