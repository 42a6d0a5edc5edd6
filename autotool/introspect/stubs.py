"""Signatures from stub files: for C functions that show none, and for the nine functions in ten without annotations."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from autotool.introspect import stub_names
from autotool.introspect.stub_types import Reader, union
from autotool.model import ParameterKind


class _Missing:
    def __repr__(self) -> str:
        return "MISSING"


MISSING: Any = _Missing()
"""A default of which the stub only says that it exists."""

_POSITIONAL = ("positional_only", "positional_or_keyword")


@dataclass(frozen=True, slots=True)
class StubParameter:
    """A parameter as a stub describes it; `annotation` is a typing object, `typing.Any` where nothing is known."""

    name: str
    kind: ParameterKind
    annotation: Any
    has_default: bool = False
    default: Any = MISSING


@dataclass(frozen=True, slots=True)
class StubSignature:
    """A signature as a stub describes it, overloads merged: what some overload takes, it takes."""

    parameters: tuple[StubParameter, ...]
    returns: Any
    origin: Literal["stub", "typeshed"]
    overloaded: bool = False
    is_async: bool = False


@functools.cache
def lookup(module_name: str, qualname: str) -> StubSignature | None:
    """The signature of `qualname` (dotted, through classes) in the stub of `module_name`, or None. Never raises."""
    try:
        return _lookup(module_name, qualname)
    except Exception:
        return None


def _lookup(module_name: str, qualname: str) -> StubSignature | None:
    found = stub_names.find(module_name, qualname)
    if found is not None and isinstance(found.nodes[0], ast.AnnAssign):
        found = _callable_instance(found)
    if found is None or not found.nodes:
        return None
    definitions = [node for node in found.nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    if not definitions:
        return None
    reader = Reader(found.module)
    is_method = bool(found.owners)
    read = [_signature(node, reader, is_method=is_method) for node in definitions]
    parameters = _merge([parameters for parameters, _ in read])
    return StubSignature(
        parameters=parameters,
        returns=union([returns for _, returns in read]),
        origin="typeshed" if stub_names.is_typeshed(found.module) else "stub",
        overloaded=len(definitions) > 1,
        is_async=any(isinstance(node, ast.AsyncFunctionDef) for node in definitions),
    )


def _callable_instance(found: stub_names.Found) -> stub_names.Found | None:
    """`name: Class` in a stub: the class's `__call__`."""
    annotation = found.nodes[0].annotation
    if not isinstance(annotation, ast.Name):
        return None
    return stub_names.find(found.module, f"{annotation.id}.__call__")


def _signature(node: stub_names.Function, reader: Reader, *, is_method: bool) -> tuple[tuple[StubParameter, ...], Any]:
    parameters = tuple(_parameters(node.args, reader))
    decorators = {ast.unparse(decorator).rpartition(".")[2] for decorator in node.decorator_list}
    if is_method and "staticmethod" not in decorators and parameters and parameters[0].kind in _POSITIONAL:
        parameters = parameters[1:]
    return parameters, reader.read(node.returns)


def _parameters(arguments: ast.arguments, reader: Reader) -> Iterator[StubParameter]:
    positional = [*arguments.posonlyargs, *arguments.args]
    missing = len(positional) - len(arguments.defaults)
    for place, argument in enumerate(positional):
        default = arguments.defaults[place - missing] if place >= missing else None
        # Names with two leading underscores are positional-only by the convention that came before PEP 570.
        dunder = argument.arg.startswith("__") and not argument.arg.endswith("__")
        only = place < len(arguments.posonlyargs) or dunder
        kind: ParameterKind = "positional_only" if only else "positional_or_keyword"
        yield _parameter(argument, kind, default, reader)
    if arguments.vararg is not None:
        yield _parameter(arguments.vararg, "var_positional", None, reader)
    for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        yield _parameter(argument, "keyword_only", default, reader)
    if arguments.kwarg is not None:
        yield _parameter(arguments.kwarg, "var_keyword", None, reader)


def _parameter(argument: ast.arg, kind: ParameterKind, default: ast.expr | None, reader: Reader) -> StubParameter:
    name = argument.arg.removeprefix("__") or argument.arg
    return StubParameter(name, kind, reader.read(argument.annotation), default is not None, _literal(default))


def _literal(default: ast.expr | None) -> Any:
    if default is None or (isinstance(default, ast.Constant) and default.value is ...):
        return MISSING
    try:
        return ast.literal_eval(default)
    except ValueError:
        return MISSING


def _merge(overloads: Sequence[tuple[StubParameter, ...]]) -> tuple[StubParameter, ...]:
    """One parameter list that takes every call that some overload takes.

    Positional parameters meet by name, or else by place; what not every overload demands is optional. The overload with
    the most parameters gives the order.
    """
    if len(overloads) == 1:
        return overloads[0]
    longest = max(overloads, key=len)
    merged: list[StubParameter] = []
    for place, parameter in enumerate(longest):
        partners = [_partner(parameter, place, other) for other in overloads]
        present = [partner for partner in partners if partner is not None]
        optional = len(present) < len(overloads) or any(partner.has_default for partner in present)
        default = next((partner.default for partner in present if partner.default is not MISSING), MISSING)
        is_variable = parameter.kind in ("var_positional", "var_keyword")
        annotation = union([partner.annotation for partner in present])
        merged.append(
            replace(parameter, annotation=annotation, has_default=optional and not is_variable, default=default)
        )
    known = {parameter.name for parameter in merged}
    for other in overloads:
        for parameter in other:
            if parameter.kind == "keyword_only" and parameter.name not in known:
                known.add(parameter.name)
                merged.append(replace(parameter, has_default=True))
    return tuple(_in_order(merged))


def _partner(parameter: StubParameter, place: int, other: Sequence[StubParameter]) -> StubParameter | None:
    for candidate in other:
        if candidate.name == parameter.name:
            return candidate
    if parameter.kind in _POSITIONAL and place < len(other) and other[place].kind == "positional_only":
        return other[place]
    return None


def _in_order(parameters: list[StubParameter]) -> list[StubParameter]:
    """Kinds in the order that Python demands; once one positional parameter is optional, the later ones are too."""
    order = ("positional_only", "positional_or_keyword", "var_positional", "keyword_only", "var_keyword")
    ordered = sorted(parameters, key=lambda parameter: order.index(parameter.kind))
    result: list[StubParameter] = []
    optional = False
    for parameter in ordered:
        if parameter.kind in _POSITIONAL:
            optional = optional or parameter.has_default
            result.append(replace(parameter, has_default=optional))
        else:
            result.append(parameter)
    return result
