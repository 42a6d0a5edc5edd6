"""Cursors of `tools/list`: opaque to clients, signed, and tied to one version of the catalog.

A cursor says where its page begins, and nothing is kept for it: a replica that has the same secret and the same tools takes it too.
"""

from __future__ import annotations

import hashlib
import secrets
from typing import Any, cast


class CursorRefused(Exception):
    """A cursor is not accepted; the text says why, and what to do."""


class Cursors:
    """Makes cursors and takes them back.

    Args:
        key: the secret that signs; the same for all replicas, or b"" for one of this process.
    """

    def __init__(self, key: bytes = b"") -> None:
        self._key = key or secrets.token_bytes(32)
        self._serializer: Any = None

    def _signed(self) -> Any:
        """The serializer, made for the first cursor: most lists have one page."""
        if self._serializer is None:
            from itsdangerous import URLSafeSerializer

            facts = {"key_derivation": "hmac", "digest_method": hashlib.sha256}
            self._serializer = URLSafeSerializer(self._key, salt="autotool.cursor.1", signer_kwargs=facts)
        return self._serializer

    def dump(self, version: str, offset: int) -> str:
        """A cursor for the page that begins at `offset` of the catalog `version`."""
        return str(self._signed().dumps([version, offset]))

    def load(self, cursor: str, version: str) -> int:
        """The offset in a cursor.

        Raises:
            CursorRefused: it is not one of ours, or is one for another catalog than `version`.
        """
        from itsdangerous import BadData

        try:
            made_for, offset = cast("tuple[str, int]", self._signed().loads(cursor))
        except (BadData, ValueError, TypeError):
            raise CursorRefused("The cursor is not one that this server gave; ask for the first page again.") from None
        if made_for != version:
            raise CursorRefused("The list is another one than when the cursor was given; ask for the first page again.")
        return offset
