"""Tells a worker's process what it is to import."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field

from pydantic_core import to_json

from autotool.model import Selection, Target
from autotool.runtime.spawn import Launched, start
from autotool.worker.frames import CALL, pack


@dataclass(frozen=True, slots=True)
class WorkerSettings:
    """What a worker needs to know.

    Attributes:
        targets: what it imports.
        selection: which functions of them.
        threads: synchronous calls that run at the same time.
        debug: whether tracebacks of failed imports go to standard error.
        watched: whether the worker tells which files it has read.
    """

    targets: Sequence[Target]
    selection: Selection = field(default_factory=Selection)
    threads: int = 8
    debug: bool = False
    watched: bool = False


def launch(settings: WorkerSettings, early: Launched | None = None) -> Launched:
    """A zygote that has been told its settings and imports its targets, while the caller goes on."""
    launched = early or start()
    launched.link.sendall(pack(CALL, 0, to_json(asdict(settings))))
    return launched
