"""What outlives a reload: counted calls, given consent, the audit trail, and where operators decide."""

from __future__ import annotations

from dataclasses import dataclass, field

from autotool.config import Config
from autotool.policy.audit import AuditTrail
from autotool.policy.states import States
from autotool.runtime.consent import Grants
from autotool.runtime.operators import OperatorDesk
from autotool.server import policies


@dataclass(frozen=True, slots=True)
class Kept:
    """The parts of a server that a reload does not make anew.

    Attributes:
        grants: the tools that a person has approved for a while.
        windows: the calls that were counted, once there are rate limits.
    """

    desk: OperatorDesk
    states: States
    audit: AuditTrail | None
    grants: Grants = field(default_factory=Grants)
    windows: policies.Windows = field(default_factory=policies.Windows)

    @classmethod
    def of(cls, config: Config) -> Kept:
        """Made from the settings, once.

        Raises:
            OperatorError: the audit trail cannot be written, or a secret is not there.
        """
        return cls(
            OperatorDesk(config.approval.socket),
            policies.states(config.approval),
            policies.audit_trail(config.audit),
        )
