"""From targets to tools."""
