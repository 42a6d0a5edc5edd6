"""One Python callable as a tool: its words, its types and its hints, put together."""

from __future__ import annotations

import dataclasses
import functools
import inspect
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, cast

from autotool.errors import SignatureError
from autotool.introspect import docstrings, doctypes, effects, signatures
from autotool.introspect.docstrings import Docstring
from autotool.introspect.implementation import implementation_of
from autotool.introspect.signatures import EMPTY, RawSignature
from autotool.marks import Marks, marks_of
from autotool.model import Candidate, stated
from autotool.schema import arguments, naming
from autotool.schema.arguments import Arguments, Words
from autotool.schema.results import result_type
from autotool.sources.base import BoundTool
from autotool.sources.members import Member


def bound_tool(member: Member) -> BoundTool:
    """Read the callable behind `member`.

    Raises:
        SignatureError: it cannot be served; names the callable and the parameter.
    """
    try:
        return _bound_tool(member)
    except SignatureError:
        raise
    except Exception as error:
        # Foreign objects can fail in every attribute; such a one costs only itself.
        reason = f"`{member.path}` cannot be read: {type(error).__name__}: {error}"
        raise SignatureError(reason, hint="Leave it out with `--exclude`.") from error


def _bound_tool(member: Member) -> BoundTool:
    try:
        signature = signatures.read(member.function, member.module, member.path)
    except signatures.NoSignature:
        raise SignatureError(
            f"`{member.path}` has no signature: neither it nor a stub file says what its parameters are",
            hint="Wrap it in a function of your own with named parameters.",
        ) from None
    names = [parameter.name for parameter in signature.parameters]
    doc = docstrings.parse(docstrings.of(member.function), names)
    marks = marks_of(member.function)
    taken = _taken(arguments.build(signature, _words(doc, signature), member.path), marks, member.path)
    promised = signature.returns
    result = result_type(promised)
    candidate = Candidate(
        key=f"{member.module}:{member.path}",
        name=marks.name or member.name,
        qualifier=member.module,
        title=marks.title or naming.title(member.name),
        description=marks.description or doc.description or _signature_text(member.name, taken),
        input_schema=taken.json_schema,
        output_schema=result.json_schema,
        parameters=taken.parameters,
        hints=stated(
            effects.infer(
                name=member.name,
                module=member.module,
                summary=doc.summary,
                parameters=names,
                returns=promised,
                function=member.function,
            ),
            marks,
            "its author says so",
        ),
        is_async=signature.is_async,
        file=_file(member.function),
        line=_line(member.function),
        approval=marks.approval or "",
        implementation=implementation_of(member.function),
        warnings=(*taken.warnings, *_doubts(member, doc, marks, taken)),
    )
    return BoundTool(candidate, member.function, taken, result, member.serial)


def _taken(taken: Arguments, marks: Marks, subject: str) -> Arguments:
    if marks.input_schema is None:
        return taken
    from autotool.schema.supplied import SuppliedSchema

    supplied = SuppliedSchema(marks.input_schema, subject)
    return dataclasses.replace(taken, json_schema=dict(marks.input_schema), supplied=supplied)


def _words(doc: Docstring, signature: RawSignature) -> Mapping[str, Words]:
    words: dict[str, Words] = {}
    for parameter in signature.parameters:
        said = doc.parameters.get(parameter.name)
        if said is None:
            continue
        # For `**options` a docstring tells the type of the whole, which says nothing of one value.
        tells_type = bool(said.type_text) and parameter.kind != "var_keyword"
        annotation = doctypes.annotation_of(said.type_text) if tells_type else doctypes.UNKNOWN
        words[parameter.name] = Words(said.description, EMPTY if annotation is doctypes.UNKNOWN else annotation)
    return words


def _signature_text(name: str, taken: Arguments) -> str:
    """What can truly be said of a function without a docstring: how it is called."""
    parts: list[str] = []
    for parameter in taken.parameters:
        if parameter.hidden:
            continue
        stars = {"var_positional": "*", "var_keyword": "**"}.get(parameter.kind, "")
        text = f"{stars}{parameter.wire_name}" + (f": {parameter.type_text}" if parameter.type_text else "")
        parts.append(text + ("" if parameter.required or stars else " = …"))
    return f"{name}({', '.join(parts)})"


def _doubts(member: Member, doc: Docstring, marks: Marks, taken: Arguments) -> list[str]:
    doubts: list[str] = []
    if not doc.description and not marks.description:
        doubts.append(f"{member.path}: there is no docstring, so the description is only its signature")
    if doc.unknown and all(parameter.kind != "var_keyword" for parameter in taken.parameters):
        names = ", ".join(f"`{name}`" for name in doc.unknown)
        doubts.append(f"{member.path}: the docstring describes {names}, which it does not take")
    return doubts


def _plain(function: Callable[..., Any]) -> Any:
    found: Any = inspect.unwrap(function)
    while isinstance(found, functools.partial):
        found = inspect.unwrap(cast("functools.partial[Any]", found).func)
    return getattr(found, "__func__", found)


def _file(function: Callable[..., Any]) -> str:
    try:
        file = inspect.getsourcefile(_plain(function)) or ""
    except (TypeError, OSError):
        module = sys.modules.get(str(getattr(function, "__module__", "")))
        file = str(getattr(module, "__file__", "") or "")
    return str(Path(file)) if file else ""


def _line(function: Callable[..., Any]) -> int:
    code = getattr(_plain(function), "__code__", None)
    return int(getattr(code, "co_firstlineno", 0))
