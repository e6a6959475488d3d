"""The journals of a phase: opened, forked, drawn as a tree."""

import secrets
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from haytham.documents.journal_text import Header
from haytham.domain import instants
from haytham.domain.errors import InvalidInput
from haytham.domain.identifiers import check_agent_name, check_id
from haytham.domain.journal_entry import Entry
from haytham.domain.journal_policy import JournalPolicy
from haytham.domain.records import JournalBranch
from haytham.domain.state_changes import State
from haytham.journal.journal import Journal, Sources
from haytham.journal.journal_log import JournalLog
from haytham.storage import files
from haytham.storage.journal_file import JournalFile, Origin, origin_of

_SUFFIX = ".md"


def new_id() -> str:
    """Returns an id that no other entry has, on whatever machine."""
    return secrets.token_hex(12)


class Journals:
    """The journals in one folder; `notes` is the folder beside git's files that tells what was acknowledged."""

    def __init__(
        self,
        folder: Path,
        notes: Path,
        session: str,
        *,
        clock: instants.Clock = instants.utc_now,
        make_id: Callable[[], str] = new_id,
        policy: JournalPolicy | None = None,
    ) -> None:
        self.session = session
        self._folder = folder
        self._notes = notes
        self._clock = clock
        self._make_id = make_id
        self._policy = policy

    def journal(self, agent: str, branch: str = "") -> Journal:
        """Returns the journal of an agent, which need not exist yet; raises InvalidInput for a bad name."""
        check_agent_name(agent)
        header = Header(session=self.session, agent=agent, branch=check_id(branch, "branch") if branch else "")
        self._check_free(header.title)
        return self._opened(header)

    def titles(self) -> list[str]:
        """Returns the names of the journals that exist: the agent's, with `@` and the branch's if there is one."""
        names = files.names_in(self._folder)
        titles = [name.removesuffix(_SUFFIX) for name in names if name.endswith(_SUFFIX)]
        return [title for title in titles if _is_title(title)]

    def all(self) -> list[Journal]:
        """Returns the journals that exist, by name."""
        return [self.journal(agent, branch) for agent, _, branch in (title.partition("@") for title in self.titles())]

    def latest(self, *, agent: str | None = None, name: str | None = None, kind: str | None = None) -> Entry | None:
        """Returns the newest entry of all journals, or of those of one agent, or None."""
        found = [each.latest(name=name, kind=kind) for each in self.all() if agent in {None, each.agent}]
        return max((each for each in found if each), key=lambda each: each.timestamp, default=None)

    def tree(self) -> list[JournalBranch]:
        """Returns the journals with their forks below them."""
        journals = self.all()
        branches = {
            each.title: JournalBranch(
                title=each.title,
                agent=each.agent,
                branch=each.branch,
                forked_from=each.forked_from,
                entries=len(each),
                forks=[],
            )
            for each in journals
        }
        origins = {each.title: each.origin for each in journals}
        for title, branch in branches.items():
            if origins[title] in branches:
                branches[origins[title]]["forks"].append(branch)
        return [branch for title, branch in branches.items() if origins[title] not in branches]

    # For a journal

    def fork(self, journal: Journal, origin: Entry, branch: str, name: str) -> Journal:
        """Begins a branch of an agent in this folder that refers to an entry of another."""
        header = Header(
            session=self.session,
            agent=journal.agent,
            branch=check_id(branch, "branch"),
            forked_from=origin.id,
            forked_journal=journal.title,
        )
        return self._begun(header, origin, (), name)

    def take_over(self, journal: Journal, origin: Entry, sources: Sources, branch: str, name: str) -> Journal:
        """Begins a journal in this folder that goes on from an entry of a journal elsewhere."""
        header = Header(
            session=self.session,
            agent=journal.agent,
            branch=check_id(branch, "branch") if branch else "",
            forked_from=origin.id,
            forked_journal=journal.title,
            forked_session=journal.session,
        )
        return self._begun(header, origin, sources, name)

    def sources(self, path: Path, entry_id: str) -> Sources:
        """Yields the files that the state of an entry may have to be followed back through, with the entries there."""
        file = JournalFile(path, path)
        seen: set[str] = set()
        while entry_id not in seen:
            seen.add(entry_id)
            further = origin_of(path)
            yield entry_id, path
            if further is None:
                return
            title, entry_id = further
            path = file.origin(entry_id)
            if not path.exists():
                path = self._folder / f"{title}{_SUFFIX}"
                file = JournalFile(path, path)

    def detach_forks(self, journal: Journal) -> None:
        """Makes those that refer to a journal independent of it, before entries of it go away."""
        for each in self.all():
            if each.origin == journal.title:
                each.detach()

    def _begun(self, header: Header, origin: Entry, sources: Sources, name: str) -> Journal:
        self._check_free(header.title)
        journal = self._opened(header)
        if journal.has_begun:  # before its lock is asked for, which may be held here
            raise InvalidInput(f"there is a journal {header.title} already.", hint="choose another branch.")
        journal.begin(origin, sources, name)
        return journal

    def _opened(self, header: Header) -> Journal:
        name = f"{header.title}{_SUFFIX}"
        file = JournalFile(self._folder / name, self._notes / name)
        log = JournalLog(file, header, partial(self._state_in, file))
        return Journal(log, self, clock=self._clock, make_id=self._make_id, policy=self._policy)

    def _state_in(self, file: JournalFile, title: str, entry_id: str) -> tuple[State, int]:
        """Returns a state that a journal goes on from: one of its origin's, or of another journal in this folder."""
        agent, _, branch = title.partition("@")
        origin = file.origin(entry_id)
        if not origin.exists():
            return self.journal(agent, branch).followed(entry_id)
        header = Header(session="", agent=agent, branch=branch)
        log = JournalLog(Origin(origin, entry_id), header, partial(self._state_in, file))
        log.refresh()
        return log.state_at(entry_id)

    def _check_free(self, title: str) -> None:
        for taken in self.titles():
            if taken != title and taken.casefold() == title.casefold():
                raise InvalidInput(f"{title} differs only by case from {taken}, which has a journal here.")


def _is_title(title: str) -> bool:
    """Tells a journal's name from that of a file that somebody put beside."""
    agent, _, branch = title.partition("@")
    try:
        return bool(check_agent_name(agent) and check_id(branch or agent, "branch"))
    except InvalidInput:
        return False


def consistent_point(journals: Sequence[Journal], at: object = None, *, name: str | None = None) -> dict[str, Entry]:
    """Returns, for each journal, the newest entry at one point in time; by default the latest point that all reach.

    With a name it is the newest entry of that name in each: a point that the agents agreed on. Raises InvalidInput if
    a journal has no entry so early, or none of that name.
    """
    if name is not None:
        found = {each.title: each.latest(name=name) for each in journals}
    else:
        newest = [last.timestamp for each in journals if (last := each.latest())]
        point = instants.parse(at, "at") if at is not None else min(newest, default=None)
        found = {
            each.title: next((e for e in reversed(each.all()) if point and e.timestamp <= point), None)
            for each in journals
        }
    missing = sorted(title for title, entry in found.items() if entry is None)
    if missing:
        raise InvalidInput(
            f"the journal of {missing[0]} has no entry {f'called {name}' if name else 'so early'}.",
            hint="choose a later point, or leave that agent out.",
        )
    return {title: entry for title, entry in found.items() if entry is not None}


def recover_to(journals: Sequence[Journal], point: dict[str, Entry]) -> list[Entry]:
    """Rolls journals back to one point; repeating it after a crash finishes what was begun."""
    mark = ",".join(sorted(entry.id for entry in point.values()))
    done = []
    for each in journals:
        last = each.latest()
        if last is None or last.metadata.get("recovered_to") != mark:
            last = each.rollback_to(point[each.title], reason="recovered together", metadata={"recovered_to": mark})
        else:
            each.resume()  # what was changed since and not saved goes
        done.append(last)
    return done
