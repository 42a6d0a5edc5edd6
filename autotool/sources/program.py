"""Programs written in Python (click, Typer, argparse, console scripts) as tools, one for each of their commands."""

from __future__ import annotations

import argparse
import dataclasses
import importlib.util
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

from autotool.commands.line import CommandLine, line_of
from autotool.errors import ConfigError, TargetError
from autotool.introspect import reached, scripts
from autotool.introspect.importing import Loaded, one_line
from autotool.model import Candidate, Refusal
from autotool.schema import naming
from autotool.schema.results import ResultType
from autotool.sources import argparse_program, click_program
from autotool.sources.base import BoundTool, Exited, Subprogram
from autotool.sources.program_base import Leaf, Program

_PLAIN_NAMES = ("main", "cli", "app", "command", "parser", "run", "root", "__main__")
OUTPUT_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"exit_code": {"type": "integer"}, "output": {"type": "string"}, "stderr": {"type": "string"}},
    "required": ["exit_code", "output"],
}
_one_at_a_time = object()
"""Programs that read `sys.argv` do not run at the same time: it belongs to the process."""


def is_program(value: Any) -> bool:
    """Whether `value` is what a command line is read with."""
    return (
        isinstance(value, argparse.ArgumentParser) or click_program.is_command(value) or click_program.is_typer(value)
    )


def of_value(value: Any, loaded: Loaded) -> Program:
    """The program that an object of a module reads its command line with."""
    name = _program_name(value, loaded)
    if not isinstance(value, argparse.ArgumentParser):
        return click_program.program_of(value, name)
    if argparse_program.runs_by_itself(value):
        return argparse_program.program_of(
            value, name, lambda argv: argparse_program.run_with_function(value, argv), _one_at_a_time
        )
    return argparse_program.program_of(value, name, _as_subprogram(loaded), None)


def of_main(loaded: Loaded) -> Program | Any:
    """The program that a module or script is when it is run; a `fire` component as it is.

    Raises:
        TargetError: it does not read a command line.
    """
    target = loaded.target
    file = str(loaded.module.__file__)
    try:
        found = reached.run_file(file) if target.is_file else reached.run_module(target.location)
    except Exception as error:
        raise TargetError(f"`{target.text}` fails when it is run: {one_line(error)}") from error
    if found is None:
        raise TargetError(
            f"`{target.text}` ends without reading a command line with argparse, click, Typer or fire",
            hint="A program that reads its words by itself is served with `--command`.",
        )
    return of_reached(found, loaded)


def of_reached(found: reached.Reached, loaded: Loaded) -> Program | Any:
    """The program behind what was reached; a `fire` component as it is."""
    if found.kind == "fire":
        return found.value
    name, run = _program_name(found.value, loaded), _as_subprogram(loaded)
    if isinstance(found.value, argparse.ArgumentParser):
        return argparse_program.program_of(found.value, name, run, None)
    program = click_program.program_of(found.value, name)
    return Program(program.name, program.leaves, run)


def of_script(script: scripts.Script) -> Program | Any:
    """The program behind a console script; a `fire` component as it is.

    Raises:
        TargetError: it does not read its command line with a library that is known.
    """
    name, value = script.name, script.value
    if click_program.is_command(value) or click_program.is_typer(value):
        return click_program.program_of(value, name)
    try:
        found = reached.run_function(value, name)
    except Exception as error:
        raise TargetError(f"the console script `{name}` fails when it is called: {one_line(error)}") from error
    if found is None:
        raise TargetError(
            f"the console script `{name}` ends without reading a command line with argparse, click, Typer or fire",
            hint=f"`--command {name}` reads its help.",
        )
    if found.kind == "fire":
        return found.value
    run = _with_argv(value, name)
    if isinstance(found.value, argparse.ArgumentParser):
        return argparse_program.program_of(found.value, name, run, _one_at_a_time)
    program = click_program.program_of(found.value, name)
    return Program(program.name, program.leaves, run, _one_at_a_time)


def in_own_process(program: Program, loaded: Loaded) -> Program:
    """The same program, run in a Python of its own for each call."""
    target = loaded.target
    if target.is_script:
        found = Path(sys.executable).with_name(target.location)
        return dataclasses.replace(program, run=_subprogram(str(found)), serial=None)
    if not loaded.path:
        return dataclasses.replace(program, run=_as_subprogram(loaded), serial=None)
    folder = str(Path(str(loaded.module.__file__)).parent) if target.is_file else "."
    name = Path(str(loaded.module.__file__)).stem if target.is_file else target.location
    code = (
        f"import importlib, sys; sys.path.insert(0, {folder!r}); sys.argv[0] = {program.name!r};"
        f" importlib.import_module({name!r}).{loaded.path}{'()' if target.is_factory else ''}()"
    )
    return dataclasses.replace(program, run=_subprogram(sys.executable, "-c", code), serial=None)


def _subprogram(*head: str) -> Callable[[list[str]], Any]:
    return lambda argv: Subprogram((*head, *argv))


def tools_of(program: Program, module: str, path: str, refusals: list[Refusal]) -> Iterator[BoundTool]:
    """One tool for each command; what cannot be served goes to `refusals`."""
    for leaf in program.leaves:
        key = f"{module}:{path} {' '.join(leaf.words[1:])}".strip()
        if leaf.reason:
            refusals.append(Refusal(key, leaf.reason))
            continue
        try:
            yield _tool(program, leaf, key, module)
        except ConfigError as error:
            refusals.append(Refusal(key, error.message, error.hint))


def commands_in(module: ModuleType) -> Iterator[Any]:
    """The click commands that a module defines, each group for what is below it.

    A command has taken its function's place; Typer apps leave theirs, and parsers have none, so both are served when named.
    """
    found = [
        value
        for name, value in list(vars(module).items())
        if not name.startswith("_") and click_program.is_command(value) and _home(value) == module.__name__
    ]
    below = {id(inner) for value in found for inner in getattr(value, "commands", {}).values()}
    yield from (value for value in found if id(value) not in below)


def _home(command: Any) -> str:
    return str(getattr(getattr(command, "callback", None), "__module__", ""))


def _tool(program: Program, leaf: Leaf, key: str, module: str) -> BoundTool:
    name = "_".join(leaf.words)
    line = line_of([(level.word, level.form) for level in leaf.levels], name)
    candidate = Candidate(
        key=key,
        name=name,
        qualifier=module,
        title=naming.title(name.replace("-", "_")),
        description=leaf.description or f"Run `{' '.join(leaf.words)}`.",
        input_schema=line.arguments.json_schema,
        output_schema=OUTPUT_SCHEMA,
        parameters=line.arguments.parameters,
        file=str(getattr(sys.modules.get(module), "__file__", "") or ""),
        warnings=tuple(f"{name}: {warning}" for warning in (*leaf.warnings, *line.warnings)),
        tags=("cli",),
    )
    return BoundTool(candidate, _runner(program, line), line.arguments, ResultType(OUTPUT_SCHEMA), program.serial)


def _runner(program: Program, line: CommandLine) -> Callable[..., Any]:
    def run(**values: Any) -> Any:
        argv = line.write(values)
        try:
            given = program.run(argv)
        except SystemExit as error:
            return Exited.by(error)
        return given if isinstance(given, Subprogram) else Exited(given if isinstance(given, int) else 0)

    return run


def _with_argv(function: Callable[[], Any], name: str) -> Callable[[list[str]], Any]:
    def run(argv: list[str]) -> Any:
        kept = sys.argv
        sys.argv = [name, *argv]
        try:
            return function()
        finally:
            sys.argv = kept

    return run


def _as_subprogram(loaded: Loaded) -> Callable[[list[str]], Any]:
    """Run the module or file in a Python of its own, as a person would."""
    target = loaded.target
    head = [str(loaded.module.__file__)] if target.is_file else ["-m", target.location]
    return _subprogram(sys.executable, *head)


def _program_name(value: Any, loaded: Loaded) -> str:
    module = loaded.module.__name__
    parts = [part for part in module.split(".") if part not in _PLAIN_NAMES and not part.startswith("_")]
    otherwise = parts[-1] if parts else module
    if loaded.target.attribute == "__main__":
        otherwise = "_".join(parts) or module
    if isinstance(value, argparse.ArgumentParser):
        return argparse_program.shown_name(value, otherwise)
    info = getattr(value, "info", None)
    name = str(getattr(value, "name", None) or getattr(info, "name", None) or "")
    return name if name and name not in _PLAIN_NAMES and not name.startswith("<") else otherwise


def is_console_script(name: str) -> bool:
    """Whether a word that is no module names a console script."""
    return importlib.util.find_spec(name.partition(".")[0]) is None and scripts.exists(name)
