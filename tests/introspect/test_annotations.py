"""Annotations that are text, that name what only type checkers import, and that lie about where they stand."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from autotool.introspect import annotations

CODE = """
from __future__ import annotations
from typing import TYPE_CHECKING, overload
if TYPE_CHECKING:
    from collections.abc import Sequence
    from decimal import Decimal as Money
    from pathlib import Path

class Local: ...

def shown(rows: Sequence[int], local: Local, n: int = 0) -> list[str]: ...
shown.__module__ = "somewhere.else"

def money(amount: Money, rate: float, where: list[Path]) -> None: ...

@overload
def several(x: int) -> int: ...
@overload
def several(x: str, y: bool = ...) -> str: ...
def several(x, y=False): ...

def make():
    class Inner: ...
    def inside(one: Inner) -> Inner: ...
    return inside
inside = make()
"""


@pytest.fixture(scope="module")
def module(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("annotated")
    Path(folder / "annotated_here.py").write_text(CODE)
    sys.path.insert(0, str(folder))
    yield importlib.import_module("annotated_here")
    sys.path.remove(str(folder))


def test_names_for_type_checkers_are_found_where_the_code_stands(module: Any) -> None:
    found = annotations.of(module.shown)
    assert found.types == {"rows": Sequence[int], "local": module.Local, "n": int, "return": list[str]}
    assert found.unresolved == {}


def test_one_name_that_cannot_be_resolved_costs_one_parameter(module: Any) -> None:
    found = annotations.of(module.money)
    assert found.types == {"rate": float, "return": type(None)}
    assert found.unresolved == {"amount": "Money", "where": "list[Path]"}


def test_overloads_speak_for_a_function_without_annotations(module: Any) -> None:
    assert annotations.of(module.several).types == {"x": int | str, "return": int | str, "y": bool}


def test_a_class_inside_a_function_is_found_through_its_closure_or_costs_itself(module: Any) -> None:
    assert set(annotations.of(module.inside).unresolved) == {"one", "return"}
