"""What JSON cannot carry, and what a person allows to be named in its place."""

from __future__ import annotations

from contextvars import ContextVar


class NotJson(Exception):
    """JSON cannot carry a value of this type. The text is a clause: "a function cannot be sent as JSON"."""


importable: ContextVar[tuple[str, ...]] = ContextVar("globs over dotted names that a caller may send", default=())
"""Set while a required parameter is read: the functions and classes that the person has allowed to be named."""
