"""Ways in and out."""
