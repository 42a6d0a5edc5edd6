"""From types to JSON Schema, and back from JSON values."""
