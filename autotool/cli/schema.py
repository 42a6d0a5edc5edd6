"""`autotool config schema`."""

from __future__ import annotations

import json
import sys

from autotool.config_schema import schema


def run() -> None:
    """Print the schema."""
    json.dump(schema(), sys.stdout, indent=2, ensure_ascii=False)
    sys.stdout.write("\n")
