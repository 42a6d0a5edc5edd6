"""autotool: serve the code you have as tools of the Model Context Protocol."""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from autotool.api import Tools, load
    from autotool.context import Context, Declined
    from autotool.errors import ToolError
    from autotool.marks import Header, tool
    from autotool.questions import Question, Visit

__version__ = "0.1.0"

__all__ = ["Context", "Declined", "Header", "Question", "ToolError", "Tools", "Visit", "__version__", "load", "tool"]

_HOMES = {
    "Context": "context",
    "Declined": "context",
    "Header": "marks",
    "Question": "questions",
    "ToolError": "errors",
    "Tools": "api",
    "Visit": "questions",
    "load": "api",
    "tool": "marks",
}


def __getattr__(name: str) -> Any:
    """Import what is asked for: the server, which is this package too, starts sooner without it."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"autotool.{_HOMES[name]}"), name)
