"""What outlives a reload: counted calls, given consent, the audit trail, and where operators decide."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from autotool.config import Config
from autotool.policy.audit import AuditTrail
from autotool.policy.states import States
from autotool.policy.windows import MemoryWindows, Windows
from autotool.runtime.consent import Grants, MemoryGrants
from autotool.runtime.operators import OperatorDesk
from autotool.server import policies

if TYPE_CHECKING:
    from autotool.policy.storage import SharedStorage


@dataclass(frozen=True, slots=True)
class Kept:
    """The parts of a server that a reload does not make anew.

    Attributes:
        storage: what replicas share; None where everything is kept in this process.
        grants: the tools that a person has approved for a while.
        windows: the calls that were counted.
    """

    desk: OperatorDesk
    states: States
    audit: AuditTrail | None
    storage: SharedStorage | None = None
    grants: Grants = field(default_factory=MemoryGrants)
    windows: Windows = field(default_factory=MemoryWindows)

    @classmethod
    def of(cls, config: Config) -> Kept:
        """Made from the settings, once.

        Raises:
            OperatorError: the audit trail cannot be written, a secret is not there, or the storage is none.
        """
        desk, audit = OperatorDesk(config.approval.socket), policies.audit_trail(config.audit)
        storage = policies.storage_of(config)
        if storage is None:
            return cls(desk, policies.states(config.approval), audit)
        from autotool.policy.shared import SharedGrants, SharedLedger

        states = policies.states(config.approval, SharedLedger(storage))
        return cls(desk, states, audit, storage, SharedGrants(storage), storage)

    async def close(self) -> None:
        """Let go of what lies outside the process."""
        await self.desk.close()
        if self.storage is not None:
            await self.storage.close()
