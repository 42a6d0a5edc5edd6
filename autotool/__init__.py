"""autotool: serve the code you have as tools of the Model Context Protocol."""

from autotool.marks import tool

__version__ = "0.1.0"

__all__ = ["__version__", "tool"]
