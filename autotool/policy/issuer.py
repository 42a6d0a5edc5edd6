"""Access tokens of an OAuth 2.1 authorization server, checked as a resource server does (RFC 9068, RFC 8725; extra `autotool[jwt]`)."""

from __future__ import annotations

import asyncio
import json
import logging
import time
import urllib.request
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from autotool.errors import ConfigError
from autotool.model import Caller
from autotool.policy.access import NotAuthenticated

_log = logging.getLogger("autotool.access")

SAFE_ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA", "Ed25519")
"""Only signatures: no shared secrets, which the server would have to keep, and never `none`."""

_LEEWAY_S = 30
_KEEP_KEYS_S = 600.0
_SOONEST_AGAIN_S = 30.0
_FETCH_S = 10.0
_MAX_KEYS_BYTES = 1_000_000


class Issuer:
    """Checks tokens of one issuer.

    Args:
        issuer: what `iss` must be.
        audience: what `aud` must have: this server's own address.
        jwks: the issuer's keys, a file or an https address.

    Raises:
        ConfigError: joserfc is not installed, or the file of keys cannot be read.
    """

    def __init__(self, issuer: str, audience: str, jwks: str, algorithms: Sequence[str] = ()) -> None:
        try:
            from joserfc import jwt
        except ImportError:
            raise ConfigError(
                "`auth.issuer` needs joserfc, which is not installed",
                hint="Install it with `pip install 'autotool[jwt]'`.",
            ) from None
        unsafe = sorted(set(algorithms) - set(SAFE_ALGORITHMS))
        if unsafe:
            raise ConfigError(
                f"`auth.algorithms`: {unsafe[0]} is not allowed", hint=f"There are {', '.join(SAFE_ALGORITHMS)}."
            )
        self._jwt = jwt
        self._issuer = issuer
        self._audience = audience
        self._source = jwks
        self._algorithms = list(algorithms or SAFE_ALGORITHMS)
        self._keys: Any = None
        self._fetched = 0.0
        if not _is_address(jwks):
            self._keys = self._read(Path(jwks))

    def _read(self, path: Path) -> Any:
        try:
            return _key_set(path.read_bytes())
        except (OSError, ValueError) as error:
            raise ConfigError(f"`auth.jwks`: {path} has no keys that can be read: {error}") from None

    async def caller(self, token: str) -> Caller:
        """Who a token speaks for.

        Raises:
            NotAuthenticated: it is not valid for this server now.
        """
        await self._refresh(always=False)
        try:
            return self._checked(token)
        except _UnknownKey:
            # The issuer may have changed its keys since.
            await self._refresh(always=True)
        try:
            return self._checked(token)
        except _UnknownKey:
            raise NotAuthenticated("the token is signed with a key that its issuer does not have") from None

    def _checked(self, token: str) -> Caller:
        from joserfc.errors import JoseError

        if self._keys is None:
            raise NotAuthenticated("the issuer's keys cannot be had at the moment")
        try:
            claims = self._jwt.decode(token, self._keys, algorithms=self._algorithms).claims
        except JoseError as error:
            raise NotAuthenticated("the token's signature is not valid") from error
        except ValueError as error:
            raise _UnknownKey from error
        return self._who(claims)

    def _who(self, claims: Mapping[str, Any]) -> Caller:
        now = time.time()
        if claims.get("iss") != self._issuer:
            raise NotAuthenticated("the token is of another issuer")
        audience = claims.get("aud")
        named = cast("list[Any]", audience) if isinstance(audience, list) else [audience]
        if self._audience not in named:
            raise NotAuthenticated("the token is for another audience")
        expires, begins = claims.get("exp"), claims.get("nbf", 0)
        if not isinstance(expires, int | float) or now > expires + _LEEWAY_S:
            raise NotAuthenticated("the token has expired")
        if isinstance(begins, int | float) and now < begins - _LEEWAY_S:
            raise NotAuthenticated("the token is not valid yet")
        subject = claims.get("sub")
        if not isinstance(subject, str) or not subject:
            raise NotAuthenticated("the token does not say whom it speaks for")
        return Caller(f"{self._issuer}#{subject}", _scopes(claims), is_local=False)

    async def _refresh(self, *, always: bool) -> None:
        if not _is_address(self._source):
            return
        age = time.monotonic() - self._fetched
        if self._keys is not None and age < (_SOONEST_AGAIN_S if always else _KEEP_KEYS_S):
            return
        self._fetched = time.monotonic()
        try:
            self._keys = _key_set(await asyncio.to_thread(_fetch, self._source))
        except (OSError, ValueError) as error:
            _log.error("the keys at %s could not be fetched: %s", self._source, error)


class _UnknownKey(Exception):
    """The token names a key that is not among those known."""


def _is_address(text: str) -> bool:
    return text.startswith(("https://", "http://127.0.0.1", "http://localhost"))


def _fetch(address: str) -> bytes:
    with urllib.request.urlopen(address, timeout=_FETCH_S) as answer:
        return answer.read(_MAX_KEYS_BYTES)


def _key_set(data: bytes) -> Any:
    from joserfc.jwk import KeySet

    return KeySet.import_key_set(json.loads(data))


def _scopes(claims: Mapping[str, Any]) -> tuple[str, ...]:
    scope = claims.get("scope", claims.get("scp", ""))
    words = scope.split() if isinstance(scope, str) else cast("list[Any]", scope) if isinstance(scope, list) else []
    return tuple(str(word) for word in words)
