"""Python modules, files, functions, classes and objects as tools."""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from types import ModuleType
from typing import Any, cast

from autotool.errors import SignatureError, TargetError
from autotool.introspect import importing, scripts
from autotool.introspect.importing import Loaded, one_line
from autotool.model import Refusal, Selection, Target
from autotool.schema.notjson import importable
from autotool.sources import members, program
from autotool.sources.base import BoundTool, Discovery
from autotool.sources.functions import bound_tool
from autotool.sources.members import Member
from autotool.sources.program_base import Program


def discover(targets: Sequence[Target], selection: Selection) -> Discovery:
    """Import every target and read what it holds, in the order in which the targets name it.

    Raises:
        TargetError: a target does not exist or does not import, or all of them together hold nothing to serve.
    """
    importable.set(selection.importable)
    tools: dict[str, BoundTool] = {}
    refusals: list[Refusal] = []
    package = ("", "", "")
    for target in targets:
        found, named = _of_target(target, selection, refusals)
        package = package if package[0] else named
        for tool in found:
            tools.setdefault(tool.candidate.key, tool)
    if not tools:
        raise _nothing(targets, selection, refusals)
    return Discovery(tuple(tools.values()), tuple(refusals), package)


def _of_target(
    target: Target, selection: Selection, refusals: list[Refusal]
) -> tuple[list[BoundTool], tuple[str, str, str]]:
    """The tools behind one target, and the distribution it belongs to."""
    if target.is_script or (_is_bare(target) and program.is_console_script(target.location)):
        script = scripts.load(target.location)
        loaded = Loaded(target, sys.modules[script.module], script.value, script.name)
        return _of_program(program.of_script(script), loaded, selection, refusals), script.package
    if target.attribute == "__main__":
        loaded = Loaded(target, importing.unrun(target), None, "")
        return _of_program(program.of_main(loaded), loaded, selection, refusals), _distribution(loaded.module)
    loaded = importing.load(target)
    if loaded.reached is not None and (loaded.is_entry or not loaded.path):
        found = _of_program(program.of_reached(loaded.reached, loaded), loaded, selection, refusals)
    elif loaded.path and program.is_program(loaded.value):
        found = _of_program(program.of_value(loaded.value, loaded), loaded, selection, refusals)
    else:
        found = _of_members(_members(loaded, selection, refusals), selection, refusals)
        if not loaded.path:
            for command in program.commands_in(loaded):
                found += _of_program(program.of_value(command.value, command), command, selection, refusals)
    return found, _distribution(loaded.module)


def _is_bare(target: Target) -> bool:
    return not (target.is_file or target.attribute or target.is_factory)


def _of_program(found: Program | Any, loaded: Loaded, selection: Selection, refusals: list[Refusal]) -> list[BoundTool]:
    """The tools of a program; a `fire` component is served as the Python that it is."""
    module = loaded.module.__name__
    if isinstance(found, Program):
        if _matches((found.name,), selection.own_process):
            found = program.in_own_process(found, loaded)
        tools = program.tools_of(found, module, loaded.path or loaded.target.attribute, refusals)
        return [tool for tool in tools if _is_wanted((tool.candidate.name, tool.candidate.key), selection)]
    if inspect.isclass(found):
        found = _instance(found, loaded.target.text)
    if members.is_function(found):
        path = getattr(found, "__qualname__", "") or loaded.path
        function = cast("Callable[..., Any]", found)
        return _of_members([Member(path.rpartition(".")[2], module, path, function)], selection, refusals)
    if isinstance(found, Mapping):
        items = [(str(name), value) for name, value in cast("Mapping[Any, Any]", found).items()]
        named = [Member(name, module, name, value) for name, value in items if members.is_function(value)]
        return _of_members(named, selection, refusals)
    inner = members.of_module(found, module) if inspect.ismodule(found) else members.of_object(found, module, "")
    return _of_members(inner, selection, refusals)


def _of_members(found: Iterable[Member], selection: Selection, refusals: list[Refusal]) -> list[BoundTool]:
    tools: list[BoundTool] = []
    for member in found:
        if not _is_wanted((member.name, member.path, f"{member.module}.{member.path}"), selection):
            continue
        try:
            tools.append(bound_tool(member))
        except SignatureError as error:
            refusals.append(Refusal(f"{member.module}:{member.path}", error.reason, error.hint))
    return tools


def _members(loaded: Loaded, selection: Selection, refusals: list[Refusal]) -> Iterator[Member]:
    module_name = _shown_module(loaded)
    if loaded.path or loaded.target.is_factory:
        yield from _of_value(loaded, module_name)
        return
    yield from members.of_module(loaded.module, module_name)
    if not selection.recursive:
        return
    for name in importing.submodules(loaded.module):
        try:
            module = importing.load_module(name)
        except TargetError as error:
            refusals.append(Refusal(name, error.message, error.hint))
        else:
            yield from members.of_module(module, name)


def _shown_module(loaded: Loaded) -> str:
    return loaded.module.__name__


def _of_value(loaded: Loaded, module: str) -> Iterator[Member]:
    value, path, text = loaded.value, loaded.path, loaded.target.text
    if inspect.ismodule(value):
        yield from members.of_module(value, value.__name__)
    elif inspect.isclass(value):
        yield from members.of_object(_instance(value, text), module, path)
    elif members.is_function(value):
        yield _function(loaded, module)
    else:
        yield from members.of_object(value, module, path)


def _function(loaded: Loaded, module: str) -> Member:
    value, path, text = loaded.value, loaded.path, loaded.target.text
    if getattr(value, "__name__", "") == "<lambda>":
        raise TargetError(
            f"`{text}` is a lambda, which has no name of its own",
            hint="Serve the whole module, where it has the name it is bound to, or write it as a `def` with a name.",
        )
    owner = members.unbound_owner(value)
    if owner and inspect.isfunction(value) and not _is_static(loaded):
        raise TargetError(
            f"`{text}` is a method of `{owner}` without an instance: nothing sensible can be sent for its `self`",
            hint=f"Name the class (`{text.rpartition('.')[0]}`), an instance, or a factory such as `{module}:make()`.",
        )
    return Member(path.rpartition(".")[2], module, path, value, members.serial_of(value))


def _is_static(loaded: Loaded) -> bool:
    owner_path, _, name = loaded.path.rpartition(".")
    owner: Any = loaded.module
    for step in owner_path.split(".") if owner_path else ():
        owner = getattr(owner, step)
    if not inspect.isclass(owner):
        return True
    return isinstance(inspect.getattr_static(owner, name, None), staticmethod)


def _instance(cls: type[Any], text: str) -> Any:
    """An instance of `cls`, or the class itself where only its class and static methods can be served."""
    try:
        return cls()
    except (Exception, SystemExit) as error:
        if any(True for _ in _callable_without_instance(cls)):
            return cls if not _has_instance_methods(cls) else _refuse_class(text, error)
        return _refuse_class(text, error)


def _refuse_class(text: str, error: BaseException) -> Any:
    raise TargetError(
        f"`{text}` cannot be constructed without arguments: {one_line(error)}",
        hint="Name an instance of it, or a factory that makes one: `pkg.mod:make()`.",
    ) from error


def _callable_without_instance(cls: type[Any]) -> Iterator[str]:
    for name in dir(cls):
        if not name.startswith("_") and isinstance(inspect.getattr_static(cls, name, None), staticmethod | classmethod):
            yield name


def _has_instance_methods(cls: type[Any]) -> bool:
    return any(
        inspect.isfunction(inspect.getattr_static(cls, name, None)) for name in dir(cls) if not name.startswith("_")
    )


def _is_wanted(names: Sequence[str], selection: Selection) -> bool:
    if selection.include and not _matches(names, selection.include):
        return False
    return not _matches(names, selection.exclude)


def _matches(names: Sequence[str], globs: Sequence[str]) -> bool:
    return any(fnmatchcase(name, glob) for name in names for glob in globs)


def _nothing(targets: Sequence[Target], selection: Selection, refusals: Sequence[Refusal]) -> TargetError:
    named = ", ".join(f"`{target.text}`" for target in targets)
    if refusals:
        first = refusals[0]
        return TargetError(
            f"{named} holds nothing that can be served: {first.reason}"
            + (f" ({len(refusals) - 1} more)" if refusals[1:] else ""),
            hint=first.hint or "`autotool list` shows every reason.",
        )
    if selection.include or selection.exclude:
        return TargetError(
            f"no function of {named} is left by --include and --exclude", hint="Both are globs over function names."
        )
    return TargetError(f"{named} holds nothing to serve", hint=_holding_hint(targets))


def _holding_hint(targets: Sequence[Target]) -> str:
    for target in targets:
        module = sys.modules.get(target.location)
        if module is not None and not target.attribute and hasattr(module, "__path__"):
            return "It is a package: `--recursive` reads its submodules, or name one of them."
        classes = (
            [name for name, value in vars(module).items() if inspect.isclass(value) and not name.startswith("_")]
            if module
            else []
        )
        if classes and not target.attribute:
            return f"It has classes, whose methods are served by name: `{target.location}:{classes[0]}`."
    return "Public functions are those in `__all__`, or those that the module defines itself."


def _distribution(module: ModuleType) -> tuple[str, str, str]:
    """Name, version and summary of the distribution that `module` belongs to; the module's own where there is none."""
    top = module.__name__.partition(".")[0]
    if top in sys.stdlib_module_names or getattr(module, "__spec__", None) is None:
        return ("", "", "")
    import importlib.metadata

    try:
        name = _distribution_names().get(top, [top])[0]
        facts = importlib.metadata.metadata(name)
        return (facts["Name"] or top, facts["Version"] or "", facts["Summary"] or "")
    except Exception:
        return ("", str(getattr(module, "__version__", "") or ""), "")


@functools.cache
def _distribution_names() -> dict[str, list[str]]:
    import importlib.metadata

    return dict(importlib.metadata.packages_distributions())
