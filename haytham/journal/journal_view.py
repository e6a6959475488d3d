"""What a journal tells: its entries, found in many ways, and the states that they stand for."""

import threading
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

from haytham.domain.errors import DamagedJournal, Location, NotFound
from haytham.domain.instants import parse
from haytham.domain.journal_entry import Entry, check_entry_id
from haytham.domain.records import JournalSummary
from haytham.domain.state_changes import State
from haytham.journal import journal_exchange, journal_summary
from haytham.journal.journal_log import JournalLog

EntryLike = Entry | str


class JournalView:
    """The entries of a journal, oldest first."""

    def __init__(self, log: JournalLog) -> None:
        self._log = log
        self._mutex = threading.RLock()

    @property
    def agent(self) -> str:
        """The name of the agent."""
        return self._log.header.agent

    @property
    def branch(self) -> str:
        """The name of the branch, empty for the agent's first one."""
        return self._log.header.branch

    @property
    def title(self) -> str:
        """The name of the agent with that of the branch, if there is one."""
        return self._log.header.title

    @property
    def path(self) -> Path:
        """The file."""
        return self._log.path

    @property
    def forked_from(self) -> str | None:
        """The id of the entry that this journal was forked from, or None."""
        with self._mutex:
            self._log.refresh()
            return self._log.header.forked_from or None

    @property
    def origin(self) -> str:
        """The title of the journal in this folder that it was forked from, empty if there is none."""
        with self._mutex:
            self._log.refresh()
            return "" if self._log.header.forked_session else self._log.header.forked_journal

    @property
    def session(self) -> str:
        """The id of the session."""
        return self._log.header.session

    @property
    def has_begun(self) -> bool:
        """Whether anything was written yet."""
        return self._log.has_begun

    # Finding

    def __len__(self) -> int:
        """Returns the number of entries."""
        with self._mutex:
            self._log.refresh()
            return len(self._log)

    def __iter__(self) -> Iterator[Entry]:
        """Goes through the entries, oldest first."""
        return iter(self.all())

    def __contains__(self, entry: object) -> bool:
        """Tells whether there is such an entry."""
        return isinstance(entry, (Entry, str)) and self.get(id_of(entry)) is not None

    def all(self) -> list[Entry]:
        """Returns all entries, oldest first."""
        with self._mutex:
            self._log.refresh()
            return self._log.entries()

    def get(self, entry_id: str) -> Entry | None:
        """Returns the entry with an id, or None."""
        with self._mutex:
            self._log.refresh()
            index = self._log.index_of(entry_id)
            return None if index is None else self._log.entry(index)

    def latest(self, *, name: str | None = None, kind: str | None = None, status: str | None = None) -> Entry | None:
        """Returns the newest entry, or the newest with this name, kind and status; None if there is none."""
        with self._mutex:
            self._log.refresh()
            if name is kind is status is None:
                return self._log.last()
            found = (self._log.entry(index) for index in range(len(self._log) - 1, -1, -1))
            return next((each for each in found if _fits(each, name, kind, status)), None)

    def by_name(self, name: str) -> list[Entry]:
        """Returns the entries with a name, newest first."""
        return [each for each in reversed(self.all()) if each.name == name]

    def by_step(self) -> list[Entry]:
        """Returns all entries in the order of their steps."""
        return sorted(self.all(), key=lambda each: each.step)

    def since(self, time: datetime | str) -> list[Entry]:
        """Returns the entries saved after a point in time, oldest first."""
        start = parse(time, "time")
        return [each for each in self.all() if each.timestamp > start]

    def between(self, start: datetime | str, end: datetime | str) -> list[Entry]:
        """Returns the entries saved from one point in time to another, both included, oldest first."""
        first, last = parse(start, "start"), parse(end, "end")
        return [each for each in self.all() if first <= each.timestamp <= last]

    def state_at(self, entry: EntryLike) -> State:
        """Returns the state that an entry stands for, as a dict of the caller's own; raises NotFound."""
        with self._mutex:
            return self._log.state_at(self._entry(entry).id)[0]

    def followed(self, entry_id: str) -> tuple[State, int]:
        """Returns the state of an entry and how many bytes had to be read for it; for the forks of this journal."""
        with self._mutex:
            self._log.refresh()
            return self._log.state_at(entry_id)

    def summary(self) -> JournalSummary:
        """Returns what the journal holds: counts, names, first and last entry, time, size and what it saved."""
        with self._mutex:
            self._log.refresh()
            return journal_summary.of(self._log)

    def export(self) -> str:
        """Returns all entries, with what they changed, as JSON."""
        with self._mutex:
            self._log.refresh()
            return journal_exchange.exported(self._log)

    def verify(self) -> list[str]:
        """Returns what is wrong with the file, in words, with the line; an empty list if every byte is as written.

        Every state is made once.
        """
        with self._mutex:
            self._log.forget()
            try:
                self._log.refresh()
                if self._log.is_torn:
                    return [str(self._log.torn())]
                for _ in self._log.replayed():
                    pass
            except (DamagedJournal, NotFound) as error:
                return [str(error)]
            return []

    # Steps

    def _entry(self, entry: EntryLike | None) -> Entry:
        found = self.latest() if entry is None else self.get(check_entry_id(id_of(entry)))
        if found is None:
            what = "entries yet" if entry is None else f"entry {id_of(entry)}"
            raise NotFound(f"the journal of {self.title} has no {what}.", location=Location(path=str(self.path)))
        return found


def id_of(entry: EntryLike) -> str:
    """Returns the id of an entry that is given as such or by its id."""
    return entry.id if isinstance(entry, Entry) else entry


def _fits(entry: Entry, name: str | None, kind: str | None, status: str | None) -> bool:
    return name in {None, entry.name} and kind in {None, entry.kind} and status in {None, entry.status}
