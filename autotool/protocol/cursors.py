"""Cursors of `tools/list`: opaque to clients, signed, and tied to one version of the catalog."""

from __future__ import annotations

import secrets
from typing import cast

from itsdangerous import BadSignature, URLSafeSerializer

_serializer = URLSafeSerializer(secrets.token_bytes(32), salt="autotool.cursor")


def dump(version: str, offset: int) -> str:
    """A cursor for the page that begins at `offset` of the catalog `version`."""
    text = _serializer.dumps([version, offset])
    return text.decode() if isinstance(text, bytes) else text


def load(cursor: str, version: str) -> int | None:
    """The offset in a cursor, or None when it is not one of ours for this catalog."""
    try:
        made_for, offset = cast("tuple[str, int]", _serializer.loads(cursor))
    except (BadSignature, ValueError, TypeError):
        return None
    return offset if made_for == version else None
