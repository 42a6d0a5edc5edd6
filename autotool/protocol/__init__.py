"""The Model Context Protocol, without any input or output."""
