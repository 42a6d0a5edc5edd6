"""Has the MCP Inspector's command line list and call tools of `autotool serve statistics`, over stdio and HTTP.

python scripts/inspector.py
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import node

INSPECTOR = "@modelcontextprotocol/inspector@2.12.0"


def inspect(base: Path, *arguments: str) -> dict[str, object]:
    """One run of the Inspector's command line, as the JSON that it prints."""
    command = [*node.program(base, "mcp-inspector"), "--cli", *arguments]
    finished = subprocess.run(
        command, capture_output=True, text=True, timeout=90, check=False, stdin=subprocess.DEVNULL
    )
    if finished.returncode:
        raise SystemExit(f"{' '.join(command)}\nexit code {finished.returncode}\n{finished.stdout}{finished.stderr}")
    return json.loads(finished.stdout)


def check(base: Path, where: str, *target: str) -> None:
    """List and call over one transport."""
    listed = inspect(base, *target, "--method", "tools/list")
    names = [tool["name"] for tool in listed["tools"]]  # type: ignore[index,union-attr]
    assert "mean" in names, names
    called = inspect(base, *target, "--method", "tools/call", "--tool-name", "mean", "--tool-arg", "data=[1, 2, 3, 4]")
    assert called["structuredContent"] in (2.5, {"result": 2.5}), called
    print(f"{where}: {len(names)} tools listed, `mean` gives {called['structuredContent']}")


def main() -> None:
    """Both transports."""
    base = node.folder_for(INSPECTOR)
    check(base, "stdio", sys.executable, "-m", "autotool", "serve", "statistics")
    with node.Server("statistics") as server:
        check(base, "http", server.url, "--transport", "http")


if __name__ == "__main__":
    main()
