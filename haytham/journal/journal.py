"""The journal of one agent: saves its state step by step, and brings back any of them.

::

    journal = session.journal(2, "market_intelligence")
    journal.state.add_message("user", "How large is the market?")
    journal.save(name="asked")                 # durable when it returns
    …
    journal.resume()                           # in another process, after a crash

What a step costs is what changed in it, not what has accumulated.
"""

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from haytham.documents.journal_text import Written
from haytham.domain import journal_entry, retention, state_changes
from haytham.domain.agent_state import AgentState
from haytham.domain.choices import choose
from haytham.domain.due import Due, Mark
from haytham.domain.errors import InvalidInput
from haytham.domain.instants import Clock
from haytham.domain.journal_entry import AgentStatus, Entry, EntryKind, Note, check_entry_id
from haytham.domain.journal_policy import JournalPolicy
from haytham.domain.records import CleanupReport
from haytham.domain.state_changes import Change, Verb
from haytham.journal import journal_exchange
from haytham.journal.journal_log import JournalLog
from haytham.journal.journal_view import EntryLike, JournalView, id_of

_LOG = logging.getLogger("haytham")
Sources = Iterable[tuple[str, Path]]
_SMALL = 16_384  # bytes that are quick to read back, whatever the state's own size


class Work(NamedTuple):
    """What is worked on: a state, the id of the entry that it goes on from, and its mark then.

    `weight` is how many bytes have to be read for that entry's state.
    """

    state: AgentState
    base: str | None
    mark: int
    weight: int


class Siblings(Protocol):
    """The journals beside one."""

    def fork(self, journal: "Journal", origin: Entry, branch: str, name: str) -> "Journal":
        """Begins a branch that refers to an entry of a journal here."""

    def take_over(self, journal: "Journal", origin: Entry, sources: Sources, branch: str, name: str) -> "Journal":
        """Begins a journal that goes on from an entry of a journal elsewhere."""

    def sources(self, path: Path, entry_id: str) -> Sources:
        """Yields the files that the state of an entry may have to be followed back through, with the entries there."""

    def detach_forks(self, journal: "Journal") -> None:
        """Makes those that refer to a journal independent of it."""


class Journal(JournalView):
    """The saved states of one agent in one phase, oldest first; one branch of them.

    `state` is the state to work on; `save` keeps it. Nothing is read or written before it is needed.
    """

    def __init__(
        self,
        log: JournalLog,
        siblings: "Siblings",
        *,
        clock: Clock,
        make_id: Callable[[], str],
        policy: JournalPolicy | None = None,
    ) -> None:
        self.policy = policy or JournalPolicy()
        super().__init__(log)
        self.problems: list[str] = []
        self._siblings = siblings
        self._clock = clock
        self._make_id = make_id
        self._work: Work | None = None
        self._before: list[Callable[[AgentState, Note], object]] = []
        self._after: list[Callable[[Entry], object]] = []

    @property
    def state(self) -> AgentState:
        """The state to work on: as last saved, with what was changed since; a save under way is not waited for."""
        work = self._work
        return (self._at_work() if work is None else work).state

    # Saving

    def save(
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
        """Saves the state, durably: `journal.state`, or another one handed in, which then takes its place.

        `succeeded` names a pre_operation entry whose operation has gone well. Raises InvalidInput before anything is
        written, DamagedJournal if the file is not as it was written, StorageFailure if the disk refuses.
        """
        given = id_of(succeeded) if succeeded is not None else None
        note = journal_entry.note(name, kind, status, reason, step, metadata, given)
        with self._mutex:
            if state is not None and state is not self.state:
                self.state.replace(state.to_dict() if isinstance(state, AgentState) else state)
            self._call(self._before, self.state, note)
            entry = self._append(note, self._at_work())
        self._call(self._after, entry)
        return entry

    def rollback_to(self, entry: EntryLike, *, reason: str = "", metadata: Mapping[str, Any] | None = None) -> Entry:
        """Goes back to a saved state by a new entry; nothing that was saved goes away. Raises NotFound.

        Callbacks are called as by `save`: before it with the state that comes back.
        """
        with self._mutex:
            target = self._entry(entry)
            note = journal_entry.note(target.name, EntryKind.RECOVERY, reason=reason, metadata=metadata)
            state, weight = self._log.state_at(target.id)
            work = Work(AgentState.restored(state), target.id, 0, weight)
            self._call(self._before, work.state, note)
            made = self._append(replace(note, step=target.step), work)
        self._call(self._after, made)
        return made

    def resume(self) -> Entry | None:
        """Goes on from the newest entry, and returns it; None if there is none. Unsaved changes are dropped."""
        with self._mutex:
            self._log.refresh()
            last = self._log.last()
            state, weight = self._log.state_at(last.id) if last else ({}, 0)
            self._work = Work(AgentState.restored(state), last.id if last else None, 0, weight)
            return last

    def should_save(self, step: int | None = None, *, force: bool = False, due: Due | None = None) -> str:
        """Tells why a snapshot is due, by the journal's policy if no other is given, or returns an empty text.

        Forced means forced.
        """
        last = self.latest()
        mark = Mark(step=last.step, time=last.timestamp) if last else None
        present = Mark(step=_next_step(last) if step is None else step, time=self._clock())
        return (due or self.policy.due).snapshot(mark, present, forced=force)

    def before_save(self, callback: Callable[[AgentState, Note], object]) -> None:
        """Calls back before each save, which cannot be stopped by it; what it raises is logged and in `problems`."""
        self._before.append(callback)

    def after_save(self, callback: Callable[[Entry], object]) -> None:
        """Calls back after each save; what it raises is logged and in `problems`."""
        self._after.append(callback)

    # Branches

    def fork(self, branch: str, entry: EntryLike | None = None, *, name: str = "fork") -> "Journal":
        """Begins another branch of this agent at an entry, by default the newest; raises InvalidInput if it exists.

        The branch refers to this journal, so that it costs the same however much there is.
        """
        with self._mutex, self._log.held():  # or else the entry could go away meanwhile
            return self._siblings.fork(self, self._origin(entry), branch, name)

    def fork_into(self, journals: "Siblings", branch: str = "", entry: EntryLike | None = None) -> "Journal":
        """Begins a journal of the same agent in another session or phase, with a state of this one.

        It gets this journal, up to the entry, as its own, without copying it: so that costs the same however much
        there is.
        """
        with self._mutex, self._log.held():
            origin = self._origin(entry)
            return journals.take_over(self, origin, self._siblings.sources(self.path, origin.id), branch, "fork")

    def begin(self, origin: Entry, sources: Sources, name: str) -> Entry:
        """Writes the first entry of a fork, which refers to an entry in its folder or, if there are any, in a source.

        Raises InvalidInput if somebody else began it meanwhile.
        """
        with self._mutex:
            note = replace(journal_entry.note(name), step=origin.step, metadata=dict(origin.metadata))
            with self._log.changing():
                if self._log.size:
                    raise InvalidInput(f"there is a journal {self.title} already.", hint="choose another branch.")
                self._log.take_origins(sources)
                entry, _ = self._written(note, [], Work(AgentState(), origin.id, 0, 0))
            self._work = None
            return entry

    # Keeping house

    def cleanup(self, policy: retention.Retention | None = None, *, dry_run: bool = False) -> CleanupReport:
        """Removes the entries that a policy no longer keeps, by default the workflow's; the dry run only tells.

        What was committed stays in history.
        """
        with self._mutex:
            self._log.refresh()
            said = retention.verdicts(self._log.entries(), policy or self.policy.retention, self._clock())
            going = [each.entry for each in said if not each.stays]
            freed = 0 if dry_run or not going else self._remove({each.id for each in going})
            return CleanupReport(
                removed=[each.record() for each in going],
                reasons={each.entry.id: each.reason for each in said},
                kept=len(said) - len(going),
                bytes_freed=freed,
                dry_run=dry_run,
            )

    def clear(self, kind: str | None = None) -> int:
        """Removes all entries, or all of one kind, and returns how many; `state` stays as it is."""
        wanted = None if kind is None else choose(EntryKind, kind, "kind")
        with self._mutex:
            self._log.refresh()
            going = {each.id for each in self._log.entries() if wanted is None or each.kind is wanted}
            if going:
                self._remove(going)
            return len(going)

    def import_entries(self, text: str) -> int:
        """Adds the entries of an export behind those that are here, all or none, and returns how many.

        Raises InvalidInput if it is no export, is damaged, or has an entry that is here already.
        """
        with self._mutex, self._log.changing() as aside:
            self._report(aside)
            given = journal_exchange.imported(text, self._log)
            self._log.rewrite([*self._log.all_written(), *given])
            return len(given)

    def repair(self) -> Path | None:
        """Goes on from the last whole entry of a damaged journal; returns the file into which the rest was put."""
        with self._mutex:
            self._log.forget()
            aside = self._log.repair()
            self._work = None
            return aside

    def detach(self) -> None:
        """Makes a fork independent of the journal that it came from."""
        with self._mutex, self._log.changing() as aside:
            self._report(aside)
            if len(self._log) and self._log.written(0).base is not None:
                self._log.rewrite(self._log.condensed(self._log.entries()))

    def close(self) -> None:
        """Lets go of the file; the journal can still be used."""
        self._log.close()

    # Steps

    def _origin(self, entry: EntryLike | None) -> Entry:
        """Returns the entry that a fork is to begin at; call it while the log is held."""
        known = None if entry is None else self._log.find(check_entry_id(id_of(entry)))
        return known or self._entry(entry)

    def _at_work(self) -> "Work":
        with self._mutex:
            if self._work is None:
                self.resume()
            assert self._work is not None  # noqa: S101 - resume sets it
            return self._work

    def _append(self, note: Note, work: "Work") -> Entry:
        """Saves what changed. An interruption at any point leaves `_work` as it was before or as it is after."""
        with self._log.changing() as aside:
            self._report(aside)
            if self._needs_whole_state(work):
                mark, changes = _whole(work.state)
            else:
                mark = work.state.mark
                changes = work.state.since(work.mark)[: mark - work.mark]
            entry, weight = self._written(note, changes, work)
        self._work = Work(work.state, entry.id, mark, weight)
        work.state.saved(mark)
        return entry

    def _needs_whole_state(self, work: "Work") -> bool:
        """Tells whether there is nothing to go on from here, or whether too much would have to be read for it."""
        is_begin = work.base is None and not len(self._log)
        is_based = work.base is not None and self._log.index_of(work.base) is not None
        return not (is_begin or is_based) or work.weight > 2 * work.state.size + _SMALL

    def _written(self, note: Note, changes: Sequence[Change], work: "Work") -> tuple[Entry, int]:
        """Writes an entry; returns it, and how many bytes have to be read for its state."""
        parent = work.base
        last = self._log.last()
        entry = Entry(
            id=self._new_id(),
            number=last.number + 1 if last else 1,
            agent=self.agent,
            timestamp=self._clock(),
            step=_next_step(last) if note.step is None else note.step,
            name=note.name,
            kind=note.kind,
            status=note.status,
            reason=note.reason,
            metadata=note.metadata,
            parent=parent,
            succeeded=note.succeeded,
        )
        previous = last.id if last else None
        is_whole = bool(changes) and changes[0].verb is Verb.CLEAR
        base = parent if not is_whole and parent != previous else None
        size = self._log.append(Written(entry=entry, previous=previous, base=base, changes=changes))
        return entry, size if is_whole else work.weight + size

    def _remove(self, ids: set[str]) -> int:
        with self._log.changing() as aside:
            self._report(aside)
            self._siblings.detach_forks(self)
            entries = self._log.entries()
            return self._log.rewrite(self._log.condensed(retention.kept(entries, {each.id for each in entries} - ids)))

    def _new_id(self) -> str:
        while self._log.index_of(made := check_entry_id(self._make_id())) is not None:
            pass
        return made

    def _call(self, callbacks: Sequence[Callable[..., object]], *arguments: object) -> None:
        for callback in callbacks:
            try:
                callback(*arguments)
            except Exception as error:  # noqa: BLE001 - whatever a callback raises, the state is saved
                self.problems.append(f"a callback failed: {type(error).__name__}: {error}")
                _LOG.exception("a callback of a journal failed; the state itself is saved")

    def _report(self, aside: Sequence[Path]) -> None:
        for path in aside:
            self.problems.append(f"an unfinished entry was put into {path.name}")
            _LOG.warning("the journal of %s ended with an unfinished entry, now in %s", self.title, path)


def _whole(state: AgentState) -> tuple[int, Sequence[Change]]:
    """Returns a whole state with its mark; once more if somebody changed it meanwhile."""
    while True:
        mark = state.mark
        with suppress(RuntimeError):  # a dict changed its size
            changes = state_changes.whole(state.to_dict())
            if state.mark == mark:
                return mark, changes


def _next_step(last: Entry | None) -> int:
    return last.step + 1 if last else 1
