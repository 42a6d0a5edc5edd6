"""Used states and remembered consent that replicas share. While the storage is gone, nothing counts as fresh or as approved."""

from __future__ import annotations

from autotool.errors import StorageDown
from autotool.policy.states import StateRefused
from autotool.policy.storage import SharedStorage


class SharedLedger:
    """A ledger of used states in `storage`."""

    def __init__(self, storage: SharedStorage) -> None:
        self._storage = storage

    async def epoch(self) -> str:
        """As `states.Ledger.epoch`.

        Raises:
            StateRefused: the storage is gone.
        """
        try:
            return await self._storage.epoch()
        except StorageDown:
            raise StateRefused("The server cannot keep an approval at the moment. Retry after a few seconds.") from None

    async def use(self, nonce: str, keep_s: float, epoch: str) -> bool:
        """As `states.Ledger.use`.

        Raises:
            StateRefused: the storage is gone, or has been: what might have been used before is not accepted, whatever `[limits]` says.
        """
        try:
            is_first, now = await self._storage.use(nonce, keep_s)
        except StorageDown:
            raise StateRefused(
                "`requestState` is not accepted: the server cannot look at the moment whether it was used before. "
                "Begin the call again without it."
            ) from None
        if now != epoch:
            raise StateRefused(
                "`requestState` is not accepted: the server's storage was started anew, and may have forgotten whether it was "
                "used before. Begin the call again without it."
            )
        return is_first


class SharedGrants:
    """Consent that was given for a while, in `storage`."""

    def __init__(self, storage: SharedStorage) -> None:
        self._storage = storage

    async def remember(self, fact: str, keep_s: float) -> None:
        """Keep `fact`; what cannot be kept is asked about again."""
        try:
            await self._storage.remember(fact, keep_s)
        except StorageDown:
            return

    async def is_remembered(self, fact: str) -> bool:
        """Whether `fact` is known to be kept; a storage that is gone knows nothing."""
        try:
            return await self._storage.is_remembered(fact)
        except StorageDown:
            return False
