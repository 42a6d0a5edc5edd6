"""The methods that the server answers, one function each."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, cast

from autotool.catalog import Catalog
from autotool.errors import ProtocolError, Throttled
from autotool.model import Caller, Outcome, Progress
from autotool.protocol.codec import encode
from autotool.protocol.conversation import Conversation, InputRequired, Peer, of_request
from autotool.protocol.cursors import CursorRefused, Cursors
from autotool.protocol.messages import INVALID_PARAMS, META_SERVER, Request
from autotool.protocol.subscriptions import Feed, Subscription
from autotool.protocol.toolwire import is_wrapped, tool_object
from autotool.protocol.versions import MODERN, Revision, negotiate

Report = Callable[[Progress], None]

_MOST_PAGES = 1_000
"""Pages that are kept serialised."""


class ToolSource(Protocol):
    """What the methods need from the rest of the server."""

    @property
    def catalog(self) -> Catalog:
        """The tools that are offered now."""
        ...

    def catalog_for(self, caller: Caller) -> Catalog:
        """The tools that `caller` sees."""
        ...

    @property
    def is_per_caller(self) -> bool:
        """Whether what is offered depends on who asks."""
        ...

    async def admit(self, caller: Caller) -> None:
        """Count a request of `caller` that calls nothing.

        Raises:
            Throttled: the caller has to wait.
        """
        ...

    async def call(
        self,
        name: str,
        arguments: Mapping[str, Any],
        caller: Caller,
        report: Report | None = None,
        conversation: Conversation | None = None,
    ) -> Outcome:
        """Run a tool.

        Raises:
            ProtocolError: there is no such tool.
            InputRequired: the client has to be asked, and calls again.
        """
        ...


@dataclass(frozen=True, slots=True)
class ServerInfo:
    """How the server names itself: `instructions` is text for the model, may be empty."""

    name: str
    version: str
    instructions: str = ""


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """What the protocol can be told.

    Attributes:
        page_size: tools on a page of `tools/list`.
        list_ttl_ms: milliseconds for which a client may keep what it was told.
        legacy: whether revisions with a handshake are spoken too.
        max_message_bytes: the longest line or body that is read.
    """

    page_size: int = 200
    list_ttl_ms: int = 300_000
    legacy: bool = True
    max_message_bytes: int = 4 * 1024 * 1024


@dataclass(slots=True)
class Methods:
    """The server's side of every method.

    Attributes:
        source: the tools.
        info: who the server is.
        settings: how it behaves.
        can_change: whether the list of tools can change while the server runs.
        feed: who is told when it does.
        cursors: makes cursors and takes them back.
    """

    source: ToolSource
    info: ServerInfo
    settings: ServerSettings = field(default_factory=ServerSettings)
    can_change: bool = False
    cursors: Cursors = field(default_factory=Cursors)
    feed: Feed = field(init=False)
    _complete: bytes = field(init=False)
    _pages: dict[tuple[str, str, int], bytes] = field(default_factory=dict[tuple[str, str, int], bytes])

    def __post_init__(self) -> None:
        self.feed = Feed(lambda caller: self.source.catalog_for(caller).version, self.can_change)
        self._complete = b',"resultType":"complete","_meta":' + encode(self._server_meta())

    def replace(self, source: ToolSource, settings: ServerSettings) -> int:
        """Offer other tools from now on, and tell those whose list has changed; gives how many there were."""
        self.source, self.settings = source, settings
        self._pages.clear()
        return self.feed.announce()

    def ended(self, subscription: Subscription) -> bytes:
        """The response that ends a subscription."""
        return subscription.ended(self._server_meta())

    def _tools_capability(self) -> dict[str, Any]:
        return {"listChanged": True} if self.feed.can_change else {}

    def _server_meta(self) -> dict[str, Any]:
        return {META_SERVER: {"name": self.info.name, "version": self.info.version}}

    def discover(self, request: Request, revision: Revision, caller: Caller) -> bytes:
        """`server/discover` (2026-07-28, basic, versioning)."""
        result: dict[str, Any] = {
            "resultType": "complete",
            "supportedVersions": [MODERN],
            "capabilities": {"tools": self._tools_capability(), "prompts": {}, "resources": {}},
            "ttlMs": self.settings.list_ttl_ms,
            "cacheScope": "public",
            "_meta": self._server_meta(),
        }
        if self.info.instructions:
            result["instructions"] = self.info.instructions
        return encode(result)

    def initialize(self, request: Request, revision: Revision, caller: Caller) -> bytes:
        """`initialize` (2025-11-25 and earlier, lifecycle)."""
        requested = request.params.get("protocolVersion")
        if not isinstance(requested, str):
            raise ProtocolError(
                INVALID_PARAMS, "`params.protocolVersion` is required: the revision that the client speaks."
            )
        result: dict[str, Any] = {
            "protocolVersion": negotiate(requested).version,
            "capabilities": {"tools": self._tools_capability()},
            "serverInfo": {"name": self.info.name, "version": self.info.version},
        }
        if self.info.instructions:
            result["instructions"] = self.info.instructions
        return encode(result)

    def ping(self, request: Request, revision: Revision, caller: Caller) -> bytes:
        """`ping`, which only legacy clients send."""
        return b"{}"

    def list_nothing(self, request: Request, revision: Revision, caller: Caller) -> bytes:
        """`prompts/list`, `resources/list` and `resources/templates/list`: there are none, which may be kept like the tools."""
        if request.params.get("cursor") is not None:
            raise ProtocolError(INVALID_PARAMS, "The cursor is not valid for this list; it has one page.")
        key = {"prompts/list": "prompts", "resources/list": "resources"}.get(request.method, "resourceTemplates")
        hints = {"ttlMs": self.settings.list_ttl_ms, "cacheScope": "public", "_meta": self._server_meta()}
        return encode({"resultType": "complete", key: [], **hints})

    def find_nothing(self, request: Request, revision: Revision, caller: Caller) -> bytes:
        """`prompts/get` and `resources/read`: whatever is asked for is not there.

        Raises:
            ProtocolError: always (-32602, as 2026-07-28 has it for both).
        """
        kind, field_name = ("prompt", "name") if request.method == "prompts/get" else ("resource", "uri")
        wanted = request.params.get(field_name)
        if not isinstance(wanted, str):
            raise ProtocolError(INVALID_PARAMS, f"`params.{field_name}` is required: the {field_name} of the {kind}.")
        raise ProtocolError(
            INVALID_PARAMS,
            f"Unknown {kind}: {wanted[:128]!r}; this server offers tools only.",
            data={field_name: wanted[:1024]},
        )

    def list_tools(self, request: Request, revision: Revision, caller: Caller) -> bytes:
        """`tools/list`: one page, serialised once for each catalog and revision."""
        catalog = self.source.catalog_for(caller)
        offset = self._offset(request.params.get("cursor"), catalog)
        key = (catalog.version, revision.version, offset)
        page = self._pages.get(key)
        if page is None:
            if len(self._pages) >= _MOST_PAGES:
                self._pages.clear()
            page = self._pages[key] = encode(self.page(catalog, offset, revision))
        return page

    def _offset(self, cursor: Any, catalog: Catalog) -> int:
        if cursor is None:
            return 0
        if not isinstance(cursor, str):
            raise ProtocolError(INVALID_PARAMS, "`params.cursor` is the text that the server gave.")
        try:
            return self.cursors.load(cursor, catalog.version)
        except CursorRefused as error:
            raise ProtocolError(INVALID_PARAMS, str(error)) from None

    def page(self, catalog: Catalog, offset: int, revision: Revision) -> dict[str, Any]:
        """The `tools/list` result that begins at `offset`."""
        end = offset + self.settings.page_size
        result: dict[str, Any] = {"tools": [tool_object(tool, revision) for tool in catalog.tools[offset:end]]}
        if end < len(catalog.tools):
            result["nextCursor"] = self.cursors.dump(catalog.version, end)
        if revision.modern:
            return {
                "resultType": "complete",
                **result,
                "ttlMs": self.settings.list_ttl_ms,
                "cacheScope": "private" if self.source.is_per_caller else "public",
                "_meta": self._server_meta(),
            }
        return result

    async def call_tool(
        self, request: Request, revision: Revision, caller: Caller, report: Report | None, peer: Peer | None = None
    ) -> bytes:
        """`tools/call`: the result around content that is serialised already."""
        name, arguments = _call_parameters(request.params)
        conversation = of_request(request, modern=revision.modern, peer=peer)
        source = self.source
        try:
            outcome = await source.call(name, arguments, caller, report, conversation)
        except InputRequired as needed:
            return self._input_required(needed)
        return self._result(source, name, outcome, revision)

    def throttled_call(self, error: Throttled, revision: Revision) -> bytes:
        """The result of a `tools/call` that was not let in, for clients that no status reaches."""
        text = encode([{"type": "text", "text": error.message}])
        return self._result(self.source, "", Outcome(True, text, retry_after_s=error.retry_after_s), revision)

    def _result(self, source: ToolSource, name: str, outcome: Outcome, revision: Revision) -> bytes:
        parts = [b'{"content":', outcome.content, b',"isError":', b"true" if outcome.is_error else b"false"]
        if outcome.structured is not None and revision.structured:
            parts += [b',"structuredContent":', _structured(source, name, outcome.structured, revision)]
        if outcome.retry_after_s is not None or outcome.meta:
            parts.append(self._ending(outcome, revision))
        elif revision.modern:
            parts.append(self._complete)
        parts.append(b"}")
        return b"".join(parts)

    def _ending(self, outcome: Outcome, revision: Revision) -> bytes:
        """`_meta` with what is to be known of the outcome, in every revision."""
        meta = dict(outcome.meta or {})
        if outcome.retry_after_s is not None:
            meta["retryAfterMs"] = math.ceil(outcome.retry_after_s * 1000)
        if not revision.modern:
            return b',"_meta":' + encode(meta)
        return b',"resultType":"complete","_meta":' + encode({**self._server_meta(), **meta})

    def _input_required(self, needed: InputRequired) -> bytes:
        return encode(
            {
                "resultType": "input_required",
                "inputRequests": needed.requests,
                "requestState": needed.state,
                "_meta": self._server_meta(),
            }
        )


def _structured(source: ToolSource, name: str, structured: bytes, revision: Revision) -> bytes:
    if revision.modern:
        return structured
    tool = source.catalog.find(name)
    if (tool is not None and is_wrapped(tool.candidate.output_schema)) or not structured.startswith(b"{"):
        return b'{"result":' + structured + b"}"
    return structured


def _call_parameters(params: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    name = params.get("name")
    if not isinstance(name, str):
        raise ProtocolError(INVALID_PARAMS, "`params.name` is required: the name of the tool.")
    arguments = params.get("arguments")
    if arguments is None:
        return name, {}
    if not isinstance(arguments, dict):
        kind = "an array" if isinstance(arguments, list) else f"a {type(arguments).__name__}"
        raise ProtocolError(INVALID_PARAMS, f"`params.arguments` of `{name[:128]}` is an object, not {kind}.")
    return name, cast("dict[str, Any]", arguments)


Handler = Callable[[Methods, Request, Revision, Caller], bytes]

MODERN_METHODS: dict[str, Handler] = {
    "server/discover": Methods.discover,
    "tools/list": Methods.list_tools,
    "prompts/list": Methods.list_nothing,
    "prompts/get": Methods.find_nothing,
    "resources/list": Methods.list_nothing,
    "resources/read": Methods.find_nothing,
    "resources/templates/list": Methods.list_nothing,
}
LEGACY_METHODS: dict[str, Handler] = {
    "initialize": Methods.initialize,
    "ping": Methods.ping,
    "tools/list": Methods.list_tools,
}
