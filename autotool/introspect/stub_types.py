"""Annotations of stub files as typing objects that exist at run time, as precise as JSON can use."""

from __future__ import annotations

import ast
import builtins
import collections.abc as abc
import functools
import importlib
import os
import sys
import typing
from collections import deque
from typing import Any, Literal, Union, cast

import typing_extensions
from typeshed_client import ImportedName

from autotool.introspect import stub_names

_MAX_DEPTH = 24


class WritableFile:
    """Stands for a parameter that the function writes to, like a file."""


_PATH = Union[str, os.PathLike[str]]
_NUMBER = float

_SPECIAL: dict[str, Any] = {
    # typeshed's own vocabulary
    "StrPath": _PATH, "BytesPath": Union[bytes, os.PathLike[bytes]], "StrOrBytesPath": _PATH, "GenericPath": _PATH,
    "FileDescriptorOrPath": Union[int, str, os.PathLike[str]], "FileDescriptor": int, "FileDescriptorLike": int,
    "ReadableBuffer": bytes, "WriteableBuffer": bytearray, "SizedBuffer": bytes, "SliceableBuffer": bytes, "IndexableBuffer": bytes,
    "ReadOnlyBuffer": bytes, "Buffer": bytes, "SupportsRead": typing.TextIO, "SupportsReadline": typing.TextIO,
    "SupportsNoArgReadline": typing.TextIO, "SupportsWrite": WritableFile, "SupportsFlush": typing.TextIO,
    "SupportsRichComparison": Any, "SupportsRichComparisonT": Any, "SupportsDunderLT": Any, "SupportsDunderGT": Any, "SupportsLessThan": Any,
    "SupportsKeysAndGetItem": dict, "SupportsItems": dict, "SupportsGetItem": Union[list[Any], dict[str, Any]], "AnyOrLiteralStr": Union[str, bytes], "StrOrLiteralStr": str, "SupportsLenAndGetItem": list, "SupportsItemAccess": dict,
    "SupportsIter": list, "SupportsNext": abc.Iterator, "SupportsTrunc": _NUMBER, "SupportsAdd": Any, "SupportsRAdd": Any, "SupportsSub": Any,
    "SupportsMul": Any, "SupportsBool": bool, "Incomplete": Any, "MaybeNone": Any, "Unused": Any, "StrEnum": str, "HasFileno": int,
    "ConvertibleToInt": Union[int, str], "ConvertibleToFloat": Union[float, str], "_SupportsFloatOrIndex": _NUMBER, "_SupportsCeil": _NUMBER,
    "_SupportsFloor": _NUMBER, "_SupportsTrunc": _NUMBER, "SupportsProdWithNoDefaultGiven": Any, "_SupportsProdWithNoDefaultGiven": Any,
    "_SupportsProdNoDefaultT": Any, "OpenTextMode": str, "OpenBinaryMode": str, "ExcInfo": Any, "OptExcInfo": Any, "TraceFunction": abc.Callable,
    "ProfileFunction": abc.Callable, "AnnotationForm": Any, "structseq": tuple, "DataclassInstance": Any, "sentinel": Any,
    # typing and builtins by the names under which stubs know them
    "Any": Any, "object": Any, "Self": Any, "Never": Any, "NoReturn": Any, "LiteralString": str, "AnyStr": str, "Text": str, "Incomplete_": Any,
    "Optional": typing.Optional, "Union": typing.Union, "Callable": abc.Callable, "Type": type, "TypeGuard": bool, "TypeIs": bool, "None": None,
    "SupportsInt": int, "SupportsIndex": int, "SupportsFloat": _NUMBER, "SupportsAbs": _NUMBER, "SupportsComplex": complex, "SupportsRound": _NUMBER,
    "SupportsBytes": bytes, "Iterable": abc.Iterable, "Iterator": abc.Iterator, "Sequence": abc.Sequence, "MutableSequence": abc.MutableSequence,
    "Mapping": abc.Mapping, "MutableMapping": abc.MutableMapping, "Collection": abc.Collection, "Container": abc.Container, "Sized": Any,
    "Hashable": abc.Hashable, "Reversible": abc.Reversible, "Generator": abc.Generator, "AbstractSet": abc.Set, "MutableSet": abc.MutableSet,
    "AsyncIterable": abc.AsyncIterable, "AsyncIterator": abc.AsyncIterator, "Awaitable": Any, "Coroutine": Any, "Counter": typing.Counter,
    "List": list, "Dict": dict, "Set": set, "FrozenSet": frozenset, "Tuple": tuple, "Deque": deque, "DefaultDict": dict,
    "OrderedDict": dict, "ChainMap": dict, "IO": typing.IO, "TextIO": typing.TextIO, "BinaryIO": typing.BinaryIO, "Pattern": typing.Pattern,
    "Match": typing.Match, "NamedTuple": tuple, "ByteString": bytes, "KeysView": list, "ValuesView": list, "ItemsView": list, "MappingView": list,
}  # fmt: skip

_TYPING = ("typing", "typing_extensions", "collections.abc", "_typeshed", "builtins", "_collections_abc")
_TRANSPARENT = ("Final", "ClassVar", "Required", "NotRequired", "ReadOnly", "Annotated", "Unpack", "deprecated")


class Reader:
    """Reads annotations that stand in the stub of one module."""

    def __init__(self, module: str) -> None:
        self._module = module

    def read(self, node: ast.expr | None, depth: int = 0) -> Any:
        """The typing object for `node`; `typing.Any` for whatever cannot be told. Never raises."""
        if node is None or depth > _MAX_DEPTH:
            return Any
        try:
            return self._read(node, depth + 1)
        except Exception:
            return Any

    def _read(self, node: ast.expr, depth: int) -> Any:
        if isinstance(node, ast.Constant):
            return self._constant(node.value, depth)
        if isinstance(node, ast.Name):
            return self._name(node.id, depth)
        if isinstance(node, ast.Attribute):
            return self._attribute(node, depth)
        if isinstance(node, ast.Subscript):
            return self._subscript(node, depth)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
            return union([self.read(node.left, depth), self.read(node.right, depth)])
        return Any

    def _constant(self, value: Any, depth: int) -> Any:
        if isinstance(value, str):
            return self.read(ast.parse(value, mode="eval").body, depth)
        return type(None) if value is None else Any

    def _name(self, name: str, depth: int) -> Any:
        info = stub_names.names_of(self._module).get(name)
        if info is None:
            return _SPECIAL[name] if name in _SPECIAL else getattr(builtins, name, Any)
        node = info.ast
        if isinstance(node, ImportedName):
            source = ".".join(node.module_name)
            return _imported(source, node.name, depth) if node.name is not None else Any
        if name in _SPECIAL and self._module in _TYPING:
            return _SPECIAL[name]
        return self._defined(name, node, depth)

    def _defined(self, name: str, node: Any, depth: int) -> Any:
        if isinstance(node, ast.ClassDef):
            return _special_class(name) if name in _SPECIAL else runtime_class(self._module, name, node)
        if isinstance(node, ast.AnnAssign):
            return self.read(node.value, depth) if node.value is not None else Any
        if isinstance(node, ast.Assign):
            return self._assigned(node.value, depth)
        return self.read(node.value, depth) if type(node).__name__ == "TypeAlias" else Any

    def _assigned(self, value: ast.expr, depth: int) -> Any:
        """A type variable by its bound or constraints; any other assignment is an alias."""
        if not isinstance(value, ast.Call):
            return self.read(value, depth)
        called = ast.unparse(value.func).rpartition(".")[2]
        if called == "NewType":
            return self.read(value.args[1], depth)
        if called != "TypeVar":
            return Any
        bound = next((keyword.value for keyword in value.keywords if keyword.arg == "bound"), None)
        if bound is not None:
            return self.read(bound, depth)
        return union([self.read(arm, depth) for arm in value.args[1:]]) if value.args[1:] else Any

    def _attribute(self, node: ast.Attribute, depth: int) -> Any:
        dotted = ast.unparse(node)
        owner, _, name = dotted.rpartition(".")
        if owner.rpartition(".")[2] in ("typing", "typing_extensions", "t", "abc", "_typeshed") and name in _SPECIAL:
            return _SPECIAL[name]
        info = stub_names.names_of(self._module).get(owner.partition(".")[0])
        if info is not None and isinstance(info.ast, ImportedName) and info.ast.name is None:
            home = ".".join(info.ast.module_name)
            rest = owner.partition(".")[2]
            return _imported(f"{home}.{rest}" if rest else home, name, depth)
        if info is not None and isinstance(info.ast, ImportedName):
            return _imported(".".join([*info.ast.module_name, cast("str", info.ast.name)]), name, depth)
        return getattr(sys.modules.get(owner), name, Any)

    def _subscript(self, node: ast.Subscript, depth: int) -> Any:
        base_name = ast.unparse(node.value).rpartition(".")[2]
        items = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if base_name == "Literal":
            return self._literal(items, depth)
        if base_name in _TRANSPARENT:
            return self.read(items[0], depth)
        if base_name == "Optional":
            return union([self.read(items[0], depth), type(None)])
        if base_name == "Union":
            return union([self.read(item, depth) for item in items])
        if base_name in ("TypeGuard", "TypeIs"):
            return bool
        base = self.read(node.value, depth)
        if base is Literal:
            return self._literal(items, depth)
        if base in (abc.Callable, type, Any):
            return base
        return _apply(base, [... if _is_ellipsis(item) else self.read(item, depth) for item in items])

    def _literal(self, items: list[ast.expr], depth: int) -> Any:
        values: list[Any] = []
        for item in items:
            try:
                values.append(ast.literal_eval(item))
            except ValueError:
                member = self._enum_member(item, depth)
                if member is None:
                    return Any
                values.append(member)
        plain = tuple(value for value in values if not isinstance(value, bytes))
        return Literal[plain] if plain else bytes

    def _enum_member(self, item: ast.expr, depth: int) -> Any:
        if not isinstance(item, ast.Attribute):
            return None
        owner = self.read(item.value, depth)
        return None if owner is Any else getattr(owner, item.attr, None)


def _is_ellipsis(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is ...


def _apply(base: Any, arguments: list[Any]) -> Any:
    """`base[arguments]`, or `base` alone where it takes none at run time."""
    if base in (str, int, float, complex, bool, bytes):
        return base
    if base is dict and len(arguments) != 2:
        return dict
    if base in (abc.Iterator, abc.Iterable, abc.Generator, list):
        arguments = arguments[:1]
    try:
        return cast("Any", base)[tuple(arguments) if len(arguments) != 1 else arguments[0]]
    except Exception:
        return base


def _special_class(name: str) -> Any:
    return _SPECIAL[name]


def _imported(module: str, name: str | None, depth: int) -> Any:
    if name is None:
        return Any
    if name in _SPECIAL and (module in _TYPING or name not in stub_names.names_of(module)):
        return _SPECIAL[name]
    if module == "builtins":
        return getattr(builtins, name, Any)
    if module in _TYPING and module != "_typeshed":
        return getattr(typing, name, getattr(typing_extensions, name, Any))
    if stub_names.stub_file(module) is None:
        return _runtime(module, name)
    return Reader(module).read(ast.Name(name), depth)


def _runtime(module: str, name: str) -> Any:
    """An object of a module that is there already, or of the standard library, whose import runs nothing of a person's."""
    present = sys.modules.get(module)
    if present is None and module.partition(".")[0] in sys.stdlib_module_names:
        try:
            present = importlib.import_module(module)
        except Exception:
            return Any
    return getattr(present, name, Any)


def runtime_class(module: str, name: str, node: ast.ClassDef) -> Any:
    """The class itself; a protocol, which exists only in the stub, by what it looks like."""
    bases = {ast.unparse(base).partition("[")[0].rpartition(".")[2] for base in node.bases}
    if "TypedDict" in bases:
        return dict
    found = _runtime(module, name)
    if found is not Any and isinstance(found, type) and "Protocol" not in bases:
        return found
    if "Protocol" not in bases and found is Any:
        return Any
    return _protocol(node)


_BY_METHOD: tuple[tuple[str, Any], ...] = (
    ("__index__", int), ("__int__", int), ("__float__", _NUMBER), ("__trunc__", _NUMBER), ("__abs__", _NUMBER), ("read", typing.TextIO),
    ("readline", typing.TextIO), ("write", WritableFile), ("fileno", int), ("__fspath__", os.PathLike[str]), ("keys", dict), ("items", dict),
    ("__next__", abc.Iterator), ("__iter__", list), ("__call__", abc.Callable), ("__buffer__", bytes),
)  # fmt: skip


_CONTAINERS = ("Sequence", "MutableSequence", "Collection", "Iterable", "Mapping", "MutableMapping", "Iterator")


def _protocol(node: ast.ClassDef) -> Any:
    """What a protocol looks like from its methods, or from the protocols that it extends."""
    methods = {item.name: item for item in node.body if isinstance(item, ast.FunctionDef)}
    for name, kind in _BY_METHOD:
        if name in methods:
            gives_bytes = kind is typing.TextIO and "bytes" in ast.unparse(methods[name])
            return typing.BinaryIO if gives_bytes else kind
    bases = [ast.unparse(base).partition("[")[0].rpartition(".")[2] for base in node.bases]
    return next((_SPECIAL[base] for base in bases if base in _CONTAINERS), Any)


def union(arms: list[Any]) -> Any:
    """The union of `arms`; anything together with something is anything."""
    if not arms or any(arm is Any for arm in arms):
        return Any
    flat = [type(None) if arm is None else arm for arm in arms]
    return functools.reduce(_or, flat)


def _or(left: Any, right: Any) -> Any:
    return typing.Union[left, right]
