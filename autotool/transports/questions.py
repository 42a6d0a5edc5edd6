"""Requests of the server's to legacy clients, and the answers that come back on their own."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable
from typing import Any, cast

from autotool.protocol.messages import ClientResponse, request_message


class Questions:
    """The requests that wait for an answer. Their ids cannot be guessed, so that an answer tells which question it is for."""

    def __init__(self) -> None:
        self._open: dict[str, asyncio.Future[dict[str, Any]]] = {}

    async def ask(self, send: Callable[[bytes], None], method: str, params: dict[str, Any]) -> dict[str, Any]:
        """Send a request and wait for its result; `{}` where the client answers with an error."""
        request_id = f"autotool-{secrets.token_urlsafe(16)}"
        answer: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        self._open[request_id] = answer
        try:
            send(request_message(request_id, method, params))
            return await answer
        finally:
            del self._open[request_id]

    def take(self, response: ClientResponse) -> bool:
        """Give an answer to whoever waits for it; whether somebody does."""
        waiting = self._open.get(str(response.id))
        if waiting is None or waiting.done():
            return False
        result = response.body.get("result")
        waiting.set_result(cast("dict[str, Any]", result) if isinstance(result, dict) else {})
        return True


SESSION = "mcp-session-id"


class ClientSessions:
    """Session ids that say what a legacy client has declared, signed, so that nothing has to be kept for it."""

    def __init__(self) -> None:
        self._serializer: Any = None

    def _signed(self) -> Any:
        if self._serializer is None:
            from itsdangerous import URLSafeSerializer

            self._serializer = URLSafeSerializer(secrets.token_bytes(32), salt="autotool.session.1")
        return self._serializer

    def new(self, capabilities: Any, *, can_listen: bool = False) -> str:
        """An id for a client that declared `capabilities`; "" for one that can be asked nothing and has nothing to listen to."""
        declared = cast("dict[str, Any]", capabilities) if isinstance(capabilities, dict) else {}
        kept = {name: declared[name] for name in ("elicitation", "sampling", "roots") if name in declared}
        return str(self._signed().dumps([secrets.token_urlsafe(9), kept])) if kept or can_listen else ""

    def capabilities(self, session_id: str) -> dict[str, Any]:
        """What the client with that id declared; nothing where the id is not ours."""
        if not session_id:
            return {}
        from itsdangerous import BadData

        try:
            _, declared = self._signed().loads(session_id)
        except (BadData, ValueError, TypeError):
            return {}
        return cast("dict[str, Any]", declared) if isinstance(declared, dict) else {}
