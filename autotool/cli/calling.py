"""`autotool call`."""

from __future__ import annotations

import json
import logging
import os
import sys
from collections.abc import Sequence
from typing import Any, TextIO, cast

from autotool.cli.finding import find
from autotool.errors import ConfigError, ProtocolError
from autotool.model import Caller, Outcome
from autotool.protocol import codec
from autotool.runtime import logs
from autotool.server import Plan, describe


def run(plan: Plan, name: str, values: Sequence[str], json_args: str | None, *, as_json: bool) -> None:
    """Run one tool and print what it gives; the process exits 1 when the tool fails.

    Raises:
        OperatorError: there is no such tool, or an argument is not `name=value`.
    """
    kept = os.dup(1)
    os.dup2(2, 1)
    out = open(kept, "w", encoding="utf-8", errors="backslashreplace")  # noqa: PTH123, SIM115 - lives as long as the process
    logs.configure(debug=plan.debug)
    if not plan.debug:
        # The error itself is printed; its traceback is for `--debug`.
        logging.getLogger("autotool.worker").setLevel(logging.ERROR)
    arguments = _arguments(values, json_args)
    application, loop = describe(plan)
    tool = find(application.catalog, name)
    outcome = loop.run_until_complete(application.service.call(tool.name, arguments, Caller()))
    _print(outcome, out, as_json=as_json)
    logs.stderr.drain()
    out.flush()
    os._exit(1 if outcome.is_error else 0)


def _arguments(values: Sequence[str], json_args: str | None) -> dict[str, Any]:
    arguments: dict[str, Any] = {}
    if json_args is not None:
        text = sys.stdin.read() if json_args == "-" else json_args
        try:
            parsed = codec.decode(text.encode("utf-8", "surrogateescape"))
        except ProtocolError as error:
            raise ConfigError(f"--json-args: {error.message}") from None
        if not isinstance(parsed, dict):
            raise ConfigError(
                "--json-args must be a JSON object", hint="""For example --json-args '{"data": [1, 2, 3]}'."""
            )
        arguments.update(cast("dict[str, Any]", parsed))
    for value in values:
        name, equals, text = value.partition("=")
        if not equals:
            raise ConfigError(
                f"`{value}` is not NAME=VALUE", hint=f"Write `{value}=…`, or give all arguments with --json-args."
            )
        arguments[name] = text
    return arguments


def _print(outcome: Outcome, out: TextIO, *, as_json: bool) -> None:
    if as_json and outcome.structured is not None:
        out.write(json.dumps(json.loads(outcome.structured), ensure_ascii=False, indent=2) + "\n")
        return
    stream = sys.stderr if outcome.is_error else out
    for block in json.loads(outcome.content):
        stream.write((block["text"] if block.get("type") == "text" else _summary(block)) + "\n")
    stream.flush()


def _summary(block: dict[str, Any]) -> str:
    size = len(str(block.get("data") or block.get("resource", {}).get("blob") or "")) * 3 // 4
    kind = block.get("mimeType") or block.get("resource", {}).get("mimeType") or ""
    return f"[{block.get('type')}: {kind}, {size} bytes]"
