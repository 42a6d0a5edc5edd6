"""autotool: serve the code you have as tools of the Model Context Protocol."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from autotool.marks import tool

__version__ = "0.1.0"

__all__ = ["__version__", "tool"]


def __getattr__(name: str) -> Any:
    """Import what is asked for: the server, which is this package too, starts sooner without it."""
    if name == "tool":
        from autotool.marks import tool

        return tool
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
