"""Finds out whether a folder is still what was written: documents, hashes, decisions, commits, git's own objects.

Nothing is changed: no recovery, no lock. A folder that somebody changes meanwhile is looked at again.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from haytham.audit import approvals, chronicle
from haytham.audit.commit_chain import CommitChain
from haytham.audit.findings import DOCUMENT, EDITED, HISTORY, JOURNAL, OBJECTS, SIGNATURE, Findings, short
from haytham.checkpoint import validation
from haytham.domain.audit_records import LogRecord, SignatureCounts, VerifyReport
from haytham.domain.errors import HaythamError
from haytham.domain.workflow import Phase
from haytham.journal.journals import Journals
from haytham.storage import history_past, layout, object_files, signing, user_git
from haytham.storage.history_chain import HistoryChain
from haytham.storage.project_store import ProjectStore
from haytham.storage.session_store import SessionStore, name_in
from haytham.storage.store import Store

_TRIES = 5
_DETOURS = {  # git's own ways to show another history than the one that is there
    "shallow": "history is cut off: git was told to know nothing before some commit.",
    "info/grafts": "git was told to show other parents of commits than they have.",
    "objects/info/alternates": "git reads objects from elsewhere, which is not part of this folder.",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class RecordedHead:
    """A commit that was the newest once, and where that is recorded."""

    commit: str
    where: str


def session(store: SessionStore, recorded: Iterable[RecordedHead]) -> VerifyReport:
    """Verifies one session."""
    heads = tuple(recorded)
    return _at_rest(store, lambda: _session(store, heads))


def project(store: ProjectStore) -> VerifyReport:
    """Verifies the project's own document, results and history."""
    return _at_rest(store, lambda: _project(store))


def _session(store: SessionStore, heads: Sequence[RecordedHead]) -> VerifyReport:
    check = _Folder(store, heads)
    phases = validation.readable_phases(store)
    if check.history(lambda: [name for phase in phases for name in store.files_of(phase)]):
        check.findings.attempt(HISTORY, lambda: _chain(store, phases, check.findings))
    for phase in phases:
        check.findings.attempt(JOURNAL, lambda phase=phase: _journals(store, phase, check.findings))  # type: ignore[misc]  # called at once
    return check.report(store.folder.name)


def _project(store: ProjectStore) -> VerifyReport:
    check = _Folder(store, ())
    check.history(list)
    return check.report(None)


def _chain(store: SessionStore, phases: Iterable[Phase], findings: Findings) -> None:
    """Checks every commit against its words, and every decision against its commit."""
    with store.history.kept_open():
        chain = CommitChain(HistoryChain(store.history), store.workflow, phases, findings)
        chain.check()
        for phase in phases:
            approvals.check(store, phase, chain, findings)


def _journals(store: SessionStore, phase: Phase, findings: Findings) -> None:
    """Lets every journal of a phase check itself."""
    folder = name_in(phase, layout.JOURNAL_FOLDER)
    notes = store.history.git_folder / layout.JOURNAL_NOTES / phase.folder
    for journal in Journals(store.path(folder), notes, store.folder.name, policy=store.workflow.journal).all():
        for line in journal.verify():
            findings.add(JOURNAL, f"the journal of {journal.title}: {line}", folder)


def _at_rest(store: Store, verify: Callable[[], VerifyReport]) -> VerifyReport:
    """Looks again if there are findings about a folder that was changed meanwhile."""
    for _ in range(_TRIES):
        before = _head(store)
        report = verify()
        if not report["findings"] or (store.is_at_rest and before == _head(store)):
            break
        store.read_anew()
    return report


def _head(store: Store) -> str | None:
    try:
        return store.history.head()
    except HaythamError:
        return None


class _Folder:
    """A verification of one folder."""

    def __init__(self, store: ProjectStore | SessionStore, heads: Sequence[RecordedHead]) -> None:
        self._store = store
        self._heads = heads
        self._commits = 0
        self._noted_head: str | None = None
        self._signatures = SignatureCounts(good=0, unidentified=0, bad=0, unchecked=0, none=0)
        self.findings = Findings(store.folder)
        names, problems = validation.documents(store)
        self._documents = len(names)
        self.findings.take(DOCUMENT, problems)

    def history(self, present: Callable[[], list[str]]) -> bool:
        """Checks git's files, the branch, what it has to lead to, and the folder against it; tells if it can be read.

        `present` names documents that may be there without being part of history.
        """
        before = len(self.findings.records)
        self._objects()
        if len(self.findings.records) == before:
            self.findings.attempt(HISTORY, self._store.history.check)
        if len(self.findings.records) > before:
            return False  # what is damaged cannot be judged any further
        self.findings.attempt(HISTORY, self._commits_and_heads)
        self.findings.attempt(EDITED, lambda: self._edits(present()))
        return self._commits > 0

    def report(self, session_id: str | None) -> VerifyReport:
        """Returns what was found."""
        return VerifyReport(
            folder=str(self._store.folder),
            session_id=session_id,
            head=_head(self._store),
            noted_head=self._noted_head,
            commits=self._commits,
            documents=self._documents,
            signatures=self._signatures,
            findings=self.findings.records,
        )

    # Steps

    def _objects(self) -> None:
        """Hashes git's files; git itself checks what is in them if all of them are whole."""
        git_folder = self._store.history.git_folder
        hint = "restore the folder .git from a copy or a clone; the documents beside it are untouched."
        found = self.findings.attempt(OBJECTS, lambda: list(object_files.faults(git_folder / "objects")))
        for path, message in found or ():
            self.findings.add(OBJECTS, message, str(path.relative_to(self._store.folder)), hint)
        lines = user_git.fsck(self._store.folder) if found == [] and git_folder.is_dir() else []
        for line in lines:
            self.findings.add(OBJECTS, f"git fsck: {line}", git_folder.name, hint)
        for path in object_files.unseen(git_folder / "objects") if lines else ():
            message = "the pack has no index, so that git does not see its objects."
            self.findings.add(OBJECTS, message, str(path.relative_to(self._store.folder)), "see: git index-pack")

    def _commits_and_heads(self) -> None:
        for name, message in _DETOURS.items():
            if (self._store.history.git_folder / name).exists():
                self.findings.add(HISTORY, message, f".git/{name}")
        history = HistoryChain(self._store.history)
        entries = list(self._store.history.entries())
        self._commits = len(entries)
        self._check_signatures(chronicle.records(entries, None, self._store.folder))
        for name in history.substitutes():
            message = f"{name} makes git show another object than the one that history names."
            self.findings.add(HISTORY, message, ".git", "see: git replace --list")
        self._noted_head = noted = self._store.recorded_head()
        own = [RecordedHead(commit=noted, where="the note of the last save")] if noted else []
        for head in [*own, *self._heads]:
            if not history.has(head.commit):
                self.findings.add(
                    HISTORY,
                    f"history was cut or replaced: commit {short(head.commit)}, the newest one by {head.where}, "
                    "is no part of it any more.",
                    hint=f"git may still have it: git log {short(head.commit)}; else look for a copy or a clone.",
                    commit=head.commit,
                )

    def _check_signatures(self, entries: Iterable[LogRecord]) -> None:
        """Counts the signatures, and names those that are bad or not their author's."""
        states, identities = Counter[str](), Counter[str]()
        for entry in entries:
            signature, commit, author = entry["signature"], entry["id"], entry["author"]
            states[signature["state"] if signature else "none"] += 1
            if signature and signature["state"] == signing.GOOD:
                identities[signature["identity"]] += 1
            if signature and signature["state"] == signing.BAD:
                self.findings.add(SIGNATURE, f"commit {short(commit)} has a bad signature.", commit=commit)
            elif signature and signature["identity"] == signing.OTHER:
                who = f"signed by {signature['signer']}, and in the name of {author['name']} <{author['email']}>"
                self.findings.add(SIGNATURE, f"commit {short(commit)} is {who}.", commit=commit)
        self._signatures = SignatureCounts(
            good=states[signing.GOOD],
            unidentified=identities[signing.UNCHECKED],
            bad=states[signing.BAD],
            unchecked=states[signing.UNCHECKED],
            none=states["none"],
        )

    def _edits(self, present: Iterable[str]) -> None:
        """Names the documents that are not as the newest commit has them, nor as a save is just leaving them.

        A journal that grows is ahead of its commit, and checks itself; one that is gone is named.
        """
        store = self._store
        there = history_past.files_at(store.history, store.history.head())
        committed = [name for name in there if not self._grows(name)]
        for name in store.edited_by_hand(list(dict.fromkeys([*committed, *present]))):
            what = "differs from the newest commit" if store.bytes_of(name) is not None else "is gone"
            hint = f"see: git diff HEAD -- {name}"
            self.findings.add(EDITED, f"{name} {what}: an edit that nobody has committed.", name, hint)

    def _grows(self, name: str) -> bool:
        return f"/{layout.JOURNAL_FOLDER}/" in name and self._store.bytes_of(name) is not None


def recorded_heads(session_id: str, project_store: ProjectStore) -> list[RecordedHead]:
    """Returns the newest commits of a session that its project's history has recorded since the session came there."""
    found = []
    for entry in project_store.history.entries():
        told = entry.trailers if entry.trailers.get("Haytham-Session") == session_id else {}
        if told.get("Haytham-Status") == "deleted":
            break  # what was recorded before is about another one of that id
        if "Haytham-Head" in told:
            found.append(RecordedHead(commit=told["Haytham-Head"], where=f"commit {short(entry.id)} of the project"))
        if "Haytham-Imported" in told:
            break
    return found
