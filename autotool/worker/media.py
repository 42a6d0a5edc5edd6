"""Results that are not text: images, sound, other bytes, and content that a function made for MCP itself."""

from __future__ import annotations

import io
import sys
from typing import Any, cast

from autotool.worker.jsonable import base64_text

Block = dict[str, Any]

_MAGIC: tuple[tuple[bytes, str], ...] = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"BM", "image/bmp"),
    (b"ID3", "audio/mpeg"),
    (b"\xff\xfb", "audio/mpeg"),
    (b"fLaC", "audio/flac"),
    (b"OggS", "audio/ogg"),
)
_MIN_BITMAP_BYTES = 26


def media_type(data: bytes) -> str:
    """The type of an image or a sound by its first bytes, or ""."""
    if data[:4] == b"RIFF" and data[8:12] in (b"WEBP", b"WAVE"):
        return "image/webp" if data[8:12] == b"WEBP" else "audio/wav"
    for magic, kind in _MAGIC:
        if data.startswith(magic) and (kind != "image/bmp" or _is_bitmap(data)):
            return kind
    return ""


def _is_bitmap(data: bytes) -> bool:
    return len(data) >= _MIN_BITMAP_BYTES and int.from_bytes(data[2:6], "little") == len(data)


def blocks_of(data: bytes) -> list[Block]:
    """Content blocks for bytes that are no text: one of text that says what they are, and the bytes."""
    kind = media_type(data)
    if kind:
        family = kind.partition("/")[0]
        return [
            text_block(f"[{kind}, {len(data)} bytes]"),
            {"type": family, "data": base64_text(data), "mimeType": kind},
        ]
    mime = (
        "application/pdf"
        if data.startswith(b"%PDF-")
        else "application/zip"
        if data.startswith(b"PK\x03\x04")
        else "application/octet-stream"
    )
    resource = {"uri": "autotool://result/bytes", "mimeType": mime, "blob": base64_text(data)}
    return [text_block(f"[{mime}, {len(data)} bytes]"), {"type": "resource", "resource": resource}]


def text_block(text: str) -> Block:
    """A text content block."""
    return {"type": "text", "text": text}


def as_png(value: Any) -> bytes | None:
    """The PNG of a PIL image or a matplotlib figure; None for everything else."""
    cls = type(value)
    home = str(cls.__module__).partition(".")[0]
    if home == "PIL" and hasattr(value, "save") and hasattr(value, "mode"):
        buffer = io.BytesIO()
        image = value if value.mode in ("1", "L", "LA", "P", "RGB", "RGBA", "I", "I;16") else value.convert("RGB")
        image.save(buffer, format="PNG")
        return buffer.getvalue()
    figure = value if home == "matplotlib" and hasattr(value, "savefig") else getattr(value, "figure", None)
    if (
        figure is not None
        and home in ("matplotlib", "seaborn")
        and hasattr(figure, "savefig")
        and "matplotlib" in sys.modules
    ):
        buffer = io.BytesIO()
        figure.savefig(buffer, format="png")
        return buffer.getvalue()
    return None


_CONTENT_CLASSES = ("TextContent", "ImageContent", "AudioContent", "EmbeddedResource", "ResourceLink")


def _is_mcp(value: Any, *names: str) -> bool:
    return any(
        cls.__name__ in names and cls.__module__.partition(".")[0] in ("mcp", "mcp_types", "fastmcp")
        for cls in type(value).__mro__
    )


def mcp_content(value: Any) -> list[Block] | None:
    """The blocks of content objects that a function made for MCP; None for everything else."""
    items = cast("list[Any]", value) if isinstance(value, list | tuple) and value else [value]
    if not all(_is_mcp(item, *_CONTENT_CLASSES) for item in items):
        return None
    return [_dump(item) for item in items]


def mcp_result(value: Any) -> dict[str, Any] | None:
    """A whole `CallToolResult` that a function made; None for everything else."""
    return _dump(value) if _is_mcp(value, "CallToolResult") else None


def _dump(value: Any) -> dict[str, Any]:
    return cast("dict[str, Any]", value.model_dump(mode="json", by_alias=True, exclude_none=True))
