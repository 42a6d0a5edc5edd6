"""`autotool init`."""

from __future__ import annotations

import asyncio
import sys
import tomllib
from dataclasses import replace
from pathlib import Path

from autotool.cli.plans import Flags, programs_of
from autotool.commands.tomltext import section_text
from autotool.commands.wrapping import Wrapped
from autotool.config import CommandSection
from autotool.errors import ConfigError, TargetError
from autotool.model import Refusal
from autotool.runtime import logs
from autotool.runtime.process import ProcessRunner
from autotool.runtime.reading import wrapped_of


def run(flags: Flags, file: str) -> None:
    """Write the blocks of the programs that `flags` name to the end of `file`; `-` prints them.

    Raises:
        OperatorError: a program cannot be read, or the file already has one of the blocks.
    """
    logs.configure(debug=flags.debug)
    refusals: list[Refusal] = []
    tools = asyncio.run(_read(flags, refusals))
    if not tools:
        first = refusals[0] if refusals else Refusal("", "nothing was found")
        raise TargetError(f"nothing could be read: {first.reason}", hint=first.hint)
    blocks = "\n".join(section_text(tool.name, _described(tool), tool.told.notes) for tool in tools)
    if file == "-":
        sys.stdout.write(blocks)
        return
    path = Path(file)
    present = _present(path)
    _refuse_known(path, present, tools)
    with path.open("a", encoding="utf-8") as out:
        out.write(("\n" if path.stat().st_size else "") + blocks)
    names = ", ".join(tool.name for tool in tools[:5]) + (f" and {len(tools) - 5} more" if tools[5:] else "")
    sys.stderr.write(f"autotool: wrote {names} to {path}. Prune what is not needed; `autotool list` shows the tools.\n")
    for refusal in refusals:
        sys.stderr.write(f"  left out: {refusal.subject}: {refusal.reason}\n")


async def _read(flags: Flags, refusals: list[Refusal]) -> list[Wrapped]:
    runner = ProcessRunner()
    try:
        return [
            tool
            for name, section in programs_of(flags).items()
            for tool in await wrapped_of(runner, name, section, refusals)
        ]
    finally:
        await runner.stop()


def _described(tool: Wrapped) -> CommandSection:
    return replace(tool.section, description=tool.section.description or tool.told.description)


def _present(path: Path) -> dict[str, object]:
    if not path.exists():
        return {}
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} is not valid TOML, and nothing was written to it: {error}") from None


def _refuse_known(path: Path, present: dict[str, object], tools: list[Wrapped]) -> None:
    known = present.get("command", {})
    twice = [tool.name for tool in tools if isinstance(known, dict) and tool.name in known]
    if twice:
        raise ConfigError(
            f"{path} already has [command.{twice[0]}], and nothing was written to it",
            hint="Remove the block first, or print the new one with `--file -`.",
        )
