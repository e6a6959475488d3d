"""The part of the API that is about audits: what happened, how it was, what changed, whether it still is as written."""

from haytham.audit import chronicle, comparison, phase_snapshot, verification
from haytham.audit.verification import RecordedHead
from haytham.checkpoint.session_access import SessionAccess
from haytham.domain.audit_records import LogRecord, PhaseSnapshot, VerifyReport
from haytham.domain.errors import InvalidInput
from haytham.storage.layout import Layout, refuse_links
from haytham.storage.project_store import ProjectStore

_ID_LENGTH = 40


class Auditing:
    """Audits of the sessions below one base folder; `CheckpointManager` is one, and says what its methods raise."""

    def __init__(self, places: Layout, access: SessionAccess) -> None:
        self._layout = places
        self._access = access

    def log(
        self,
        project_id: str,
        session_id: str,
        *,
        phase: int | None = None,
        actor: str | None = None,
        decision: str | None = None,
        since: object = None,
        until: object = None,
    ) -> list[LogRecord]:
        """Returns the commits of a session, newest first: all, or those about a phase, by somebody, with a decision.

        `actor` is part of a name or an address; `since` and `until` are instants, or days in UTC.
        """
        chosen = chronicle.wanted(phase, actor, decision, since, until)
        store = self._access.store_at(self._layout.existing_session(project_id, session_id))
        refuse_links(store.history.git_folder)
        return chronicle.records(filter(chosen.has, store.history.entries()), session_id, store.folder)

    def show_phase(
        self, project_id: str, session_id: str, phase_num: int, at: int | str | None = None
    ) -> PhaseSnapshot:
        """Returns a phase as it was: at an attempt (a number), at a commit (its id or a beginning), or at the newest.

        Raises NotFound if the phase had no documents then.
        """
        view = self._access.view(project_id, session_id)
        return phase_snapshot.take(view, view.phase(phase_num), at)

    def diff(
        self,
        project_id: str,
        session_id: str,
        phase_num: int,
        before: int | str | None = None,
        after: int | str | None = None,
    ) -> str:
        """Shows what changed in a phase's outputs, as a unified diff; by default between its last two attempts.

        A number is an attempt, a text the id of a commit or its beginning. When and for how long agents ran is no
        difference.
        """
        view = self._access.view(project_id, session_id)
        return comparison.of_phase(view, view.phase(phase_num), before, after)

    def diff_sessions(
        self, project_id: str, session_id: str, other_session_id: str, phase_num: int | None = None
    ) -> str:
        """Shows how the outputs of another session of the project differ, in one phase or in all, as a unified diff."""
        view, other = self._access.view(project_id, session_id), self._access.view(project_id, other_session_id)
        phases = [view.phase(phase_num)] if phase_num is not None else list(view.phases)
        return comparison.of_sessions(view, other, phases)

    def verify_session(self, project_id: str, session_id: str, *, head: str | None = None) -> VerifyReport:
        """Checks that a session is what was written: documents, hashes, decisions, commits, git's objects, journals.

        Nothing is changed. Its history has to lead to the newest commit by the note of the last save, to those that
        the project's history recorded, and to `head`, the full id of one that was noted elsewhere.
        """
        store = self._access.store_at(self._layout.existing_session(project_id, session_id))
        own = ProjectStore(self._layout.project(project_id), clock=self._access.clock, lock_timeout=0)
        recorded = verification.recorded_heads(session_id, own) if own.exists() else []
        if head is not None:
            recorded.append(RecordedHead(commit=_full_id(head), where="what was given"))
        return verification.session(store, recorded)


def _full_id(head: object) -> str:
    if not isinstance(head, str) or len(head) != _ID_LENGTH or set(head) - set("0123456789abcdef"):
        hint = "pass all 40 characters, as verify and git rev-parse HEAD tell them."
        raise InvalidInput(f"head is {head!r}, which is no id of a commit.", hint=hint)
    return head
