"""Python code and names as arguments: source text for syntax trees and code objects, names for modules and functions."""

from __future__ import annotations

import ast
import functools
import importlib
import sys
import types
from collections.abc import Callable, Sequence
from fnmatch import fnmatchcase
from typing import Annotated, Any

from pydantic import PlainValidator, WithJsonSchema
from pydantic_core import PydanticCustomError

from autotool.schema.notjson import NotJson, importable


def _text(convert: Callable[[str], Any], note: str, error: str) -> Any:
    def build(value: Any) -> Any:
        if not isinstance(value, str):
            raise PydanticCustomError("code", "text is expected")
        try:
            return convert(value)
        except Exception as problem:
            raise PydanticCustomError("code", "{what}: {why}", {"what": error, "why": str(problem)[:200]}) from problem

    return Annotated[Any, PlainValidator(build), WithJsonSchema({"type": "string", "description": note})]


def _loaded_module(name: str) -> types.ModuleType:
    """A module that is there already: naming one must not run anything."""
    module = sys.modules.get(name)
    if module is None or name.startswith(("autotool", "_")):
        raise ValueError(f"`{name}` is not a module that is loaded")
    return module


@functools.cache
def python_type(cls: type) -> Any:
    """The annotation for a syntax tree, a code object or a module; None for every other class."""
    if issubclass(cls, ast.mod) or cls is ast.AST:
        return _text(ast.parse, "Python source text; it is parsed, not run.", "not Python source")
    if cls is types.CodeType:
        return _text(_compiled, "Python source text; it is compiled, not run.", "not Python source")
    if cls is types.ModuleType:
        return _text(_loaded_module, "Dotted name of a module that is loaded.", "no such module")
    return None


def _compiled(text: str) -> types.CodeType:
    return compile(text, "<argument>", "exec", dont_inherit=True)


def named(kind: str) -> Any:
    """A function or class by its dotted name, where the person has allowed such names.

    Raises:
        NotJson: none is allowed.
    """
    globs = importable.get()
    if not globs:
        raise NotJson(f"a {kind} cannot be sent as JSON")
    return _named(globs, kind)


@functools.cache
def _named(globs: Sequence[str], kind: str) -> Any:
    def find(name: str) -> Any:
        if not any(fnmatchcase(name, glob) for glob in globs):
            raise ValueError(f"`{name}` is not among the allowed names")
        module, _, attribute = name.rpartition(".")
        return getattr(importlib.import_module(module or "builtins"), attribute)

    return _text(find, f"Dotted name of a {kind}; allowed are {', '.join(globs)}.", "no such name")
