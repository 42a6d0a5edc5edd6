"""`autotool approvals`."""

from __future__ import annotations

import json
import socket
import sys
from pathlib import Path
from typing import Any

from rich.table import Table
from rich.text import Text

from autotool.cli import console
from autotool.errors import TransportError
from autotool.runtime.operators import run_folder


def sockets(path: str | None) -> list[Path]:
    """The sockets of the servers that may be asked: the one named, or all of this user's."""
    return [Path(path)] if path else sorted(run_folder().glob("approvals-*.sock"))


def pending(path: str | None) -> list[tuple[Path, dict[str, Any]]]:
    """The calls that wait, with the socket of their server; servers that are gone are passed over."""
    found: list[tuple[Path, dict[str, Any]]] = []
    for one in sockets(path):
        try:
            answer = _request(one, {"op": "list"})
        except OSError:
            if path:
                raise TransportError(
                    f"no server listens at {one}", hint="`[approval] socket` says where it does."
                ) from None
            continue
        found += [(one, waiting) for waiting in answer.get("pending", ())]
    return found


def list_pending(path: str | None, *, as_json: bool) -> None:
    """Print the calls that wait."""
    waiting = [one for _, one in pending(path)]
    if as_json:
        sys.stdout.write(json.dumps(waiting, ensure_ascii=False, indent=2) + "\n")
        return
    if not waiting:
        sys.stdout.write("Nothing waits for an operator.\n")
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    for title in ("Id", "Tool", "Caller", "Waits", "Call"):
        table.add_column(title, overflow="fold")
    for one in waiting:
        short = " ".join(str(one["text"]).split("\n")[3:])[:120]
        table.add_row(
            Text(one["id"], style="cyan"), Text(one["tool"]), Text(one["caller"]), f"{one['seconds']} s", Text(short)
        )
    console.console_for(sys.stdout).print(table)


def show(path: str | None, call_id: str) -> None:
    """Print one call whole.

    Raises:
        TransportError: nothing with this id waits.
    """
    _, one = _find(path, call_id)
    sys.stdout.write(f"{one['text']}\n\nasked by {one['caller']}, waits since {one['seconds']} s\n")


def decide(path: str | None, call_id: str, *, approve: bool) -> None:
    """Approve or deny one call.

    Raises:
        TransportError: nothing with this id waits any more.
    """
    home, one = _find(path, call_id)
    answer = _request(home, {"op": "decide", "id": one["id"], "approve": approve})
    if "error" in answer:
        raise TransportError(f"`{call_id}`: {answer['error']}")
    sys.stdout.write(f"{'approved' if approve else 'denied'}: {one['tool']}\n")


def _find(path: str | None, call_id: str) -> tuple[Path, dict[str, Any]]:
    found = [(home, one) for home, one in pending(path) if str(one["id"]).startswith(call_id)]
    if len(found) == 1:
        return found[0]
    if found:
        raise TransportError(f"several calls have an id that begins with `{call_id}`", hint="Give more of it.")
    raise TransportError(f"no call `{call_id}` waits", hint="`autotool approvals list` shows those that do.")


def _request(path: Path, request: dict[str, Any]) -> dict[str, Any]:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as link:
        link.settimeout(5.0)
        link.connect(str(path))
        link.sendall(json.dumps(request).encode() + b"\n")
        with link.makefile("rb") as answers:
            return json.loads(answers.readline())
