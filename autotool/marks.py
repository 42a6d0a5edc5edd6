"""What the author of a function says of it as a tool, where the code itself does not say it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeVar, overload

_ATTRIBUTE = "__autotool_marks__"

HEADER = "x-mcp-header"
"""The keyword of a parameter that clients mirror into a header (2026-07-28, server, tools)."""
FORCED = "x-autotool-force"
"""Beside it on the way from the worker to the front, and never published: the author knows that the value is no secret."""

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class Marks:
    """What was said; None stands for what was not.

    Attributes:
        input_schema: JSON Schema 2020-12 of the arguments, published as it is and used to check calls.
        approval: whose consent a call needs: `none`, `auto`, `required` or `operator`.
    """

    name: str | None = None
    title: str | None = None
    description: str | None = None
    input_schema: Mapping[str, Any] | None = None
    read_only: bool | None = None
    destructive: bool | None = None
    idempotent: bool | None = None
    open_world: bool | None = None
    approval: str | None = None


@dataclass(frozen=True, slots=True)
class Header:
    """Marks a parameter that HTTP clients mirror into the header `Mcp-Param-<name>`, by which what stands between can route.

    Args:
        name: a token of letters, digits and `-`; no two parameters of a tool have the same.
        force: mirror it even though its name looks like that of a secret: headers are logged on the way.

    Example:
        def stock(item: str, region: Annotated[str, autotool.Header("Region")]) -> int: ...
    """

    name: str
    force: bool = False

    @property
    def keywords(self) -> dict[str, Any]:
        """What stands in the parameter's schema."""
        return {HEADER: self.name, FORCED: True} if self.force else {HEADER: self.name}

    def __get_pydantic_json_schema__(self, core: Any, handler: Callable[[Any], dict[str, Any]]) -> dict[str, Any]:
        """pydantic's hook, for fields of models and typed dictionaries."""
        return {**handler(core), **self.keywords}


@overload
def tool(function: F, /) -> F: ...


@overload
def tool(
    *,
    name: str | None = None,
    title: str | None = None,
    description: str | None = None,
    input_schema: Mapping[str, Any] | None = None,
    read_only: bool | None = None,
    destructive: bool | None = None,
    idempotent: bool | None = None,
    open_world: bool | None = None,
    approval: Literal["none", "auto", "required", "operator"] | None = None,
) -> Callable[[F], F]: ...


def tool(function: Any = None, /, **said: Any) -> Any:
    """Say something of a function that its code does not say. It stays the plain function that it was.

    Example:
        @autotool.tool(destructive=True, title="Close the books")
        def close(year: int) -> None: ...
    """

    def mark(target: F) -> F:
        setattr(target, _ATTRIBUTE, Marks(**said))
        return target

    return mark if function is None else mark(function)


def marks_of(function: Any) -> Marks:
    """What was said of `function`; nothing, where it was not marked."""
    found = getattr(function, _ATTRIBUTE, None)
    return found if isinstance(found, Marks) else Marks()
