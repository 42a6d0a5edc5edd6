"""Tells a worker's process what it is to import."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace

from pydantic_core import to_json

from autotool.model import Selection, Target
from autotool.runtime.spawn import Launched, discard, start
from autotool.worker.bounds import ProcessBounds
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
        bounds: the most that one process may take.
        environment: all the variables that it gets; None for those that are not the server's.
        secrets: the values among them that must not come out, by name.
    """

    targets: Sequence[Target]
    selection: Selection = field(default_factory=Selection)
    threads: int = 8
    debug: bool = False
    watched: bool = False
    bounds: ProcessBounds = field(default_factory=ProcessBounds)
    environment: Mapping[str, str] | None = None
    secrets: Mapping[str, str] = field(default_factory=dict[str, str])


def launch(settings: WorkerSettings, early: Launched | None = None) -> Launched:
    """A zygote that has been told its settings and imports its targets, while the caller goes on."""
    if early is not None and settings.environment is not None:
        # Its environment cannot be taken back: the kernel shows it to whatever runs there.
        discard(early)
        early = None
    launched = early or start(settings.environment)
    told = replace(settings, environment=None, secrets={})
    launched.link.sendall(pack(CALL, 0, to_json(asdict(told))))
    return launched
