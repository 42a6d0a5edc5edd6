"""Pictures of tools, as the config gives them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autotool.config import IconSection
from autotool.errors import ConfigError

_MOST = 100_000
"""Characters of a picture that stands in its own address: it is sent with every list."""


def icons_of(sections: Sequence[IconSection], where: str) -> tuple[dict[str, Any], ...]:
    """MCP `Icon` objects (2025-11-25 and later).

    Raises:
        ConfigError: an address is neither https nor `data:`, or too long; `where` names the section.
    """
    found: list[dict[str, Any]] = []
    for section in sections:
        if not section.src.startswith(("https://", "data:image/")):
            raise ConfigError(
                f"{where} icons: {section.src[:64]!r} is neither an https address nor a picture (`data:image/…`)",
                hint="Clients show nothing else.",
            )
        if len(section.src) > _MOST:
            raise ConfigError(
                f"{where} icons: a picture of {len(section.src):,} characters is sent with every list",
                hint=f"At most {_MOST:,}; an https address takes less.",
            )
        icon: dict[str, Any] = {"src": section.src}
        if section.mime_type:
            icon["mimeType"] = section.mime_type
        if section.sizes:
            icon["sizes"] = list(section.sizes)
        if section.theme:
            icon["theme"] = section.theme
        found.append(icon)
    return tuple(found)
