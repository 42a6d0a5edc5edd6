"""Runs the Model Context Protocol's conformance suite against `autotool serve examples/conformance.py`.

    python scripts/conformance.py

Exit code 1 when a check fails that `scripts/conformance.toml` does not list, or when a listed one passes.
"""

from __future__ import annotations

import json
import subprocess
import tempfile
import tomllib
from pathlib import Path
from typing import Any

import node

HERE = Path(__file__).parent

CHANGING = '''
"""A module that changes its own tools, by which the suite sees that its subscriptions are told."""

from pathlib import Path

_MORE = "\\n\\ndef test_added() -> int:\\n    \\"Come and go.\\"\\n    return 1\\n"


def test_trigger_tool_change() -> str:
    """Add a tool, or take it away again."""
    path = Path(__file__)
    text = path.read_text()
    path.write_text(text.removesuffix(_MORE) if text.endswith(_MORE) else text + _MORE)
    return "changed"
'''


def run_scenario(base: Path, url: str, version: str, scenario: str) -> list[dict[str, str]]:
    """The checks of one scenario as the suite reports them."""
    with tempfile.TemporaryDirectory() as folder:
        command = [
            *node.program(base, "conformance"),
            "server",
            "--url",
            url,
            "--scenario",
            scenario,
            "--spec-version",
            version,
            "-o",
            folder,
        ]
        finished = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
        reports = list(Path(folder).rglob("checks.json"))
        if not reports:
            return [
                {"id": "suite", "status": "FAILURE", "errorMessage": finished.stdout[-2000:] + finished.stderr[-2000:]}
            ]
        return json.loads(reports[0].read_text())


def judge(checks: list[dict[str, str]], expected: dict[str, str]) -> tuple[str, list[str]]:
    """A word for the table, and what is wrong."""
    failed = [check for check in checks if check["status"] == "FAILURE"]
    wrong = [f"{check['id']}: {check.get('errorMessage', '')}" for check in failed if check["id"] not in expected]
    ids = {check["id"] for check in failed}
    wrong += [f"{name} is expected to fail, and passes" for name in expected if name not in ids]
    passed = sum(check["status"] == "SUCCESS" for check in checks)
    return f"{passed} passed, {len(failed)} failed ({len(ids & set(expected))} expected)", wrong


def main() -> int:
    """Run everything and print a table."""
    plan = tomllib.loads((HERE / "conformance.toml").read_text())
    base = node.folder_for(plan["suite"])
    with tempfile.TemporaryDirectory() as folder:
        changing = Path(folder) / "changing.py"
        changing.write_text(CHANGING, encoding="utf-8")
        problems = run_all(
            plan, base, node.Server(str(HERE.parent / "examples/conformance.py"), str(changing), "--reload")
        )
    return 1 if problems else 0


def run_all(plan: dict[str, Any], base: Path, running: node.Server) -> int:
    """Run every scenario against one server; gives how many had something wrong."""
    problems = 0
    with running as server:
        for version, scenarios in plan["scenarios"].items():
            for scenario in scenarios:
                checks = run_scenario(base, server.url, version, scenario)
                words, wrong = judge(checks, plan["expected"].get(scenario, {}))
                problems += bool(wrong)
                print(f"{version}  {scenario:<28} {words}{'' if not wrong else '  WRONG'}", flush=True)
                for line in wrong:
                    print(f"    {line}")
    return problems


if __name__ == "__main__":
    raise SystemExit(main())
