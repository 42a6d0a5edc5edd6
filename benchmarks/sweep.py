"""Reads the public functions of the standard library and of real packages, and calls those that can be called.

    python -m benchmarks.sweep [--no-calls]

For each routine: served, or the reason why not; its schema checked against the 2020-12 metaschema; a call with arguments
generated from the schema, through a real worker, that must end in a result or a tool error. What is counted and what is never
called stands in `sweep.toml`. Exit code 1 when a bar is missed.
"""

from __future__ import annotations

import argparse
import asyncio
import importlib
import inspect
import json
import os
import random
import tempfile
import tomllib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from types import ModuleType
from typing import Any

import jsonschema

from autotool.errors import ExecutionError, OperatorError
from autotool.introspect.targets import parse_target
from autotool.model import Candidate, Invocation, Selection
from autotool.runtime.launch import WorkerSettings
from autotool.runtime.supervisor import WorkerExecutor
from autotool.sources.python import discover

SERVED_STDLIB, SERVED_PACKAGES, TYPED = 0.97, 0.95, 0.90
SEED = 7


@dataclass
class Row:
    """What was found of one module or package."""

    name: str
    routines: int = 0
    served: int = 0
    parameters: int = 0
    typed: int = 0
    called: int = 0
    results: int = 0
    reasons: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    crashes: list[str] = field(default_factory=list)


def routines(module: ModuleType) -> list[str]:
    """The counting rule of `sweep.toml`."""
    if hasattr(module, "__all__"):
        return [one for one in module.__all__ if inspect.isroutine(getattr(module, one, None))]
    homes = (module.__name__, f"_{module.__name__}", "posix", None)
    return [
        one
        for one, value in vars(module).items()
        if not one.startswith("_") and inspect.isroutine(value) and getattr(value, "__module__", None) in homes
    ]


def read(name: str) -> tuple[Row, list[Candidate]]:
    row = Row(name)
    wanted = routines(importlib.import_module(name))
    row.routines = len(wanted)
    if not wanted:
        return row, []
    try:
        found = discover([parse_target(name)], Selection())
    except OperatorError as error:
        row.reasons = [f"{name}: {error.message}"]
        return row, []
    candidates = [tool.candidate for tool in found.tools if tool.candidate.name in wanted]
    row.served = len(candidates)
    why = {refusal.subject.rpartition(":")[2]: refusal.reason for refusal in found.refusals}
    names = {candidate.name for candidate in candidates}
    row.reasons = [f"{name}.{one}: {why.get(one, 'not found')}" for one in wanted if one not in names]
    for candidate in candidates:
        jsonschema.Draft202012Validator.check_schema(candidate.input_schema)
        for schema in candidate.input_schema["properties"].values():
            row.parameters += 1
            row.typed += bool(set(schema) - {"default", "description"})
    return row, candidates


def sample(schema: dict[str, Any], chance: random.Random, depth: int = 0) -> Any:
    """A value that the schema admits."""
    if "enum" in schema:
        return chance.choice(schema["enum"])
    if "anyOf" in schema:
        return sample(chance.choice(schema["anyOf"]), chance, depth + 1)
    if schema.get("contentEncoding") == "base64":
        return "aGVsbG8="
    kind = schema.get("type")
    if kind == "array":
        count = max(schema.get("minItems", 1), min(2, schema.get("maxItems", 2)))
        return [sample(schema.get("items", {}), chance, depth + 1) for _ in range(count)] if depth < 4 else []
    if kind == "object":
        inner = {name: sample(below, chance, depth + 1) for name, below in schema.get("properties", {}).items()}
        return inner if depth < 4 else {}
    low = schema.get("minimum", schema.get("exclusiveMinimum", 0))
    return {
        "string": lambda: {
            "date-time": "2024-05-01T10:00:00Z",
            "date": "2024-05-01",
            "regex": "a+",
            "uuid": "6ba7b810-9dad-11d1-80b4-00c04fd430c8",
        }.get(schema.get("format", ""), chance.choice(["a", "abc", "1", ""])),
        "integer": lambda: int(low) + chance.choice([1, 2, 3]),
        "number": lambda: low + chance.choice([0.5, 1, 2]),
        "boolean": lambda: chance.choice([True, False]),
        "null": lambda: None,
    }.get(str(kind), lambda: chance.choice(["a", 1, [1, 2], {"a": 1}]))()


def arguments(schema: dict[str, Any], chance: random.Random, *, everything: bool) -> dict[str, Any]:
    names = schema["properties"] if everything else schema.get("required", [])
    return {name: sample(schema["properties"][name], chance) for name in names}


def callable_candidates(name: str, candidates: list[Candidate], never: dict[str, list[str]]) -> Iterator[Candidate]:
    globs = never.get(name, [])
    for candidate in candidates:
        if not any(fnmatchcase(candidate.name, glob) for glob in globs):
            yield candidate


async def call_all(row: Row, candidates: list[Candidate]) -> None:
    """Call through a worker, as a client would: with what is required, and with everything."""
    executor = WorkerExecutor(WorkerSettings((parse_target(row.name),)))
    chance = random.Random(SEED)
    await executor.start()
    try:
        for candidate in candidates:
            for everything in (False, True):
                given = arguments(candidate.input_schema, chance, everything=everything)
                try:
                    outcome = await executor.run(Invocation(candidate.key, given, timeout_s=5))
                except ExecutionError as error:
                    # The function ended its process, or did not end: the call is answered, and the server goes on.
                    row.called += 1
                    if "signal" in str(error) or "exited" in str(error):
                        row.crashes.append(f"{candidate.key} {given}: {error}")
                    continue
                row.called += 1
                row.results += not outcome.is_error
                blocks = json.loads(outcome.content)
                if not blocks or (outcome.structured is not None and json.loads(outcome.structured) is Ellipsis):
                    row.faults.append(f"{candidate.key} {given}: no content")
    finally:
        await executor.stop()


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--no-calls", action="store_true")
    calls = not parser.parse_args().no_calls
    plan = tomllib.loads((Path(__file__).parent / "sweep.toml").read_text(encoding="utf-8"))
    groups = {"standard library": plan["stdlib"], "packages": list(plan["packages"])}
    # Functions that are called write where they like: into a folder that is thrown away.
    folder = tempfile.TemporaryDirectory()
    os.chdir(folder.name)
    missed = False
    for title, names in groups.items():
        rows: list[Row] = []
        for name in names:
            row, candidates = read(name)
            chosen = list(callable_candidates(name, candidates, plan["never_call"]))
            if calls and chosen:
                asyncio.run(call_all(row, chosen))
            rows.append(row)
        missed |= report(title, rows, SERVED_STDLIB if title.startswith("standard") else SERVED_PACKAGES)
    os.chdir(tempfile.gettempdir())
    folder.cleanup()
    return 1 if missed else 0


def report(title: str, rows: list[Row], bar: float) -> bool:
    """Print a table; whether a bar is missed."""
    total: Counter[str] = Counter()
    print(f"\n{title:<18}{'routines':>9}{'served':>8}{'params':>8}{'typed':>7}{'calls':>7}{'results':>9}")
    for row in rows:
        print(
            f"{row.name:<18}{row.routines:>9}{row.served:>8}{row.parameters:>8}{row.typed:>7}{row.called:>7}{row.results:>9}"
        )
        for key in ("routines", "served", "parameters", "typed", "called", "results"):
            total[key] += getattr(row, key)
    served, typed = total["served"] / total["routines"], total["typed"] / total["parameters"]
    print(
        f"{'all':<18}"
        f"{total['routines']:>9}{total['served']:>8}{total['parameters']:>8}{total['typed']:>7}{total['called']:>7}{total['results']:>9}"
    )
    print(f"served {served:.1%} (bar {bar:.0%}), parameters with a true type {typed:.1%}")
    for row in rows:
        for reason in row.reasons:
            print(f"  not served  {reason}")
        for crash in row.crashes:
            print(f"  crashed, and was survived  {crash}")
        for fault in row.faults:
            print(f"  FAULT  {fault}")
    return served < bar or any(row.faults for row in rows) or (title.startswith("standard") and typed < TYPED)


if __name__ == "__main__":
    raise SystemExit(main())
