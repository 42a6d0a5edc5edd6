"""Everything that can be set, with its default: the one place where a setting is added.

A setting is a field of a section: its type, its bounds, one sentence for people, its default. `config_file` reads files into it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Annotated

from autotool.config.policies import (
    Approval,
    ApprovalSection,
    AuditSection,
    AuthSection,
    DefaultsSection,
    EnvSource,
    LimitsSection,
    RedactSection,
    ScopeSection,
)
from autotool.config.quantities import duration, section, size
from autotool.config.serving import ServerSection, ToolsSection
from autotool.config.tools import (
    CommandSection,
    IconSection,
    OverrideSection,
    ParameterSection,
    ProgramSection,
    RunSection,
    Scalar,
    StatedSection,
    ToolSection,
    Word,
    output_rules,
)
from autotool.config.workers import WorkerSection, WorkerSetSection

__all__ = [
    "Approval",
    "ApprovalSection",
    "AuditSection",
    "AuthSection",
    "CommandSection",
    "Config",
    "DefaultsSection",
    "EnvSource",
    "IconSection",
    "LimitsSection",
    "OverrideSection",
    "ParameterSection",
    "ProgramSection",
    "RedactSection",
    "RunSection",
    "Scalar",
    "ScopeSection",
    "ServerSection",
    "StatedSection",
    "ToolSection",
    "ToolsSection",
    "Word",
    "WorkerSection",
    "WorkerSetSection",
    "duration",
    "output_rules",
    "size",
]


@section
class Config:
    """Everything that can be set."""

    targets: Annotated[tuple[str, ...], "What is served when the command line names nothing."] = ()
    server: ServerSection = ServerSection()
    tools: ToolsSection = ToolsSection()
    defaults: DefaultsSection = DefaultsSection()
    limits: LimitsSection = LimitsSection()
    redact: RedactSection = RedactSection()
    worker: WorkerSection = WorkerSection()
    workers: Annotated[Mapping[str, WorkerSetSection], "Targets that have workers of their own, by name."] = field(
        default_factory=dict[str, WorkerSetSection]
    )
    approval: ApprovalSection = ApprovalSection()
    audit: AuditSection = AuditSection()
    auth: AuthSection = AuthSection()
    scopes: Annotated[Mapping[str, ScopeSection], "The tools that each scope opens."] = field(
        default_factory=dict[str, ScopeSection]
    )
    tool: Annotated[Mapping[str, ToolSection], "Single tools, by name."] = field(default_factory=dict[str, ToolSection])
    command: Annotated[Mapping[str, CommandSection], "Command lines as tools, by name."] = field(
        default_factory=dict[str, CommandSection]
    )
    program: Annotated[Mapping[str, ProgramSection], "Programs read by their help, by name."] = field(
        default_factory=dict[str, ProgramSection]
    )
