"""The processes that run Python: how many, with which environment, and within which limits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Annotated

from autotool.config.policies import EnvSource
from autotool.config.quantities import Between, Duration, Size, section


@section
class WorkerSection:
    """`[worker]`: the processes that run the Python of `targets`."""

    workers: Annotated[int, Between(1, 64), "Processes that share the calls; more than one suits stateless code."] = 1
    spare: Annotated[bool, "Keep a further process ready where a worker cannot be forked in milliseconds."] = True
    grace: Annotated[Duration, "How long the other calls of a worker that is replaced may go on."] = 5.0
    deaths: Annotated[
        int, Between(0, 1000), "Workers that one tool may end within a minute before it is switched off; 0: any."
    ] = 5
    pause: Annotated[Duration, "For how long such a tool is switched off."] = 60.0
    pass_env: Annotated[
        tuple[str, ...] | None, "Globs over the variables that the code gets. Default: all but the server's own."
    ] = None
    env: Annotated[Mapping[str, str | EnvSource], "Variables for the code."] = field(
        default_factory=dict[str, str | EnvSource]
    )
    memory: Annotated[Size, "Address space of a worker; 0: no limit."] = 0
    cpu: Annotated[Duration, "CPU time of a worker from the start of its latest call; 0: no limit."] = 0.0
    open_files: Annotated[int, Between(0, 1 << 20), "File descriptors of a worker; 0: no limit of its own."] = 0
    processes: Annotated[
        int, Between(0, 1 << 20), "Processes and threads that a worker may start; 0: no limit of its own."
    ] = 0


@section
class WorkerSetSection(WorkerSection):
    """`[workers.NAME]`: targets that have workers of their own."""

    targets: Annotated[tuple[str, ...], "What these workers run."] = ()
