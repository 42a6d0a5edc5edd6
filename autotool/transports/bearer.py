"""Bearer tokens in the `Authorization` header, and what a client without a good one is told (2026-07-28, authorization)."""

from __future__ import annotations

import time
from collections import OrderedDict, deque
from collections.abc import Awaitable, Callable, Sequence

from autotool.errors import Throttled
from autotool.model import Caller
from autotool.policy.access import NotAuthenticated
from autotool.protocol.codec import encode

WELL_KNOWN = "/.well-known/oauth-protected-resource"

_MOST_FAILURES = 10
_WINDOW_S = 60.0
_MOST_PEERS = 10_000

CallerOf = Callable[[str], Awaitable[Caller]]


class Unauthorized(Exception):
    """The request is refused: its status, the headers that say what is needed, and a sentence."""

    def __init__(self, status: int, headers: list[tuple[bytes, bytes]], text: str) -> None:
        super().__init__(text)
        self.status = status
        self.headers = headers


class Flood(Throttled):
    """Too many requests without a good token came from one address."""


class Bearer:
    """Finds out who sends a request.

    Args:
        caller_of: tells who a token belongs to, or raises `NotAuthenticated`.
        resource: the address of this server, as tokens name it.
        issuers: the authorization servers that give tokens for it; empty where tokens are the server's own.
        scopes: every scope that opens something.
    """

    def __init__(
        self, caller_of: CallerOf, resource: str, issuers: Sequence[str] = (), scopes: Sequence[str] = ()
    ) -> None:
        self._caller_of = caller_of
        self._resource = resource
        self._issuers = tuple(issuers)
        self._scopes = tuple(scopes)
        self._failures: OrderedDict[str, deque[float]] = OrderedDict()

    async def caller(self, authorization: str | None, peer: str) -> Caller:
        """Who sends a request with this header from this address.

        Raises:
            Unauthorized: there is no good token (401).
            Flood: there were too many bad ones (429).
        """
        self._slow_down(peer)
        if authorization is None:
            raise self._refusal(401, "", "A bearer token is needed, in the `Authorization` header.")
        scheme, _, token = authorization.partition(" ")
        if scheme.lower() != "bearer" or not token or token != token.strip() or " " in token:
            self._failed(peer)
            raise self._refusal(401, "invalid_request", "`Authorization` has the form `Bearer TOKEN`, with one space.")
        try:
            return await self._caller_of(token)
        except NotAuthenticated as error:
            self._failed(peer)
            raise self._refusal(401, "invalid_token", f"The token is refused: {error}.") from None

    def _slow_down(self, peer: str) -> None:
        seen = self._failures.get(peer)
        if not seen:
            return
        now = time.monotonic()
        while seen and now - seen[0] > _WINDOW_S:
            seen.popleft()
        if len(seen) >= _MOST_FAILURES:
            raise Flood("Too many requests with bad tokens came from here.", _WINDOW_S - (now - seen[0]) + 1)

    def _failed(self, peer: str) -> None:
        self._failures.setdefault(peer, deque(maxlen=_MOST_FAILURES)).append(time.monotonic())
        self._failures.move_to_end(peer)
        while len(self._failures) > _MOST_PEERS:
            self._failures.popitem(last=False)

    def _refusal(self, status: int, error: str, text: str) -> Unauthorized:
        return Unauthorized(status, [self.challenge(error)], text)

    def challenge(self, error: str = "", scopes: Sequence[str] = ()) -> tuple[bytes, bytes]:
        """The `WWW-Authenticate` header (RFC 6750, RFC 9728): where tokens come from, and which scope would do."""
        parts: list[str] = []
        if self._issuers:
            parts.append(f'resource_metadata="{self._metadata_address()}"')
        if error:
            parts.append(f'error="{error}"')
        if scopes:
            parts.append(f'scope="{" ".join(scopes)}"')
        return b"www-authenticate", f"Bearer {', '.join(parts) or 'realm=mcp'}".encode()

    def _metadata_address(self) -> str:
        scheme, _, rest = self._resource.partition("://")
        host, slash, path = rest.partition("/")
        return f"{scheme}://{host}{WELL_KNOWN}{slash}{path}"

    def metadata(self) -> bytes | None:
        """The protected-resource metadata (RFC 9728); None where no authorization server is named."""
        if not self._issuers:
            return None
        return encode(
            {
                "resource": self._resource,
                "authorization_servers": list(self._issuers),
                "scopes_supported": list(self._scopes),
                "bearer_methods_supported": ["header"],
            }
        )
