"""The composition root: from a `Config` to a running server, and the way down again."""

from __future__ import annotations

from autotool.server.assembly import Application
from autotool.server.plan import Plan
from autotool.server.serving import close, describe, serve_http, serve_stdio

__all__ = ["Application", "Plan", "close", "describe", "serve_http", "serve_stdio"]
