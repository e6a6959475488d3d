"""Holds every commit of a session against its own words: what it says it did has to be what its files show.

A commit that was dropped, moved or melted into another leaves one that changes more or other things than it names, or
a phase whose end no commit tells. Commits that people made with git name no phase, and are only part of the chain.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from haytham.audit.findings import CHAIN, CONTENT, Findings, short
from haytham.documents.reader import read
from haytham.domain import content, messages, progress, reviews
from haytham.domain.choices import Action, PhaseStatus
from haytham.domain.errors import HaythamError
from haytham.domain.workflow import Phase, Workflow
from haytham.storage import layout
from haytham.storage.history_chain import HistoryChain, Link
from haytham.storage.session_store import is_marked, is_text, listed_outputs, name_in

_BEGINNING = {layout.ATTRIBUTES_FILE, layout.WORKFLOW_FILE, layout.MANIFEST_FILE}

Value = Mapping[str, Any]
Decision = tuple[int, str, str]  # of a phase, what, about which content


class CommitChain:
    """The commits of one session, oldest first, with what they tell."""

    def __init__(self, history: HistoryChain, workflow: Workflow, phases: Iterable[Phase], findings: Findings) -> None:
        self._history = history
        self._workflow = workflow
        self._phases = {str(phase.number): phase for phase in phases}
        self._findings = findings
        self.links = list(history.links())[::-1]
        self._by_id = {link.entry.id: link for link in self.links}
        self._contents: set[tuple[str, str]] = set()
        self._ends: set[tuple[str, str]] = set()
        self._is_closed = False
        self.decisions: dict[Decision, Link] = {}

    def check(self) -> None:
        """Checks each commit, then that the newest one has nothing that none of them tells."""
        for link in self.links:
            self._check_link(link)
        if self.links:
            self._check_ends(self.links[-1])

    def documents(self, link: Link, kind: str, names: Iterable[str], words: tuple[str, ...] = ()) -> dict[str, Value]:
        """Returns the values of those documents that a commit has and that can be read."""
        found = {}
        for name in names:
            if name in link.files:
                try:
                    found[name] = read(kind, self._history.data(link.files[name]).decode(), name, words).value
                except (HaythamError, UnicodeDecodeError):
                    continue  # a person's edit, put into history as it was found
        return found

    def forms(self, link: Link, phase: Phase) -> dict[str, Value]:
        """Returns the forms of a phase that a commit has: the form itself, and the decisions of several reviewers."""
        reviews_ = name_in(phase, f"{layout.REVIEWS_FOLDER}/")
        names = [name_in(phase, layout.FEEDBACK_FILE), *(name for name in link.files if name.startswith(reviews_))]
        return self.documents(link, "user_feedback", names, phase.approvals.roles)

    def content_of(self, link: Link, phase: Phase) -> str:
        """Returns the hash of a phase's outputs as a commit has them."""
        below = {path.removeprefix(f"{phase.folder}/"): oid for path, oid in link.files.items() if _in(path, phase)}
        texts = {name: self._history.data(oid) for name, oid in below.items() if "/" not in name and is_text(name)}
        listed = listed_outputs(self._workflow, self._checkpoint(link, phase))
        return content.of({name: data for name, data in texts.items() if is_marked(data) or name in listed}).hash

    def _checkpoint(self, link: Link, phase: Phase) -> Value | None:
        name = name_in(phase, layout.CHECKPOINT_FILE)
        return self.documents(link, "checkpoint", [name]).get(name)

    # Steps

    def _check_link(self, link: Link) -> None:
        told = link.entry.trailers
        if not link.parents:
            self._check_beginning(link)
        parent = told.get(messages.PARENT)
        if parent is not None and parent not in link.parents:
            what = (
                f"was made to follow commit {short(parent)}, and follows {_listing([short(p) for p in link.parents])}"
            )
            self._say(link, f"{what}: commits were dropped, reordered, replaced or melted into one")
        if parent is None and link.parents and any(name.startswith("Haytham-") for name in told):
            self._say(link, "does not name the one before it, as every commit of Haytham's does: it was rewritten")
        number = told.get("Haytham-Phase")
        if number is None and told.get("Haytham-Status") == PhaseStatus.COMPLETED.value:
            self._is_closed = True
        if number is None or number not in self._phases:
            return
        phase = self._phases[number]
        if len(link.parents) == 1 and link.entry.subject.startswith("Phase "):
            self._check_reach(link, phase)
        if "Haytham-Content" in told:
            self._check_content(link, phase, told["Haytham-Content"], told.get("Haytham-Decision"))
        if "Haytham-Status" in told:
            self._check_status(link, phase, told["Haytham-Status"], told.get("Haytham-Attempt"))
        if "Haytham-Decision" in told:
            self._check_decision(link, phase, told["Haytham-Decision"], told.get("Haytham-Content", ""))

    def _check_beginning(self, link: Link) -> None:
        is_creation = "Haytham-Session" in link.entry.trailers and "Haytham-Workflow" in link.entry.trailers
        if not is_creation or not set(link.files) <= _BEGINNING:
            self._say(link, "is the first, and more than the creation of a session: what came before it is missing")

    def _check_reach(self, link: Link, phase: Phase) -> None:
        parent = self._by_id.get(link.parents[0])
        before = parent.files if parent else {}
        names = before.keys() | link.files.keys()
        changed = sorted(name for name in names if before.get(name) != link.files.get(name))
        foreign = [name for name in changed if not _in(name, phase) and name != layout.MANIFEST_FILE]
        if foreign:
            what = f"is about phase {phase.number}, and changes {_listing(foreign)} too"
            self._say(link, f"{what}: commits were dropped, reordered or melted into one")
        if not link.entry.subject.startswith(f"Phase {phase.number} "):
            self._say(link, f"says {link.entry.subject!r}, and by its trailers is about phase {phase.number}")

    def _changes(self, link: Link, phase: Phase) -> bool:
        """Tells whether a commit changes the checkpoint of a phase."""
        name, parent = name_in(phase, layout.CHECKPOINT_FILE), self._by_id.get(link.parents[0] if link.parents else "")
        return parent is None or parent.files.get(name) != link.files.get(name)

    def _check_content(self, link: Link, phase: Phase, told: str, decision: str | None) -> None:
        found, key = self.content_of(link, phase), (str(phase.number), told)
        is_late = decision not in {None, Action.APPROVED.value} and key in self._contents  # about what was there before
        if found != told and not is_late:
            what = "approves" if decision == Action.APPROVED.value else "tells"
            self._say(link, f"{what} another content of phase {phase.number} than its files have", CONTENT)
        self._contents |= {key, (str(phase.number), found)}

    def _check_status(self, link: Link, phase: Phase, status: str, attempt: str | None) -> None:
        self._ends.add((str(phase.number), status))
        checkpoint = self._checkpoint(link, phase)
        metadata: Value = checkpoint["metadata"] if checkpoint else {"status": "missing", "retry_count": 0}
        if (metadata["status"], str(metadata["retry_count"] + 1)) != (status, attempt):
            what = f"says that phase {phase.number} is {status} at attempt {attempt}"
            self._say(link, f"{what}, and its checkpoint says otherwise")

    def _check_decision(self, link: Link, phase: Phase, decision: str, about: str) -> None:
        if (checkpoint := self._checkpoint(link, phase)) and self._changes(link, phase):
            self._ends.add((str(phase.number), progress.status_of(checkpoint).value))
        self.decisions[phase.number, decision, about] = link
        forms = self.forms(link, phase).values()
        if not any((str(reviews.action_of(f)), f["subject"]["content"]) == (decision, about) for f in forms):
            self._say(link, f"records {decision} for phase {phase.number}, and no form in it says so")
        by = link.entry.trailers.get("Reviewed-by")
        if by is not None and by != " ".join(str(link.entry.author).split()):
            self._say(link, f"records a decision of {by}, and is by {link.entry.author}")

    def _check_ends(self, newest: Link) -> None:
        for number, phase in self._phases.items():
            status = progress.status_of(self._checkpoint(newest, phase))
            if status.is_recorded and (number, status.value) not in self._ends:
                what = f"phase {number} {phase.name} is {status}, and no commit tells how it came to that"
                self._findings.add(CHAIN, f"{what}: its own commit is missing.", phase.folder)
        for value in self.documents(newest, "session_manifest", [layout.MANIFEST_FILE]).values():
            if value["metadata"]["closed"] is not None and not self._is_closed:
                what = "the session is completed, and no commit tells so: its own commit is missing."
                self._findings.add(CHAIN, what, layout.MANIFEST_FILE)

    def _say(self, link: Link, what: str, kind: str = CHAIN) -> None:
        hint = f"look at it: git show {short(link.entry.id)}"
        self._findings.add(kind, f"commit {short(link.entry.id)} {what}.", hint=hint, commit=link.entry.id)


def _in(path: str, phase: Phase) -> bool:
    return path.startswith(f"{phase.folder}/")


def _listing(names: list[str]) -> str:
    more = f" and {len(names) - 1} more" if len(names) > 1 else ""
    return f"{names[0]}{more}" if names else "none"
