"""The entries of one journal in their order: found, read, followed back to a state, appended, rewritten."""

from collections.abc import Callable, Container, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from haytham.documents import journal_marks, journal_text
from haytham.documents.journal_text import Header, Place, UnknownVersion, Unreadable, Written
from haytham.domain import json_data, state_changes
from haytham.domain.errors import DamagedJournal, Location, NotFound
from haytham.domain.journal_entry import Entry
from haytham.domain.state_changes import Change, State
from haytham.storage.journal_file import Fingerprint, JournalFile

Elsewhere = Callable[[str, str], tuple[State, int]]
_HASH_LENGTH = 32
_TRIES = 3
_WINDOW = 1 << 16


class JournalLog:
    """What one journal holds. `elsewhere` finds states in the journal that this one was forked from."""

    def __init__(self, file: JournalFile, header: Header, elsewhere: Elsewhere) -> None:
        self.header = header
        self._file = file
        self._elsewhere = elsewhere
        self._is_swept = False
        self._data = bytearray()
        self._seen: Fingerprint | None = None
        self._end = 0  # of the last whole entry
        self._hash = b""  # of the last whole entry
        self._first_hash = b""  # of the first lines
        self._places: list[Place] = []
        self._by_id: dict[str, int] = {}
        self._entries: dict[int, Entry] = {}

    @property
    def path(self) -> Path:
        """The file."""
        return self._file.path

    @property
    def size(self) -> int:
        """How many bytes there are."""
        return len(self._data)

    @property
    def has_begun(self) -> bool:
        """Whether the file is there and not empty."""
        return self._file.fingerprint()[1] > 0

    # Reading

    def refresh(self) -> None:
        """Takes in what was written since; raises DamagedJournal if it is not as it was written.

        The beginning of an entry at the end is none of that: somebody is writing it, or died while doing so.
        """
        if self._file.fingerprint() == self._seen:
            return
        with self._surely():
            self._refresh()

    @contextmanager
    def _surely(self) -> Iterator[None]:
        """Forgets everything if something comes between, such as Ctrl-C: half of it would be worse than nothing."""
        try:
            yield
        except BaseException:
            self.forget()
            raise

    def _refresh(self) -> None:
        trouble: DamagedJournal | None = None
        for _ in range(_TRIES):  # what was acknowledged and the file are read one after the other
            acknowledged = self._file.acknowledged()
            self._load()
            trouble = self._trouble(acknowledged)
            if trouble is None:
                return
            self.forget()
        if trouble is not None:
            raise trouble

    def _load(self) -> None:
        seen = self._file.fingerprint()
        data = bytearray(self._file.read())
        if data[: self._end] != self._data[: self._end]:
            self.forget()
        self._data = data
        if not self._end:
            self._load_header()
        if self._end:
            found, self._end = journal_text.places(data, self._end, self._hash)
            self._by_id |= {each.id: len(self._places) + index for index, each in enumerate(found)}
            self._places += found
            self._hash = found[-1].hash if found else self._hash
        self._seen = seen

    def _trouble(self, acknowledged: bytes) -> DamagedJournal | None:
        """Returns what is wrong with what was read."""
        hashes = {each.hash for each in self._places} | {self._first_hash}
        is_known = len(acknowledged) != _HASH_LENGTH or acknowledged in hashes
        if self._end == len(self._data):
            return None if is_known else self.damage(self._end, "the last entries that were saved are missing")
        if is_known and not journal_marks.has_entry_behind(self._data, self._end):
            return None
        return self.damage(self._end, "what stands here is not what was written")

    def entries(self) -> list[Entry]:
        """Returns all entries, oldest first."""
        return [self.entry(index) for index in range(len(self._places))]

    def __len__(self) -> int:
        return len(self._places)

    def index_of(self, entry_id: str) -> int | None:
        """Returns which entry has an id, or None."""
        return self._by_id.get(entry_id)

    def last(self) -> Entry | None:
        """Returns the newest entry, or None."""
        return self.entry(len(self._places) - 1) if self._places else None

    def entry(self, index: int) -> Entry:
        """Returns an entry; raises DamagedJournal."""
        if index not in self._entries:
            self._entries[index] = self.written(index).entry
        return self._entries[index]

    def written(self, index: int) -> Written:
        """Returns an entry with what it changes, whose values are the caller's; raises DamagedJournal."""
        place = self._places[index]
        previous = self._places[index - 1].id if index else None
        try:
            return journal_text.read_entry(self._data, place, self.header.agent, previous)
        except Unreadable as error:
            raise self.damage(place.start, str(error)) from error

    def find(self, entry_id: str) -> Entry | None:
        """Returns the entry with an id, or None; call it inside `held`.

        If nothing was read yet, it is found without reading the others.
        """
        if self._seen is None:
            return self._found_alone(entry_id)
        self.refresh()
        index = self.index_of(entry_id)
        return None if index is None else self.entry(index)

    def _found_alone(self, entry_id: str) -> Entry | None:
        """Reads as much in front of the entry's last line as is needed, since nobody knows how long it is."""
        end = self._file.place_of(journal_marks.mark_of(entry_id))
        width = _WINDOW
        while end >= 0:
            start = max(0, end - width)
            found = journal_text.find(self._file.part(start, end + _WINDOW), entry_id, self.header.agent)
            if found or not start:
                return found.entry if found else None
            width *= 4
        return None

    def state_at(self, entry_id: str) -> tuple[State, int]:
        """Returns the state that an entry stands for, and how many bytes had to be read for it; raises NotFound."""
        index = self.index_of(entry_id)
        if index is None:
            raise NotFound(f"the journal has no entry {entry_id}.", location=Location(path=str(self.path)))
        state, back, weight = self._followed_back(index)
        for each in reversed(back):
            state = self._after(state, each, index)
        return state, weight

    def replayed(self) -> Iterator[tuple[Written, State]]:
        """Goes through all entries with the state of each, which the next step changes; raises DamagedJournal."""
        state: State = {}
        for index in range(len(self._places)):
            each = self.written(index)
            state = self._after(state, each, index) if each.base is None else self.state_at(each.entry.id)[0]
            yield each, state

    def _after(self, state: State, written: Written, index: int) -> State:
        try:
            return state_changes.applied(state, written.changes)
        except (LookupError, TypeError, AttributeError) as error:
            raise self.damage(self._places[index].start, "its changes do not fit the state before") from error

    def _followed_back(self, index: int) -> tuple[State, list[Written], int]:
        """Returns a state to begin with, the entries to apply to it, newest first, and their weight."""
        back: list[Written] = []
        weight = 0
        while True:
            each = self.written(index)
            back.append(each)
            weight += self._places[index].end - self._places[index].start
            if each.is_whole:
                return {}, back, weight
            if each.base is None:
                if index == 0:
                    return {}, back, weight
                index -= 1
            elif (known := self.index_of(each.base)) is not None and known < index:
                index = known
            else:
                state, further = self._state_elsewhere(self._places[index].start, each.base)
                return state, back, weight + further

    def _state_elsewhere(self, offset: int, base: str) -> tuple[State, int]:
        try:
            return self._elsewhere(self.header.forked_journal, base)
        except NotFound as error:
            raise self.damage(offset, f"entry {base}, from which it goes on, is not there") from error

    # Trouble

    @property
    def is_torn(self) -> bool:
        """Whether there is the beginning of an entry at the end."""
        return self._end < len(self._data)

    def torn(self) -> DamagedJournal:
        """Returns the error that says where the last entry begins, and whether it is known to be merely unfinished.

        It is not if nobody noted the entry before it as the last that was acknowledged, as in a clone.
        """
        is_known = self._file.acknowledged() == self._hash
        return self.damage(self._end, f"the last entry is {'unfinished' if is_known else 'damaged or torn'}")

    def damage(self, offset: int, what: str) -> DamagedJournal:
        """Returns the error that says what is wrong and where."""
        last = self._places[-1].id if self._places else None
        whole = f"{len(self._places)} entries before are whole, the last one is {last}" if last else "no entry is whole"
        return DamagedJournal(
            f"the journal of {self.header.title} is damaged: {what}.",
            location=Location(path=str(self.path), line=journal_marks.line_at(self._data, offset)),
            hint=f"{whole}; restore the file from git, or call repair() to go on from there.",
        )

    # Writing

    @contextmanager
    def changing(self) -> Iterator[list[Path]]:
        """Holds the journal for writing, as it is now, without an unfinished entry; yields what was put aside."""
        with self._file.locked():
            is_swept, self._is_swept = self._is_swept, True
            if not is_swept:
                self._file.sweep()
            self.refresh()
            if not is_swept and self._file.origins() and not self._has_origin():
                self._file.drop_origins()
            yield [self._set_aside()] if self.is_torn else []

    def _has_origin(self) -> bool:
        """Tells whether the first entry refers to another journal: no other one does."""
        return bool(self._places) and self.written(0).base is not None

    def take_origins(self, sources: Iterable[tuple[str, Path]]) -> None:
        """Puts the journals that this one is to go on from beside it; call it inside `changing`."""
        self._file.take_origins(sources)

    @contextmanager
    def held(self) -> Iterator[None]:
        """Holds the journal, so that no entry goes away meanwhile."""
        with self._file.locked():
            yield

    def append(self, written: Written) -> int:
        """Adds an entry durably and returns its size; call it inside `changing`."""
        with self._surely():
            return self._appended(written)

    def _appended(self, written: Written) -> int:
        beginning = b"" if self._end else journal_text.header_text(self.header)
        before = self._hash if self._end else _hash_of(beginning)
        data = journal_text.entry_text(written, before)
        seen = self._file.append(beginning + data, self._end, _hash_of(data))
        if beginning:
            self._first_hash = before
        start = self._end + len(beginning)
        self._end = start + len(data)
        self._data += beginning + data
        self._hash = _hash_of(data)
        self._by_id[written.entry.id] = len(self._places)
        self._entries[len(self._places)] = written.entry
        self._places.append(Place(written.entry.id, start, self._end, self._hash))
        self._seen = seen
        return len(data)

    def rewrite(self, entries: Iterable[Written]) -> int:
        """Puts these entries in the place of all, durably, and returns the bytes saved; call it inside `changing`."""
        parts = [journal_text.header_text(self.header)]
        previous: str | None = None
        for each in entries:
            parts.append(journal_text.entry_text(replace(each, previous=previous), _hash_of(parts[-1])))
            previous = each.entry.id
        size = len(self._data)
        self._file.replace(b"".join(parts), _hash_of(parts[-1]))
        self.forget()
        self.refresh()
        return size - len(self._data)

    def all_written(self) -> Iterator[Written]:
        """Returns all entries with what they change; the first one so that it needs no other journal."""
        for index in range(len(self._places)):
            each = self.written(index)
            if each.base is not None and self.index_of(each.base) is None:
                each = replace(each, base=None, changes=state_changes.whole(self.state_at(each.entry.id)[0]))
            yield each

    def condensed(self, entries: Iterable[Entry]) -> Iterator[Written]:
        """Returns some of the entries, each with what changed since the one before it among them.

        Each must be used before the next is asked for. States are compared only where entries between them go, or
        where one goes on from another than the one before it.
        """
        kept = {each.id: each for each in entries}
        before: State | None = None
        is_next = False  # to the one that was returned last
        for index, (written, state) in enumerate(self.replayed()):
            entry = kept.get(written.entry.id)
            if entry is not None:
                is_same = written.is_whole or (is_next and written.base is None)
                changes = self.written(index).changes if is_same else _since(before, state)
                yield Written(entry=entry, previous=None, changes=changes)
                before = None if self._is_followed(index, kept) else json_data.copy_of(state, "state")
            is_next = entry is not None

    def _is_followed(self, index: int, kept: Container[str]) -> bool:
        """Tells whether the next entry stays, too, and says itself what it changes in the state of this one."""
        if index + 1 == len(self._places):
            return True
        following = self._places[index + 1].id
        return following in kept and self.written(index + 1).base is None

    def repair(self) -> Path | None:
        """Puts aside everything behind the last whole entry and returns where to, or None if there is nothing."""
        with self._file.locked():
            self._file.sweep()
            self._load()
            aside = self._set_aside() if self.is_torn else None
            self._file.accept(self._hash)
            return aside

    def _set_aside(self) -> Path:
        with self._surely():
            aside = self._file.set_aside(self._data, self._end)
            del self._data[self._end :]
            self._seen = self._file.fingerprint()
            return aside

    def close(self) -> None:
        """Lets go of the file."""
        self._file.close()

    def forget(self) -> None:
        """Forgets what was read, so that the file is read as it is now."""
        self._seen = None  # first of all: nothing is up to date any more
        self._data = bytearray()
        self._end, self._hash, self._first_hash = 0, b"", b""
        self._places, self._by_id, self._entries = [], {}, {}

    def _load_header(self) -> None:
        """Reads the first lines; if they are unfinished, nothing is whole."""
        try:
            found, self._end, self._hash = journal_text.read_header(self._data)
        except UnknownVersion as error:
            raise self._foreign(str(error)) from error
        except Unreadable:
            return
        if (found.agent, found.branch) != (self.header.agent, self.header.branch):
            raise self._foreign(f"it is the journal of {found.title}")
        self._first_hash = self._hash
        self.header = found

    def _foreign(self, what: str) -> DamagedJournal:
        """Returns the error for a file that is none of ours, which is not to be believed the next time either."""
        error = self.damage(0, what)
        self.forget()
        return error


def _since(before: State | None, state: State) -> list[Change]:
    return state_changes.whole(state) if before is None else state_changes.between(before, state)


def _hash_of(data: bytes) -> bytes:
    """Returns the hash at the end of an entry or of the first lines."""
    return data[-_HASH_LENGTH - 5 : -5]
