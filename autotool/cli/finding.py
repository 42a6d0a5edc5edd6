"""A tool by the name that a person typed."""

from __future__ import annotations

from autotool.catalog import Catalog
from autotool.errors import TargetError
from autotool.model import ToolSpec


def find(catalog: Catalog, name: str) -> ToolSpec:
    """The tool `name`.

    Raises:
        TargetError: there is none; the hint has the nearest names, or the reason why it is not served.
    """
    tool = catalog.find(name)
    if tool is not None:
        return tool
    for refusal in catalog.refusals:
        if refusal.subject.rpartition(":")[2] == name:
            raise TargetError(f"`{name}` is not served: {refusal.reason}", hint=refusal.hint)
    near = " or ".join(f"`{other}`" for other in catalog.nearest(name))
    raise TargetError(
        f"there is no tool `{name}`", hint=f"Did you mean {near}?" if near else "`autotool list` shows the names."
    )
