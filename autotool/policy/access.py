"""Who may call what: bearer tokens kept as digests, tokens of an issuer, and the tools that scopes open."""

from __future__ import annotations

import datetime
import hashlib
import hmac
import logging
import re
import secrets
import time
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from autotool.catalog import Catalog
from autotool.errors import ConfigError
from autotool.model import Caller, ToolSpec
from autotool.policy.rules import Rules

_log = logging.getLogger("autotool.access")

TOKEN_PREFIX = "autotool_"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.@-]{0,63}")
_REREAD_S = 1.0


class NotAuthenticated(Exception):
    """A token is missing, unknown or expired; the text says which, as far as a caller may know."""


@dataclass(frozen=True, slots=True)
class Token:
    """A token as it is kept: not itself, but a digest of it.

    Attributes:
        expires: the moment after which it is refused, in seconds since 1970, or None.
    """

    name: str
    digest: str
    scopes: tuple[str, ...] = ()
    expires: float | None = None


def digest_of(token: str) -> str:
    """What is kept of a token. It is random and long, so that a plain hash is enough."""
    return hashlib.sha256(token.encode()).hexdigest()


def new_token() -> str:
    """A token nobody can guess (256 bits), with a beginning by which secret scanners know it."""
    return TOKEN_PREFIX + secrets.token_urlsafe(32)


class TokenFile:
    """The file of tokens: `[tokens.NAME]` with `sha256`, `scopes` and `expires`; read again when it has changed.

    Raises:
        ConfigError: it cannot be read, or an entry is none.
    """

    def __init__(self, path: str) -> None:
        self._path = Path(path)
        self._checked = 0.0
        self._stamp: tuple[int, int] | None = None
        self._tokens: tuple[Token, ...] = ()
        self._read()

    def _read(self) -> None:
        facts = self._path.stat() if self._path.exists() else None
        if facts is None:
            raise ConfigError(
                f"`auth.tokens`: there is no file {self._path}",
                hint=f"`autotool token new NAME --file {self._path}` makes it.",
            )
        self._tokens = read_tokens(self._path)
        self._stamp = (facts.st_mtime_ns, facts.st_ino)

    def _reread(self) -> None:
        now = time.monotonic()
        if now - self._checked < _REREAD_S:
            return
        self._checked = now
        try:
            facts = self._path.stat()
            if (facts.st_mtime_ns, facts.st_ino) != self._stamp:
                self._read()
        except (OSError, ConfigError) as error:
            _log.error("the tokens could not be read again, and those read before hold: %s", error)

    def caller(self, token: str) -> Caller:
        """Who a token belongs to.

        Raises:
            NotAuthenticated: nobody, or it has expired.
        """
        self._reread()
        given = digest_of(token)
        found: Token | None = None
        for one in self._tokens:
            # Every entry is compared, each in constant time: how long it takes says nothing.
            if hmac.compare_digest(one.digest, given):
                found = one
        if found is None:
            raise NotAuthenticated("the token is not known")
        if found.expires is not None and time.time() >= found.expires:
            raise NotAuthenticated("the token has expired")
        return Caller(found.name, found.scopes, is_local=False)


def read_tokens(path: Path) -> tuple[Token, ...]:
    """The tokens of a file.

    Raises:
        ConfigError: it is no TOML, or an entry is none; names it.
    """
    try:
        plain = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} is not valid TOML: {error}") from None
    entries = cast("dict[str, Any]", plain.get("tokens", {}))
    return tuple(_token(name, entry, path) for name, entry in entries.items())


def _token(name: str, entry: Any, path: Path) -> Token:
    where = f"{path}: tokens.{name}"
    plain = cast("dict[str, Any]", entry) if isinstance(entry, dict) else {}
    unknown = set(plain) - {"sha256", "scopes", "expires"}
    if unknown:
        raise ConfigError(
            f"{where}: there is no key `{sorted(unknown)[0]}`", hint="There are `sha256`, `scopes`, `expires`."
        )
    digest, scopes, expires = plain.get("sha256"), plain.get("scopes", []), plain.get("expires")
    if not isinstance(digest, str) or not re.fullmatch(r"[0-9a-f]{64}", digest):
        raise ConfigError(f"{where}: `sha256` is 64 hexadecimal digits", hint="`autotool token new` writes them.")
    if not isinstance(scopes, list) or not all(isinstance(scope, str) for scope in cast("list[Any]", scopes)):
        raise ConfigError(f"{where}: `scopes` is a list of names")
    return Token(name, digest, tuple(cast("list[str]", scopes)), _moment(expires, where))


def _moment(value: Any, where: str) -> float | None:
    if value is None:
        return None
    if isinstance(value, datetime.datetime):
        return (value if value.tzinfo else value.replace(tzinfo=datetime.UTC)).timestamp()
    if isinstance(value, datetime.date):
        return datetime.datetime(value.year, value.month, value.day, tzinfo=datetime.UTC).timestamp()
    raise ConfigError(f"{where}: `expires` is a date or a time, such as 2027-01-31")


def check_name(name: str) -> None:
    """Refuse what cannot name a token or a scope.

    Raises:
        ConfigError: it cannot.
    """
    if not _NAME.fullmatch(name):
        raise ConfigError(f"{name!r} is no name: letters, digits and `_.@-`, at most 64")


@dataclass(frozen=True, slots=True)
class Scopes:
    """Which tools each scope opens. Without any scope, everybody who may call at all may call everything."""

    rules: Mapping[str, Rules] = field(default_factory=dict[str, Rules])

    def permits(self, tool: ToolSpec, caller: Caller) -> bool:
        """Whether the caller's scopes open the tool; the local user has them all."""
        if not self.rules or caller.is_local:
            return True
        return any(scope in self.rules and self.rules[scope].permits(tool) for scope in caller.scopes)

    def needed(self, tool: ToolSpec) -> tuple[str, ...]:
        """The scopes that would open the tool."""
        return tuple(name for name, rules in self.rules.items() if rules.permits(tool))

    def visible(self, catalog: Catalog, caller: Caller) -> Catalog:
        """The tools that the caller sees."""
        if not self.rules or caller.is_local:
            return catalog
        return catalog.select(lambda tool: self.permits(tool, caller))
