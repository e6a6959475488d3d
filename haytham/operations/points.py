"""A point in a session's history that can be gone back to: a phase, or a commit."""

from dataclasses import dataclass

from haytham.checkpoint.session_view import SessionView
from haytham.domain.errors import InvalidInput, NotFound
from haytham.domain.workflow import Phase
from haytham.storage import history_past, layout
from haytham.storage.session_store import name_in

_SHORT = 7


@dataclass(frozen=True, kw_only=True, slots=True)
class Point:
    """A commit, and the phases that are taken from it; `phase` is the one that was named, if one was."""

    commit: str
    kept: tuple[Phase, ...]
    phase: Phase | None = None

    @property
    def title(self) -> str:
        """What the point is called in messages."""
        return f"phase {self.phase.number} {self.phase.name}" if self.phase else f"commit {self.commit[:_SHORT]}"


def find(view: SessionView, phase: object, commit: object) -> Point:
    """Returns the point that is named by a phase or by a commit, or else the newest commit.

    A phase stands for itself and those before it as they are now. Its commit is the one since which they are so.
    Raises InvalidInput if both are given, or none like it is in history.
    """
    if phase is not None and commit is not None:
        raise InvalidInput("both a phase and a commit are named.", hint="name one of them.")
    if phase is not None:
        return _phase_point(view, view.phase(phase))
    if commit is not None:
        return Point(commit=_with_manifest(view, history_past.commit_id(view.store.history, commit)), kept=view.phases)
    return Point(commit=head(view), kept=view.phases)


def head(view: SessionView) -> str:
    """Returns the newest commit of a session."""
    found = view.store.history.head()
    if found is None:
        raise NotFound("the session has no history.", hint="haytham validate shows what is wrong.")
    return found


def _phase_point(view: SessionView, phase: Phase) -> Point:
    newest = head(view)
    if view.store.history.read(name_in(phase, layout.CHECKPOINT_FILE), newest) is None:
        raise InvalidInput(
            f"phase {phase.number} {phase.name} is not in history yet.", hint="name a phase that has been run."
        )
    kept = (*view.workflow.preceding(phase, view.mode), phase)
    return Point(commit=_since(view, newest, kept), kept=kept, phase=phase)


def _since(view: SessionView, newest: str, kept: tuple[Phase, ...]) -> str:
    """Returns the oldest commit since which these phases are as in the newest one."""
    wanted = _folders(view, newest, kept)
    found = newest
    for entry in view.store.history.entries():
        if _folders(view, entry.id, kept) != wanted:
            break
        found = entry.id
    return found


def _folders(view: SessionView, commit: str, phases: tuple[Phase, ...]) -> list[str | None]:
    known = history_past.folders_at(view.store.history, commit)
    return [known.get(phase.folder) for phase in phases]


def _with_manifest(view: SessionView, commit: str) -> str:
    if view.store.history.read(layout.MANIFEST_FILE, commit) is None:
        raise InvalidInput(
            f"commit {commit[:_SHORT]} has no {layout.MANIFEST_FILE}.",
            hint="choose one that Haytham made; haytham log shows them.",
        )
    return commit
