"""Programs written in Python (click, Typer, argparse, console scripts) as tools, one for each of their commands."""

from __future__ import annotations

import argparse
import dataclasses
import importlib.util
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from autotool.commands.form import Form
from autotool.commands.line import CommandLine, line_of
from autotool.errors import ArgumentError, ConfigError, TargetError
from autotool.introspect import reached, scripts
from autotool.introspect.implementation import file_implementation
from autotool.introspect.importing import Loaded, one_line
from autotool.model import Candidate, Refusal
from autotool.schema import naming
from autotool.schema.results import ResultType
from autotool.sources import argparse_program, click_program, running
from autotool.sources.base import BoundTool, Exited
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
    """The program that an object of a module reads its command line with.

    Raises:
        TargetError: it is a parser, and nothing can be found that would run it.
    """
    name = _program_name(value, loaded)
    if not isinstance(value, argparse.ArgumentParser):
        return click_program.program_of(value, name)
    function = argparse_program.function_name(value)
    if function:
        return argparse_program.program_of(
            value, name, lambda argv: argparse_program.run_with_function(value, function, argv), _one_at_a_time
        )
    if loaded.reached is not None or running.runs_when_run(loaded):
        return argparse_program.program_of(value, name, running.as_subprogram(loaded), None)
    entry = running.main_of(loaded.module, value)
    if entry is None:
        raise TargetError(
            f"`{loaded.target.text}` is a parser, and nothing runs it: there is no `set_defaults(func=…)` in it,"
            f" no `main()` beside it, and `{loaded.module.__name__}` does nothing when it is run",
            hint="Name the program instead: `script:NAME` for a console script, `pkg.mod:__main__` for a module that is run.",
        )
    return argparse_program.program_of(value, name, running.with_argv(entry, name), _one_at_a_time)


def of_main(loaded: Loaded) -> Program | Any:
    """The program that a module or script is when it is run; a `fire` component as it is.

    Raises:
        TargetError: it does not read a command line.
    """
    target = loaded.target
    file = str(loaded.module.__file__)
    try:
        libraries = scripts.libraries_of(loaded.module)
        found = reached.run_file(file, libraries) if target.is_file else reached.run_module(target.location, libraries)
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
    name = _program_name(found.value, loaded)
    if loaded.is_entry:
        return _read(found, name, running.with_argv(loaded.value, name), _one_at_a_time)
    return _read(found, name, running.as_subprogram(loaded), None)


def of_script(script: scripts.Script) -> Program | Any:
    """The program behind a console script; a `fire` component as it is.

    Raises:
        TargetError: it does not read its command line with a library that is known.
    """
    name, value = script.name, script.value
    if click_program.is_command(value) or click_program.is_typer(value):
        return click_program.program_of(value, name)
    try:
        found = reached.run_function(value, name, script.libraries)
    except Exception as error:
        raise TargetError(f"the console script `{name}` fails when it is called: {one_line(error)}") from error
    if found is None:
        raise TargetError(
            f"the console script `{name}` ends without reading a command line with argparse, click, Typer or fire",
            hint=f"`--command {name}` reads its help.",
        )
    if found.kind == "fire":
        return found.value
    return _read(found, name, running.with_argv(value, name), _one_at_a_time)


def _read(found: reached.Reached, name: str, run: Callable[[list[str]], Any], serial: object) -> Program:
    if isinstance(found.value, argparse.ArgumentParser):
        return argparse_program.program_of(found.value, name, run, serial)
    return dataclasses.replace(click_program.program_of(found.value, name), run=run, serial=serial)


def in_own_process(program: Program, loaded: Loaded) -> Program:
    """The same program, run in a Python of its own for each call."""
    if loaded.target.is_script:
        run = running.script_as_subprogram(loaded.path)
    elif not loaded.path:
        run = running.as_subprogram(loaded)
    elif not isinstance(loaded.value, argparse.ArgumentParser):
        run = running.object_as_subprogram(loaded, program.name)
    elif function := argparse_program.function_name(loaded.value):
        run = running.object_as_subprogram(loaded, program.name, function)
    else:
        run = running.as_subprogram(loaded)
    return dataclasses.replace(program, run=run, serial=None)


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


def commands_in(loaded: Loaded) -> Iterator[Loaded]:
    """The click commands that a module defines, each group for what is below it.

    A command has taken its function's place; Typer apps leave theirs, and parsers have none, so both are served when named.
    """
    module = loaded.module
    found = {
        name: value
        for name, value in list(vars(module).items())
        if not name.startswith("_") and click_program.is_command(value) and _home(value) == module.__name__
    }
    below = {id(inner) for value in found.values() for inner in getattr(value, "commands", {}).values()}
    for name, value in found.items():
        if id(value) not in below:
            yield dataclasses.replace(loaded, value=value, path=name)


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
        implementation=file_implementation(str(getattr(sys.modules.get(module), "__file__", "") or "")),
    )
    return BoundTool(candidate, _runner(program, leaf, line), line.arguments, ResultType(OUTPUT_SCHEMA), program.serial)


def _runner(program: Program, leaf: Leaf, line: CommandLine) -> Callable[..., Any]:
    def run(**values: Any) -> Any:
        _check_words(leaf.levels[-1].form, values)
        argv = line.write(values)
        try:
            return running.ended(program.run(argv))
        except SystemExit as error:
            return Exited.by(error)

    return run


def _check_words(form: Form, values: Mapping[str, Any]) -> None:
    """Refuse what argparse would not pass on as it is.

    An option as the first word of a `REMAINDER` that stands first is the program's own; elsewhere a word `--` is dropped
    (https://github.com/python/cpython/issues/95468, https://github.com/python/cpython/issues/109475).
    """
    if form.style != "argparse":
        return
    problems: list[str] = []
    rest = {operand.name: place for place, operand in enumerate(form.operands) if operand.takes_options}
    for name, value in values.items():
        words: Sequence[Any] = value if isinstance(value, list | tuple) else (value,)
        if name in rest:
            if rest[name] == 0 and words and str(words[0]).startswith("-"):
                problems.append(f"`{name}`: its first word may not begin with `-`, or it would be the program's option")
        elif "--" in words:
            problems.append(f"`{name}`: the word `--` would be dropped by the program; leave it out")
    if problems:
        raise ArgumentError(problems)


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
