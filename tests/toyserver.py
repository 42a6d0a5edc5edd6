"""The protocol and the transports around a few tools in memory; as a program: `toyserver.py stdio|http [modern]`."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Mapping
from typing import Any

from autotool.catalog import Catalog
from autotool.errors import ProtocolError
from autotool.model import Caller, Candidate, Outcome, Progress
from autotool.protocol.dispatcher import Dispatcher
from autotool.protocol.methods import Methods, ServerInfo, ServerSettings

OUTPUT_SCHEMAS: dict[str, dict[str, Any] | None] = {
    "number": {"type": "integer"},
    "listed": {"type": "array", "items": {"type": "integer"}},
    "mapping": {"type": "object", "properties": {"a": {"type": "integer"}}},
    "loose": None,
    "tree": {"$ref": "#/$defs/Node", "$defs": {"Node": {"type": "object"}}},
}
STRUCTURED = {"number": b"3", "listed": b"[1]", "mapping": b'{"a":1}', "loose": b"[2]", "tree": b"{}"}

ROUTED = {
    "type": "object",
    "properties": {
        "region": {"type": "string", "x-mcp-header": "Region"},
        "count": {"type": "integer", "x-mcp-header": "Count"},
    },
}
TEXT = b'[{"type":"text","text":"%s"}]'


class ToySource:
    """Tools that answer, wait, report, fail and are cancelled as told."""

    def __init__(self) -> None:
        names = ("ok", "wait", "cancelled", "steps", "boom", "big", "routed", *STRUCTURED)
        self.catalog = Catalog.build([self._candidate(name) for name in names])
        self.was_cancelled = asyncio.Event()

    @staticmethod
    def _candidate(name: str) -> Candidate:
        schema = ROUTED if name == "routed" else {"type": "object"}
        return Candidate(f"toy:{name}", name, "toy", name, f"The tool {name}.", schema, OUTPUT_SCHEMAS.get(name))

    is_per_caller = False

    def catalog_for(self, caller: Caller) -> Catalog:
        return self.catalog

    async def admit(self, caller: Caller) -> None:
        return None

    async def call(
        self,
        name: str,
        arguments: Mapping[str, Any],
        caller: Caller,
        report: Callable[[Progress], None] | None = None,
        conversation: object = None,
    ) -> Outcome:
        if self.catalog.find(name) is None:
            raise ProtocolError(-32602, f"Unknown tool: `{name}`.")
        if name in STRUCTURED:
            return Outcome(False, TEXT % b"toy", STRUCTURED[name])
        special = getattr(self, f"_{name}", None)
        return Outcome(False, TEXT % (b"ok" if special is None else await special(arguments, report)))

    async def _wait(self, arguments: Mapping[str, Any], report: Callable[[Progress], None] | None) -> bytes:
        if report is not None:
            report(Progress(1))
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.was_cancelled.set()
            raise
        return b"never"

    async def _cancelled(self, arguments: Mapping[str, Any], report: object) -> bytes:
        await self.was_cancelled.wait()
        self.was_cancelled.clear()
        return b"yes"

    async def _steps(self, arguments: Mapping[str, Any], report: Callable[[Progress], None] | None) -> bytes:
        if report is not None:
            for done in (1, 0.5, float("nan"), float("inf"), 2, 2):
                report(Progress(done, 2, "counting"))
        return b"stepped"

    async def _boom(self, arguments: Mapping[str, Any], report: object) -> bytes:
        raise RuntimeError("inside")

    async def _big(self, arguments: Mapping[str, Any], report: object) -> bytes:
        return b"x" * int(arguments["size"])


def dispatcher(source: ToySource, *, legacy: bool = True) -> Dispatcher:
    return Dispatcher(Methods(source, ServerInfo("toy", "1"), ServerSettings(legacy=legacy)))


async def serve_stdio() -> None:
    from autotool.transports import stdio

    await stdio.serve_stdio(dispatcher(ToySource()), *stdio.claim())


async def serve_http(*, legacy: bool) -> None:
    from autotool.transports import listen
    from autotool.transports.http import create_app
    from autotool.transports.security import HttpLimits

    listening = listen.bind("127.0.0.1", 0)
    app = create_app(dispatcher(ToySource(), legacy=legacy), HttpLimits(body_timeout_s=0.5))
    port = listening.getsockname()[1]
    await listen.serve_http(app, listening, lambda: print(port, flush=True))
    listening.close()


if __name__ == "__main__":
    if sys.argv[1] == "stdio":
        asyncio.run(serve_stdio())
    else:
        asyncio.run(serve_http(legacy="modern" not in sys.argv))
