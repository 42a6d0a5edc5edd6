"""The Python face."""

from __future__ import annotations

import pytest

import autotool


def test_tools_are_loaded_and_called() -> None:
    tools = autotool.load("statistics")
    assert "mean" in tools.names
    assert tools.call("mean", data=[1, 2, 3, 4]) == 2.5
    assert tools.definition("mean")["inputSchema"]["required"] == ["data"]


def test_a_failing_tool_raises_what_a_model_would_read() -> None:
    with pytest.raises(autotool.ToolError, match="`dta`: is not known; did you mean `data`"):
        autotool.load("statistics").call("mean", dta=[1])
