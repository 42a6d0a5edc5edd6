"""The shape of the code, and what the documents say of it."""

from __future__ import annotations

import dataclasses
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import autotool
from autotool.config import EnvSource, IconSection, OverrideSection, ParameterSection
from autotool.config_file import NAMED_SECTIONS, SECTIONS

ROOT = Path(__file__).parent.parent
SOURCES = sorted((ROOT / "autotool").rglob("*.py"))


def test_imports_run_downwards() -> None:
    program = Path(sys.executable).with_name("lint-imports")
    finished = subprocess.run([program, "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert finished.returncode == 0, finished.stdout


def test_the_public_face_is_exact_and_sorted() -> None:
    assert autotool.__all__ == sorted(autotool.__all__)
    assert [name for name in autotool.__all__ if not hasattr(autotool, name)] == []


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_room_holds_more_than_one_job(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 400


def settings() -> list[str]:
    found = ["targets"]
    inner = {"params": ParameterSection, "env": EnvSource, "icons": IconSection, "tool.params": OverrideSection}
    for section, cls in {**SECTIONS, **NAMED_SECTIONS, **inner}.items():
        found += [f"{section}.{setting.name}" for setting in dataclasses.fields(cls)]
    return found


@pytest.mark.parametrize("key", settings())
def test_every_setting_is_documented(key: str) -> None:
    assert f"`{key}`" in (ROOT / "docs/configuration.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("command", ["serve", "list", "show", "call", "init", "lock", "verify"])
def test_every_option_is_documented(command: str) -> None:
    run = [sys.executable, "-m", "autotool", command, "--help"]
    text = subprocess.run(run, capture_output=True, text=True, check=True).stdout
    options = set(re.findall(r"--[a-z][a-z-]+", text)) - {"--help"}
    section = (
        (ROOT / "docs/commands.md")
        .read_text(encoding="utf-8")
        .partition(f"## `autotool {command}")[2]
        .partition("\n## ")[0]
    )
    assert [option for option in sorted(options) if option not in section] == []
    assert "Example: autotool " in text


def test_the_commented_example_file_is_valid() -> None:
    tomllib.loads((ROOT / "autotool.toml").read_text(encoding="utf-8"))
    run = [sys.executable, "-m", "autotool", "list", "--json"]
    assert subprocess.run(run, cwd=ROOT, capture_output=True, text=True, check=False).returncode == 0


@pytest.mark.parametrize(
    "module",
    [
        "pydantic",
        "starlette",
        "uvicorn",
        "rich",
        "docstring_parser",
        "typeshed_client",
        "limits",
        "jsonschema",
        "watchfiles",
        "rfc8785",
    ],
)
def test_the_front_on_stdio_does_not_import(module: str) -> None:
    code = "import sys, autotool.cli.app, autotool.cli.serve, autotool.cli.plans, autotool.transports.stdio, autotool.runtime.supervisor; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert module not in loaded


def test_links_between_documents_lead_somewhere() -> None:
    broken = []
    for page in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]:
        for link in re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8")):
            if not link.startswith("http") and not (page.parent / link).exists():
                broken.append(f"{page.name}: {link}")
    assert broken == []
