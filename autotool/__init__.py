"""autotool: serve the code you have as Model Context Protocol tools."""

__version__ = "0.1.0"
