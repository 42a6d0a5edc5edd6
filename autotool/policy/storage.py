"""What replicas share: a Redis that counts calls and remembers what was used.

A storage that does not answer must not hold up the server: each use waits for at most a second, and while the storage is known to be gone
nobody waits for it at all; one task of its own looks whether it is back.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import secrets
import time
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit

from limits import RateLimitItem

from autotool.errors import ConfigError, StorageDown

if TYPE_CHECKING:
    from limits.aio.storage import RedisStorage

_log = logging.getLogger("autotool.limits")

T = TypeVar("T")

SCHEMES = ("redis", "rediss", "unix")
_ANSWER_S = 1.0
_LOOK_S = 1.0
"""Seconds between two looks whether a storage that was gone is back."""


class SharedStorage:
    """A Redis, for limits and for what counts once.

    Args:
        url: `redis://…`, `rediss://…` or `unix:///path`; a password in it is never shown.
        space: what all keys begin with, the same for all replicas of one server.

    Raises:
        ConfigError: it is no such address, or the client library is not installed.
    """

    def __init__(self, url: str, space: str, answer_s: float = _ANSWER_S) -> None:
        self._where = _shown(url)
        self._space = space
        self._answer_s = answer_s
        self._client, self._counts = _connected(url, space, answer_s)
        self._is_down = False
        self._looking: asyncio.Task[None] | None = None

    async def hit(self, limit: RateLimitItem, key: str) -> float:
        """As `Windows.hit`.

        Raises:
            StorageDown: it does not answer.
        """
        name = f"{limit.amount}/{limit.get_expiry()}/{_short(key)}"
        return await self._run(lambda: self._hit(limit.amount, limit.get_expiry(), name))

    async def _hit(self, most: int, length_s: int, name: str) -> float:
        key = f"{self._space}/{name}"
        if await self._counts.acquire_entry(key, most, length_s):
            return 0.0
        began, _ = await self._counts.get_moving_window(key, most, length_s)
        # The clocks of replicas differ, and are set back: no wait is longer than the window.
        return min(max(0.1, began + length_s - time.time()), float(length_s))

    async def epoch(self) -> str:
        """What changes when the storage may have forgotten something: when it was started anew, or emptied.

        Raises:
            StorageDown: it does not answer.
        """
        return (await self._run(lambda: self._in_epoch("", 0.0)))[1]

    async def use(self, nonce: str, keep_s: float) -> tuple[bool, str]:
        """Whether this is the first use of `nonce` among all replicas, remembered for `keep_s` seconds, and the epoch.

        Raises:
            StorageDown: it does not answer, so that it cannot be known.
        """
        return await self._run(lambda: self._in_epoch(nonce, keep_s))

    async def _in_epoch(self, nonce: str, keep_s: float) -> tuple[bool, str]:
        """Use `nonce`, if there is one, and see the epoch, in one transaction."""
        key = f"{self._space}/epoch"
        async with self._client.pipeline(transaction=True) as commands:
            commands.set(key, secrets.token_hex(8), nx=True)
            commands.get(key)
            commands.info("server")
            if nonce:
                commands.set(f"{self._space}/used/{_short(nonce)}", "1", nx=True, px=max(1, int(keep_s * 1000)))
            _, mark, server, *used = await commands.execute()
        # A Redis that reads its data back from a file has the mark, and may have lost what came last.
        return bool(used and used[0]), _short(f"{mark}\n{server.get('run_id', '')}")

    async def remember(self, fact: str, keep_s: float) -> None:
        """Keep `fact` for `keep_s` seconds.

        Raises:
            StorageDown: it does not answer.
        """
        key = f"{self._space}/granted/{_short(fact)}"
        await self._run(lambda: self._client.set(key, "1", px=max(1, int(keep_s * 1000))))

    async def is_remembered(self, fact: str) -> bool:
        """Whether `fact` is still kept.

        Raises:
            StorageDown: it does not answer.
        """
        return bool(await self._run(lambda: self._client.exists(f"{self._space}/granted/{_short(fact)}")))

    async def _run(self, action: Callable[[], Awaitable[T]]) -> T:
        if self._is_down:
            raise StorageDown
        try:
            async with asyncio.timeout(self._answer_s):
                return await action()
        except _failures() as error:
            self._lost(error)
            raise StorageDown from None

    def _lost(self, error: BaseException) -> None:
        if self._is_down:
            return
        self._is_down = True
        _log.error("the storage %s cannot be used: %s", self._where, _reason(error))
        self._looking = asyncio.get_running_loop().create_task(self._look())

    async def _look(self) -> None:
        while self._is_down:
            await asyncio.sleep(_LOOK_S)
            try:
                async with asyncio.timeout(self._answer_s):
                    # A storage that answers and cannot be written is no better than none.
                    await self._client.set(f"{self._space}/there", "1", ex=10)
            except _failures():
                continue
            self._is_down = False
            _log.warning("the storage %s can be used again", self._where)

    def look(self) -> None:
        """See in the background whether it is there, so that a wrong address is told at the start."""

        async def try_it() -> None:
            try:
                await self._run(lambda: self._client.set(f"{self._space}/there", "1", ex=10))
            except StorageDown:
                return  # said in the log

        self._looking = asyncio.get_running_loop().create_task(try_it())

    async def close(self) -> None:
        """Let go of all connections."""
        if self._looking is not None:
            self._looking.cancel()
        await self._client.aclose()


def _connected(url: str, space: str, answer_s: float) -> tuple[Any, RedisStorage]:
    if urlsplit(url).scheme not in SCHEMES:
        raise ConfigError(
            f"`server.storage`: {_shown(url)!r} is no storage",
            hint="Write memory://, redis://HOST:PORT/DB, rediss://HOST:PORT/DB or unix:///PATH.",
        )
    try:
        from limits.aio.storage import RedisStorage
        from redis.asyncio import Redis
        from redis.asyncio.retry import Retry
        from redis.backoff import NoBackoff
    except ImportError:
        raise ConfigError(
            "`server.storage` names a Redis, and its client is not installed", hint="pip install 'autotool[redis]'"
        ) from None
    try:
        client = Redis.from_url(
            url, socket_timeout=answer_s, socket_connect_timeout=answer_s, retry=Retry(NoBackoff(), 1)
        )
    except ValueError as error:
        raise ConfigError(f"`server.storage`: {_shown(url)!r} is no address of a Redis: {error}") from None
    # What is not named among the options' types is passed on to the client all the same.
    options: dict[str, Any] = {"connection_pool": client.connection_pool}
    counts = RedisStorage("async+redis://", implementation="redispy", key_prefix=space, **options)
    return client, counts


def _failures() -> tuple[type[BaseException], ...]:
    from redis.exceptions import RedisError

    return (RedisError, OSError, TimeoutError)


def _reason(error: BaseException) -> str:
    return (
        f"no answer within {_ANSWER_S:g} s" if isinstance(error, TimeoutError) else str(error) or type(error).__name__
    )


def _shown(url: str) -> str:
    """The address without user and password."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


def _short(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:40]
