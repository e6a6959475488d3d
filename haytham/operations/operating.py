"""The part of the API that is about whole sessions: it orders the steps, the modules beside it do the work."""

from collections.abc import Callable, Sequence
from functools import partial

from haytham.checkpoint import overview, session_journals
from haytham.checkpoint.session_access import SessionAccess
from haytham.domain import numbers, session_retention
from haytham.domain.errors import InvalidInput
from haytham.domain.headway import Headway, OnProgress
from haytham.domain.identifiers import check_id, check_text
from haytham.domain.operation_records import (
    CleanupRecord,
    Comparison,
    DeletionRecord,
    ForkRecord,
    RepairRecord,
    RetentionRecord,
    RetentionRow,
    RollbackRecord,
)
from haytham.domain.records import SessionState
from haytham.operations import comparison, forks, housekeeping, points, project_log, retirement, rollback
from haytham.operations.comparison import Side
from haytham.storage import folders, layout
from haytham.storage.layout import Layout
from haytham.storage.project_store import ProjectStore
from haytham.storage.session_store import SessionStore


class Operating:
    """Operations on the sessions below one base folder; `CheckpointManager` is one, and says what its methods raise."""

    def __init__(
        self,
        places: Layout,
        access: SessionAccess,
        projects: Callable[[str], ProjectStore],
        new_id: Callable[[], str],
    ) -> None:
        self._layout = places
        self._access = access
        self._projects = projects
        self._new_id = new_id

    def fork(
        self,
        project_id: str,
        session_id: str,
        new_session_id: str | None = None,
        *,
        phase: int | None = None,
        commit: str | None = None,
    ) -> ForkRecord:
        """Makes another session that goes on from a phase or a commit of this one; by default from its newest commit.

        It has this one's history up to there; later phases are pending. Approvals hold, because the content is the
        same, unless they were withdrawn since. What people wrote and nobody committed stays here alone.
        Repeating it with the same id is safe; raises InvalidInput if that is another session.
        """
        new = check_id(new_session_id if new_session_id is not None else f"session-{self._new_id()[:12]}", "session id")
        folder = self._layout.session(project_id, new)
        view = self._access.settled(project_id, session_id)
        layout.refuse_links(folder)
        layout.check_free(new, folder.parent, "session id")
        project = self._projects(project_id)
        project.check()
        with view.store.history.kept_open():
            made = forks.fork(view, self._access.store_at(folder), points.find(view, phase, commit))
        project_log.note(project, forks.project_message(made), once_for=new)
        return made

    def rollback(
        self,
        project_id: str,
        session_id: str,
        *,
        phase: int | None = None,
        commit: str | None = None,
        reason: str = "",
        dry_run: bool = False,
    ) -> RollbackRecord:
        """Takes a session back to a phase or a commit by a new commit: later phases are pending again.

        Nothing is rewritten: what was there before, people's own edits too, is in history first. Whoever else claimed
        the session is superseded: what they have under way belongs to what was taken back.
        """
        if phase is None and commit is None:
            raise InvalidInput("nothing says what to go back to.", hint="give a phase or a commit.")
        with self._access.writing(project_id, session_id, is_work=False) as writer:
            end = partial(self._access.end_claim, writer.store)
            return rollback.roll_back(writer, phase, commit, check_text(reason, "reason"), end, dry_run=dry_run)

    def compare(self, project_id: str, session_id: str, other_session_id: str) -> Comparison:
        """Compares two sessions of a project: phases, outputs, tokens, cost, time, decisions."""
        if session_id == other_session_id:
            raise InvalidInput(f"session {session_id!r} is compared with itself.", hint="name another one.")
        return comparison.compare(self._side(project_id, session_id), self._side(project_id, other_session_id))

    def archive_session(self, project_id: str, session_id: str) -> SessionState:
        """Marks a session as archived: it is refused changes until it is unarchived; doing it again changes nothing.

        What people wrote and nobody committed is put into history first.
        """
        with self._access.writing(project_id, session_id, even_archived=True, is_work=False) as writer:
            retirement.archive(writer, self._projects(project_id), is_archived=True)
        return self._access.state(project_id, session_id)

    def unarchive_session(self, project_id: str, session_id: str) -> SessionState:
        """Opens an archived session again; one that is not archived is left as it is."""
        with self._access.writing(project_id, session_id, even_archived=True, is_work=False) as writer:
            retirement.archive(writer, self._projects(project_id), is_archived=False)
        return self._access.state(project_id, session_id)

    def delete_session(
        self, project_id: str, session_id: str, *, state: str | None = None, dry_run: bool = False
    ) -> DeletionRecord:
        """Removes a session with its history, for good, after noting it in the project's; a dry run only tells.

        Its forks have a history of their own, and stay. With the `state` that a dry run told, raises Conflict if
        anything in it changed since.
        """
        folders.sweep(self._layout.existing_project(project_id) / layout.SESSIONS_FOLDER)
        store = self._access.store_at(self._layout.existing_session(project_id, session_id))
        record = retirement.planned(store, project_id, dry_run=dry_run)
        if not dry_run:
            retirement.delete(store, record, self._projects(project_id), state)
        return record

    def retain_sessions(
        self,
        project_id: str,
        *,
        statuses: Sequence[str] | None = None,
        older_than_days: float | None = None,
        larger_than: int | None = None,
        keep: int | None = None,
        action: str = session_retention.ARCHIVE,
        planned: RetentionRecord | None = None,
        dry_run: bool = False,
    ) -> RetentionRecord:
        """Archives or deletes the sessions to which all that is given applies; a dry run only tells.

        `keep` of the sessions changed last stay. Without `statuses` only completed ones go. A session in which people
        wrote what is in no history is not deleted, nor one that changes meanwhile. With `planned`, what a dry run
        returned, those go that it chose, whatever a rule would choose by now.
        """
        if planned is None:
            wanted = session_retention.rule(statuses, older_than_days, larger_than, keep)
            planned = retirement.chosen(self._stores(project_id), project_id, wanted, action, self._access.clock())
        if dry_run:
            return planned
        return retirement.carry_out(planned, lambda row: self._retire(project_id, row, planned["action"]))

    def gc(
        self,
        project_id: str,
        session_id: str | None = None,
        *,
        torn_after_days: float = 30,
        on_progress: OnProgress | None = None,
    ) -> list[CleanupRecord]:
        """Cleans up a session, or a project with all its sessions: left-over files go, git packs its objects.

        Nothing that anybody wrote is removed: of journals it lists what a crash had torn off, if older than that.
        `on_progress(done, total)` is called with each step.
        """
        now = self._access.clock()
        numbers.check_amount(torn_after_days, "torn_after_days")
        if session_id is not None:
            only, steps = self._access.store(project_id, session_id), Headway(1, on_progress)
            return [housekeeping.clean(each, now, torn_after_days) for each in steps.over([only])]
        sessions = self._stores(project_id)
        swept = folders.sweep(self._layout.sessions(project_id))
        own = housekeeping.clean(self._projects(project_id), now, swept=swept)
        steps = Headway(len(sessions), on_progress)
        return [own, *(housekeeping.clean(store, now, torn_after_days) for store in steps.over(sessions))]

    def repair(self, project_id: str, session_id: str) -> RepairRecord:
        """Finishes what crashes left in a session and in the journals of its agents; tells what it did and found."""
        store = self._access.store(project_id, session_id)
        report = self._access.recover(store)
        view = self._access.view(project_id, session_id)
        journals = [session_journals.of(store, phase, self._access.clock) for phase in view.phases]
        return housekeeping.repair(view, report, journals)

    # Steps

    def _side(self, project_id: str, session_id: str) -> Side:
        state = self._access.state(project_id, session_id)
        view = self._access.view(project_id, session_id)
        return view, overview.of(view, state)

    def _stores(self, project_id: str) -> list[SessionStore]:
        ids = self._layout.session_ids(project_id)
        return [self._access.store_at(self._layout.existing_session(project_id, each)) for each in ids]

    def _retire(self, project_id: str, row: RetentionRow, action: str) -> None:
        if action == session_retention.DELETE:
            self.delete_session(project_id, row["session_id"], state=row["state"])
        else:
            self.archive_session(project_id, row["session_id"])
