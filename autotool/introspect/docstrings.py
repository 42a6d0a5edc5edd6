"""What a docstring says of a callable and its parameters, in any of the usual styles or none."""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from docstring_parser.numpydoc import ParamSection

from autotool.introspect.docitems import Entry
from autotool.introspect.docsections import read
from autotool.introspect.markup import readable

_LONGEST = 100_000
_SIGNATURE = re.compile(r"[A-Za-z_][\w.]*\(.*\)(?:\s*->\s*[^.]{0,60}(?:\.\.\.)?)?\s*", re.DOTALL)
_SIGNATURE_LINES = 6
_SECTION = ParamSection("Parameters", "param")
# "dict" beside `**options` is what the function sees, not what one value is.
_GATHERED = re.compile(r"(?:dict|mapping|tuple|list|key|keyword|additional|optional|other)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ParameterDoc:
    """What is said of one parameter.

    Attributes:
        description: its words, dedented; paragraphs are kept.
        type_text: the type as written, without "optional" and the default; see `doctypes.annotation_of`.
        default_text: the default as written, or "".
        optional: whether the docstring says that it may be left out.
    """

    description: str = ""
    type_text: str = ""
    default_text: str = ""
    optional: bool = False


@dataclass(frozen=True, slots=True)
class Docstring:
    """What a docstring says.

    Attributes:
        summary: its first paragraph in one line, or "".
        description: all of it as clean text, without the sections that describe parameters; may be empty.
        parameters: by Python name without stars; only names that were asked for.
        others: the same of names that were not asked for, in the order in which they stand: stale ones, or
            keys of `**kwargs`. What is documented as standing for any number of values is not among them.
        returns_type: the type of the result as written, or "".
    """

    summary: str = ""
    description: str = ""
    parameters: dict[str, ParameterDoc] = field(default_factory=dict[str, ParameterDoc])
    others: dict[str, ParameterDoc] = field(default_factory=dict[str, ParameterDoc])
    returns_type: str = ""

    @property
    def unknown(self) -> tuple[str, ...]:
        """The names that are documented but were not asked for."""
        return tuple(self.others)


def parse(doc: str | None, names: Sequence[str]) -> Docstring:
    """Read a docstring of a callable whose parameters are `names`. Never raises."""
    if not doc or not doc.strip():
        return Docstring()
    text = _without_signature(inspect.cleandoc(doc[:_LONGEST].replace("\r\n", "\n")))
    reading = read(text, names)
    parameters: dict[str, ParameterDoc] = {}
    others: dict[str, ParameterDoc] = {}
    for entry in reading.entries:
        for name in entry.names:
            found = parameters if name in names else others
            is_new = name not in found or not found[name].description
            if is_new and not (entry.is_open and found is others):
                found[name] = _parameter(name, entry)
    parts = [readable(part) for part in reading.parts]
    description = "\n\n".join(part for part in parts if part.strip())
    summary = " ".join(parts[0].partition("\n\n")[0].split()) if reading.has_summary and parts else ""
    return Docstring(summary, description, parameters, others, reading.returns_type)


def _parameter(name: str, entry: Entry) -> ParameterDoc:
    """Have docstring-parser read type, optionality and default from an entry in numpydoc's form."""
    type_text = " ".join(entry.type_text.split())
    if entry.is_open and _GATHERED.match(type_text):
        type_text = ""
    body = "\n".join(f"    {line}" for line in entry.description.splitlines())
    head = f"{name} : {type_text}" if type_text else name
    found: Any = next(iter(_SECTION.parse(f"{head}\n{body}")))
    words = (found.type_name or "").strip(" ,")
    says_only_optional = words.lower() == "optional"
    return ParameterDoc(
        description=readable(entry.description),
        type_text="" if says_only_optional else words,
        default_text=found.default or "",
        optional=says_only_optional or bool(found.is_optional),
    )


def _without_signature(text: str) -> str:
    """Without the signature lines with which docstrings of C functions begin, where text follows them."""
    lines = text.split("\n")
    at = 0
    while at < len(lines):
        end = _signature_end(lines, at)
        if end == at:
            break
        at = end
    rest = "\n".join(lines[at:]).removeprefix("--\n").strip("\n")
    return rest if at and rest.strip() else text


def _signature_end(lines: Sequence[str], start: int) -> int:
    """The index after a signature, which may run over several lines; `start` where there is none."""
    for end in range(start + 1, min(len(lines), start + _SIGNATURE_LINES) + 1):
        text = "\n".join(lines[start:end])
        if "(" not in lines[start] or not lines[end - 1].strip():
            return start
        if text.count("(") == text.count(")"):
            return end if _SIGNATURE.fullmatch(text) else start
    return start


def of(obj: object) -> str | None:
    """The docstring of a callable as its author meant it, dedented; None where there is none. Never raises.

    A partial has its function's, a method without one its base class', a callable instance its own, then its
    `__call__`'s, then its class'. What Python itself writes (`Call self as a function.`) does not count.
    """
    if isinstance(obj, functools.partial | functools.partialmethod):
        own = _text(obj)
        return own if own and own != _text(type(obj)) else of(obj.func)
    if inspect.isroutine(obj) or inspect.isclass(obj):
        return _meant(obj) or _of_wrapped(obj)
    own = _text(obj)
    if own and own != _text(type(obj)):
        return own
    return _of_wrapped(obj) or _meant(inspect.getattr_static(type(obj), "__call__", None)) or _meant(type(obj))


def _of_wrapped(obj: object) -> str | None:
    wrapped = inspect.getattr_static(obj, "__wrapped__", None)
    return _meant(wrapped) if wrapped is not None else None


def _meant(obj: object) -> str | None:
    text = _text(obj)
    if text is None or _is_written_by_python(obj, text):
        return None
    return text


def _text(obj: object) -> str | None:
    try:
        text: Any = inspect.getdoc(obj)
    except Exception:
        # A `__doc__` may be a property of the person's code.
        return None
    return text if isinstance(text, str) and text.strip() else None


_BOILERPLATE = frozenset(
    text
    for slot in ("__call__", "__init__", "__new__", "__repr__", "__str__", "__eq__", "__hash__")
    for text in (inspect.getdoc(getattr(type, slot)), inspect.getdoc(getattr(object, slot, None)))
    if text
)


def _is_written_by_python(obj: object, text: str) -> bool:
    if obj is object or text in _BOILERPLATE:
        return True
    # Dataclasses and named tuples without a docstring are given their signature.
    return inspect.isclass(obj) and text.startswith(f"{obj.__name__}(") and text.endswith(")") and "\n" not in text
