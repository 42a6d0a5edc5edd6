"""Command lines as tools: what may stand on them, and how values are written into them."""
