"""What a program prints, bounded while it runs: head and tail are kept, the rest is counted."""

from __future__ import annotations

import asyncio
from collections import deque

from autotool.worker.jsonable import clean_text

MAX_DISCARDED_BYTES = 64 * 1024 * 1024
"""How much more than is kept a program may print before it is ended."""


class Kept(asyncio.Protocol):
    """The head and the tail of a stream, at most `limit` bytes; what lies between is only counted."""

    def __init__(self, limit: int) -> None:
        self._half = max(limit // 2, 1)
        self._head = bytearray()
        self._tail: deque[bytes] = deque()
        self._tail_bytes = 0
        self.total = 0
        self.ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.flooded: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def data_received(self, data: bytes) -> None:
        """Keep what there is room for."""
        self.total += len(data)
        room = self._half - len(self._head)
        if room > 0:
            self._head += data[:room]
            data = data[room:]
        if data:
            self._tail.append(data)
            self._tail_bytes += len(data)
            while self._tail_bytes - len(self._tail[0]) >= self._half:
                self._tail_bytes -= len(self._tail.popleft())
        if self.total > 2 * self._half + MAX_DISCARDED_BYTES and not self.flooded.done():
            self.flooded.set_result(None)

    def connection_lost(self, exc: Exception | None) -> None:
        """The stream has ended."""
        if not self.ended.done():
            self.ended.set_result(None)

    @property
    def is_whole(self) -> bool:
        """Whether nothing had to be left out."""
        return self.total <= 2 * self._half

    @property
    def head(self) -> bytes:
        """The first bytes: all of them where nothing was left out."""
        return bytes(self._head) + b"".join(self._tail) if self.is_whole else bytes(self._head)

    @property
    def tail(self) -> bytes:
        """The last bytes, where some between were left out."""
        return b"" if self.is_whole else b"".join(self._tail)[-self._half :]

    @property
    def text(self) -> str:
        """As text: UTF-8, other bytes replaced; where it was too long its head and tail, cut at line ends."""
        if self.is_whole:
            return clean_text(self.head.decode("utf-8", "replace"))
        head = self.head.decode("utf-8", "ignore")
        tail = self.tail.decode("utf-8", "ignore")
        head = head[: head.rfind("\n") + 1] or head + "\n"
        tail = tail.partition("\n")[2] or tail
        left_out = self.total - len(head.encode()) - len(tail.encode())
        return clean_text(f"{head}[… truncated: {left_out} of {self.total} bytes are left out here …]\n{tail}")
