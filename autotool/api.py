"""Tools in this process, for programs and tests: the same reading, checking and shaping as `autotool call`."""

from __future__ import annotations

import json
import weakref
from typing import Any

from autotool.errors import ToolError
from autotool.introspect.targets import parse_target
from autotool.model import Caller
from autotool.protocol.toolwire import tool_object
from autotool.protocol.versions import MODERN, revision
from autotool.server import Plan, close, describe
from autotool.settings import gather


class Tools:
    """The tools behind some targets.

    Attributes:
        names: in the order in which clients list them.
    """

    def __init__(self, plan: Plan) -> None:
        self._application, self._loop = describe(plan)
        weakref.finalize(self, close, self._application, self._loop)
        self.names = tuple(tool.name for tool in self._application.catalog.tools)

    def definition(self, name: str) -> dict[str, Any]:
        """The tool as a client gets it: name, title, description, inputSchema, outputSchema, annotations.

        Raises:
            KeyError: there is no such tool.
        """
        tool = self._application.catalog.find(name)
        modern = revision(MODERN)
        if tool is None or modern is None:
            raise KeyError(name)
        return tool_object(tool, modern)

    def call(self, name: str, /, **arguments: Any) -> Any:
        """Run a tool; gives its structured content, or its text where it has none.

        Raises:
            ToolError: the arguments do not fit, or the function failed; the text is what a model would read.
            ProtocolError: there is no such tool.
        """
        outcome = self._loop.run_until_complete(self._application.service.call(name, arguments, Caller()))
        text = "\n".join(block["text"] for block in json.loads(outcome.content) if block["type"] == "text")
        if outcome.is_error:
            raise ToolError(text)
        return text if outcome.structured is None else json.loads(outcome.structured)


def load(*targets: str) -> Tools:
    """The tools of `targets`, as `autotool serve` would offer them without a config file.

    Raises:
        OperatorError: a target cannot be served.
    """
    return Tools(Plan(gather(None, {}), tuple(parse_target(target) for target in targets)))
