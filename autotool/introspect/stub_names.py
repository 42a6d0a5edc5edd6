"""The names of stub files: parsed once a module, followed through imports and aliases to what defines them."""

from __future__ import annotations

import ast
import functools
import logging
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import typeshed_client
from typeshed_client import ImportedName, NameInfo, OverloadedName, SearchContext

_MAX_HOPS = 12

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class Found:
    """What a name means: its node(s), and the module whose names the nodes use.

    Attributes:
        owners: the classes on the way, outermost first, whose own type variables may be used.
    """

    module: str
    nodes: tuple[Any, ...]
    children: dict[str, NameInfo] | None = None
    owners: tuple[ast.ClassDef, ...] = ()


@functools.cache
def _context() -> SearchContext:
    logging.getLogger("typeshed_client").setLevel(logging.CRITICAL)
    paths = [Path(entry) for entry in sys.path if entry and Path(entry).is_dir()]
    return typeshed_client.get_search_context(search_path=paths, version=sys.version_info[:2], platform=sys.platform)


@functools.cache
def stub_file(module: str) -> Path | None:
    """The stub file of `module`: beside the module, in an installed stub package, or in typeshed."""
    beside = getattr(sys.modules.get(module), "__file__", None)
    if isinstance(beside, str) and (own := Path(beside).with_suffix(".pyi")).is_file():
        return own
    try:
        return typeshed_client.get_stub_file(module, search_context=_context())
    except Exception:
        return None


def is_typeshed(module: str) -> bool:
    """Whether the stub of `module` is typeshed's own, which comes with `typeshed_client`."""
    path = stub_file(module)
    return path is not None and path.is_relative_to(Path(typeshed_client.__file__).parent)


@functools.cache
def names_of(module: str) -> dict[str, NameInfo]:
    """Every name that the stub of `module` defines or imports; empty where there is no stub."""
    path = stub_file(module)
    if path is None:
        return {}
    try:
        if path != typeshed_client.get_stub_file(module, search_context=_context()):
            return _parsed(module, path)
        return dict(typeshed_client.get_stub_names(module, search_context=_context()) or {})
    except Exception:
        return {}


def _parsed(module: str, path: Path) -> dict[str, NameInfo]:
    """A stub that lies where `typeshed_client` does not look: beside a script."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    name = typeshed_client.ModulePath(tuple(module.split(".")))
    is_init = path.name == "__init__.pyi"
    return dict(typeshed_client.parser.parse_ast(tree, _context(), name, is_init=is_init, file_path=path))


def find(module: str, path: str) -> Found | None:
    """What `path` (dotted, through classes) means in the stub of `module`."""
    first, *rest = path.split(".")
    found = _resolve(module, first, 0)
    for step in rest:
        if found is None:
            return None
        found = _member(found, step)
    return found


def _resolve(module: str, name: str, hops: int) -> Found | None:
    info = names_of(module).get(name)
    if info is None:
        return _from_c_half(module, name) if hops == 0 else None
    return _follow(module, info, hops)


def _from_c_half(module: str, name: str) -> Found | None:
    half = f"_{module}"
    return _resolve(half, name, 1) if "." not in module and stub_file(half) is not None else None


def _follow(module: str, info: NameInfo, hops: int) -> Found | None:
    """Through imports and aliases; `hops` bounds circles of them."""
    if hops > _MAX_HOPS:
        return None
    node = info.ast
    if isinstance(node, ImportedName):
        source = ".".join(node.module_name)
        return _resolve(source, node.name, hops + 1) if node.name is not None else None
    if isinstance(node, OverloadedName):
        definitions = tuple(item for item in node.definitions if not isinstance(item, ImportedName))
        return Found(module, definitions)
    if isinstance(node, ast.Assign):
        return _alias(module, node.value, hops) or Found(module, (node,))
    owners = (node,) if isinstance(node, ast.ClassDef) else ()
    return Found(module, (node,), cast("dict[str, NameInfo] | None", info.child_nodes), owners)


def _alias(module: str, value: ast.expr, hops: int) -> Found | None:
    """`foo = bar` and `random = _inst.random`."""
    if isinstance(value, ast.Name):
        return _resolve(module, value.id, hops + 1)
    if isinstance(value, ast.Attribute) and isinstance(value.value, ast.Name):
        owner = _resolve(module, value.value.id, hops + 1)
        if (
            owner is not None
            and isinstance(owner.nodes[0], ast.AnnAssign)
            and isinstance(owner.nodes[0].annotation, ast.Name)
        ):
            owner = _resolve(owner.module, owner.nodes[0].annotation.id, hops + 1)
        return _member(owner, value.attr) if owner is not None else None
    return None


def _member(owner: Found, name: str, hops: int = 0) -> Found | None:
    """An attribute of a class, its own or inherited."""
    if owner.children is None or hops > _MAX_HOPS:
        return None
    info = owner.children.get(name)
    if info is not None:
        found = _follow_member(owner, info, hops)
        return (
            None if found is None else Found(found.module, found.nodes, found.children, (*owner.owners, *found.owners))
        )
    for base in _bases(owner):
        found = _member(base, name, hops + 1)
        if found is not None:
            return found
    return None


def _follow_member(owner: Found, info: NameInfo, hops: int) -> Found | None:
    node = info.ast
    if (
        isinstance(node, ast.Assign)
        and isinstance(node.value, ast.Name)
        and owner.children
        and node.value.id in owner.children
    ):
        return _follow_member(owner, owner.children[node.value.id], hops + 1) if hops <= _MAX_HOPS else None
    return _follow(owner.module, info, hops)


def _bases(owner: Found) -> Iterator[Found]:
    node = owner.nodes[0]
    for base in node.bases if isinstance(node, ast.ClassDef) else ():
        plain = base.value if isinstance(base, ast.Subscript) else base
        found = _base(owner.module, plain)
        if found is not None:
            yield found


def _base(module: str, node: ast.expr) -> Found | None:
    if isinstance(node, ast.Name):
        return _resolve(module, node.id, 0)
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        info = names_of(module).get(node.value.id)
        if info is not None and isinstance(info.ast, ImportedName):
            home = [*info.ast.module_name, *([info.ast.name] if info.ast.name else [])]
            return _resolve(".".join(home), node.attr, 0)
    return None
