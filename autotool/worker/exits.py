"""Programs written in Python: run as a process of their own where they must be, and how they ended as an outcome."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from typing import Any

from pydantic_core import to_json

from autotool.model import Outcome
from autotool.sources.base import Exited, Subprogram
from autotool.worker.jsonable import clean_text
from autotool.worker.kept import Kept
from autotool.worker.leash import follow_parent

_GRACE_S = 1.0
_ASKED = ("Aborted!", "Aborted.", "EOFError: EOF when reading a line")


def ended(exited: Exited, output: str, errors: str, max_output_bytes: int) -> Outcome:
    """The outcome of a program that exited: its output, and for a failure both streams and the exit code."""
    output, errors = _bounded(clean_text(output), max_output_bytes), clean_text(errors)
    if exited.said:
        errors = f"{errors}{clean_text(exited.said)}\n"
    facts: dict[str, Any] = {"exit_code": exited.code, "output": output}
    if exited.code == 0:
        text = output if output.strip() else "[exit code 0, no output]"
        return Outcome(False, to_json([{"type": "text", "text": text}]), to_json(facts))
    parts = [output.rstrip()] if output.strip() else []
    if errors.strip():
        facts["stderr"] = _bounded(errors, max_output_bytes)
        parts.append(f"[stderr]\n{facts['stderr'].rstrip()}")
    if any(words in errors for words in _ASKED):
        parts.append("[it asked for input, and there is nobody to answer: give what it asks for as an argument]")
    parts.append(f"[exit code {exited.code}]")
    return Outcome(
        True, to_json([{"type": "text", "text": "\n".join(parts)}]), to_json(facts), error_type="ProgramFailed"
    )


def _bounded(text: str, max_bytes: int) -> str:
    data = text.encode("utf-8", "replace")
    if len(data) <= max_bytes:
        return text
    half = max(max_bytes // 2 - 64, 64)
    head, tail = data[:half].decode("utf-8", "ignore"), data[-half:].decode("utf-8", "ignore")
    return f"{head}\n[… truncated: {len(data) - 2 * half} of {len(data)} bytes are left out here …]\n{tail}"


async def run(program: Subprogram, max_output_bytes: int) -> Outcome:
    """Run a program in a Python of its own; cancelled, it and its process group are ended."""
    loop = asyncio.get_running_loop()
    pipes = [os.pipe(), os.pipe()]
    kept = [Kept(max_output_bytes), Kept(max_output_bytes)]
    try:
        process = await asyncio.create_subprocess_exec(
            *program.argv,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=pipes[0][1],
            stderr=pipes[1][1],
            start_new_session=True,
            preexec_fn=follow_parent,
            env={**os.environ, "NO_COLOR": "1", "TERM": "dumb", "PYTHONIOENCODING": "utf-8"},
        )
    finally:
        os.close(pipes[0][1])
        os.close(pipes[1][1])
    transports = []
    for (reading, _), keeper in zip(pipes, kept, strict=True):
        transport, _ = await loop.connect_read_pipe(lambda keeper=keeper: keeper, os.fdopen(reading, "rb", 0))
        transports.append(transport)
    try:
        await asyncio.wait(
            {asyncio.ensure_future(process.wait()), kept[0].flooded, kept[1].flooded}, return_when="FIRST_COMPLETED"
        )
        if process.returncode is not None:
            await asyncio.wait({kept[0].ended, kept[1].ended}, timeout=1.0)
    finally:
        await _end(process)
        for transport in transports:
            transport.close()
    code = process.returncode
    return ended(
        Exited(code if code is not None else -signal.SIGKILL), kept[0].text, kept[1].text, 4 * max_output_bytes
    )


async def _end(process: asyncio.subprocess.Process) -> None:
    """SIGTERM, and a second later SIGKILL, to what is left of the process group."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, number)
        if process.returncode is not None:
            continue
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_GRACE_S):
                await process.wait()
