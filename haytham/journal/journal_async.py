"""The journal for asynchronous callers: the same calls, made in a thread; a save is not cut off halfway."""

from collections.abc import Mapping
from typing import Any

from haytham.domain.agent_state import AgentState
from haytham.domain.journal_entry import AgentStatus, Entry, EntryKind
from haytham.domain.records import CleanupReport
from haytham.domain.retention import Retention
from haytham.domain.state_changes import State
from haytham.journal.journal import Journal
from haytham.journal.journal_view import EntryLike
from haytham.storage.background import finished


class AsyncJournal:
    """A journal whose calls that touch the disk are awaited; all else is asked of `journal` itself."""

    def __init__(self, journal: Journal) -> None:
        self.journal = journal

    async def save(
        self,
        state: AgentState | Mapping[str, Any] | None = None,
        *,
        name: str = "",
        kind: str = EntryKind.ROUTINE,
        status: str = AgentStatus.IN_PROGRESS,
        reason: str = "",
        step: int | None = None,
        metadata: Mapping[str, Any] | None = None,
        succeeded: EntryLike | None = None,
    ) -> Entry:
        """Does what `Journal.save` does."""
        return await finished(
            lambda: self.journal.save(
                state,
                name=name,
                kind=kind,
                status=status,
                reason=reason,
                step=step,
                metadata=metadata,
                succeeded=succeeded,
            )
        )

    async def rollback_to(self, entry: EntryLike, *, reason: str = "") -> Entry:
        """Does what `Journal.rollback_to` does."""
        return await finished(lambda: self.journal.rollback_to(entry, reason=reason))

    async def resume(self) -> Entry | None:
        """Does what `Journal.resume` does."""
        return await finished(self.journal.resume)

    async def state_at(self, entry: EntryLike) -> State:
        """Does what `Journal.state_at` does."""
        return await finished(lambda: self.journal.state_at(entry))

    async def all(self) -> list[Entry]:
        """Does what `Journal.all` does."""
        return await finished(self.journal.all)

    async def fork(self, branch: str, entry: EntryLike | None = None) -> "AsyncJournal":
        """Does what `Journal.fork` does."""
        return AsyncJournal(await finished(lambda: self.journal.fork(branch, entry)))

    async def cleanup(self, policy: Retention | None = None, *, dry_run: bool = False) -> CleanupReport:
        """Does what `Journal.cleanup` does."""
        return await finished(lambda: self.journal.cleanup(policy, dry_run=dry_run))

    async def clear(self, kind: str | None = None) -> int:
        """Does what `Journal.clear` does."""
        return await finished(lambda: self.journal.clear(kind))

    async def export(self) -> str:
        """Does what `Journal.export` does."""
        return await finished(self.journal.export)

    async def import_entries(self, text: str) -> int:
        """Does what `Journal.import_entries` does."""
        return await finished(lambda: self.journal.import_entries(text))

    async def verify(self) -> list[str]:
        """Does what `Journal.verify` does."""
        return await finished(self.journal.verify)
