"""The revisions of the protocol. This is the only place that compares them."""

from __future__ import annotations

from dataclasses import dataclass

MODERN = "2026-07-28"
LEGACY = ("2025-11-25", "2025-06-18", "2025-03-26")
"""Revisions with an `initialize` handshake, newest first."""

OLDEST_WITHOUT_HEADER = "2025-03-26"
"""What a request over HTTP speaks that names no version (2026-07-28, Streamable HTTP, "Protocol Version Header")."""


@dataclass(frozen=True, slots=True)
class Revision:
    """What a revision's messages may have.

    Attributes:
        version: its date.
        modern: stateless, `_meta` in every request, `resultType` in every result.
        structured: tools have `title` and `outputSchema`, results `structuredContent`.
        icons: tools and servers have `icons`.
    """

    version: str
    modern: bool
    structured: bool
    icons: bool = False


_REVISIONS = {
    MODERN: Revision(MODERN, modern=True, structured=True, icons=True),
    "2025-11-25": Revision("2025-11-25", modern=False, structured=True, icons=True),
    "2025-06-18": Revision("2025-06-18", modern=False, structured=True),
    "2025-03-26": Revision("2025-03-26", modern=False, structured=False),
}


def revision(version: str) -> Revision | None:
    """The revision of that date, if autotool speaks it."""
    return _REVISIONS.get(version)


def is_legacy(version: str) -> bool:
    """Whether `version` is a revision with a handshake that autotool speaks."""
    return version in LEGACY


def negotiate(requested: str) -> Revision:
    """The legacy revision for an `initialize`: the client's own if it is known, else the newest."""
    return _REVISIONS[requested if requested in LEGACY else LEGACY[0]]
