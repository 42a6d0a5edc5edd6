"""From what a program printed, and how it ended, to the outcome that a client reads."""

from __future__ import annotations

import csv
import errno as error_numbers
import io
import json
import os
import signal
from typing import Any

from pydantic_core import to_json

from autotool.commands.command import Command
from autotool.model import Invocation, Outcome
from autotool.runtime.process import Finished
from autotool.schema.conformity import mismatch
from autotool.worker import media
from autotool.worker.kept import MAX_DISCARDED_BYTES
from autotool.worker.outcomes import error_outcome

_MAX_ROWS = 100_000


def shape(finished: Finished, command: Command, invocation: Invocation) -> Outcome:
    """The outcome of a run.

    Standard output is the text of a success. A failure shows both streams, marked, and says how the program ended.
    """
    if finished.errno is not None:
        return error_outcome(_not_started(finished, command), error_type="NotStarted")
    text = finished.stdout.text
    if finished.exit_code in command.success_codes and not finished.stopped:
        return _success(finished, text, command)
    said = _ending(finished, invocation)
    parts = [text.rstrip("\n")] if text.strip() else []
    stderr = finished.stderr.text
    if stderr.strip() and command.section.stderr != "never":
        parts.append(f"[stderr]\n{stderr.rstrip()}")
    parts.append(f"[{said}]")
    facts: dict[str, Any] = {
        "exit_code": finished.exit_code if finished.exit_code is not None else -(finished.signal or 0)
    }
    facts["output"] = text
    if stderr:
        facts["stderr"] = stderr
    if finished.stopped:
        facts["partial"] = True
    # The streams of a failure are text, whatever is made of them in a success; the schema speaks of successes.
    return Outcome(
        True,
        to_json([{"type": "text", "text": "\n".join(parts)}]),
        to_json(facts)
        if command.section.output == "text" and not finished.stopped and finished.signal is None
        else None,
        truncated=not finished.stdout.is_whole or bool(finished.stopped),
        error_type="ProgramFailed",
        is_raised=True,
    )


def _success(finished: Finished, text: str, command: Command) -> Outcome:
    section, code = command.section, finished.exit_code
    facts: dict[str, Any] = {"exit_code": code, "output": text}
    data = finished.stdout.head
    if section.output == "text" and finished.stdout.is_whole and _is_binary(data):
        blocks = media.blocks_of(data)
        return Outcome(False, to_json(blocks), to_json({"exit_code": code, "output": f"{len(data)} bytes"}))
    if section.output != "text":
        parsed, problem = _parsed(text, section.output, is_whole=finished.stdout.is_whole)
        schema = dict(section.output_schema) if section.output_schema is not None else None
        if not problem and schema is not None:
            problem = mismatch(parsed, schema)
        if problem:
            return error_outcome(
                f"`{command.program.word}` ended well, but its output is not what was promised ({problem}):\n{text}",
                error_type="ResultMismatch",
                is_raised=True,
            )
        facts["output"] = parsed
    shown = text if text.strip() else f"[exit code {code}, no output]"
    stderr = finished.stderr.text
    if section.stderr == "always" and stderr.strip():
        facts["stderr"] = stderr
        shown = f"{shown.rstrip(chr(10))}\n[stderr]\n{stderr.rstrip()}"
    return Outcome(
        False, to_json([{"type": "text", "text": shown}]), to_json(facts), truncated=not finished.stdout.is_whole
    )


def _is_binary(data: bytes) -> bool:
    return bool(media.media_type(data)) or b"\0" in data


def _parsed(text: str, kind: str, *, is_whole: bool) -> tuple[Any, str]:
    """What a text says in JSON, lines or CSV, and why it does not."""
    if kind == "lines":
        return text.splitlines(), ""
    if kind == "csv":
        return _rows(text)
    if not is_whole:
        return None, "it was too long to be kept whole, so it is no JSON any more"
    try:
        return json.loads(text, parse_constant=_no_constant), ""
    except (ValueError, RecursionError) as error:
        return None, f"no JSON: {error}"


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _rows(text: str) -> tuple[Any, str]:
    try:
        reader = csv.reader(io.StringIO(text, newline=""))
        header = next(reader, None)
        rows = [row for _, row in zip(range(_MAX_ROWS), reader, strict=False)] if header else []
    except csv.Error as error:
        return None, f"no CSV: {error}"
    if header is None:
        return [], ""
    return [dict(zip(header, row, strict=False)) for row in rows if row], ""


def _ending(finished: Finished, invocation: Invocation) -> str:
    if finished.stopped == "timeout":
        return f"stopped: it ran into its time limit of {invocation.timeout_s:g} s; this is what it had printed by then"
    if finished.stopped == "flood":
        return f"stopped: it printed more than {MAX_DISCARDED_BYTES // 1024**2} MiB; ask for less at once"
    if finished.signal is not None:
        try:
            name = signal.Signals(finished.signal).name
        except ValueError:
            name = "an unknown signal"
        return f"killed by signal {finished.signal} ({name})"
    if finished.exit_code is None:
        return "its end could not be observed"
    return f"exit code {finished.exit_code}"


def _not_started(finished: Finished, command: Command) -> str:
    word, number = command.program.word, finished.errno or 0
    if finished.failed_at == "cwd":
        return f"`{word}` was not run: its working directory {command.section.cwd!r} cannot be entered ({os.strerror(number)})."
    if number in (error_numbers.ENOENT, error_numbers.ENOEXEC):
        reason = (
            "the program that its first line names was not found"
            if number == error_numbers.ENOENT
            else "it is not a program"
        )
        return f"`{word}` could not be run: {reason}. A script needs a first line such as `#!/bin/sh`."
    if number == error_numbers.E2BIG:
        return f"`{word}` was not run: its arguments are too long altogether; send less at once."
    if number == error_numbers.EACCES:
        return f"`{word}` is not executable by the server's user."
    return f"`{word}` could not be started: {os.strerror(number)}."
