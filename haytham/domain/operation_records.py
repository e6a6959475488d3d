"""What the operations on whole sessions return: the written form of every dict."""

from typing import TypedDict

from haytham.domain.records import Metrics, RecoveryReport


class ForkRecord(TypedDict):
    """What `fork` returns; `reopened` are the phases whose decision was withdrawn later, so that they ask again."""

    project_id: str
    session_id: str
    path: str
    origin: str
    commit: str
    phase: int | None
    kept_phases: list[int]
    pending_phases: list[int]
    reopened: list[int]


class RollbackRecord(TypedDict):
    """What `rollback` returns; `commit` is the new one, None if there was nothing to change or it is a dry run."""

    project_id: str
    session_id: str
    to: str
    phase: int | None
    commit: str | None
    restored: list[str]
    removed: list[str]
    reopened: list[int]
    kept_edits: list[str]
    dry_run: bool


class SessionFigures(TypedDict):
    """One of two sessions that are compared."""

    session_id: str
    status: str
    created: str
    execution_mode: str
    phases_done: int
    metrics: Metrics


class PhaseFigures(TypedDict):
    """One phase of one of two sessions that are compared; None where nothing is known."""

    status: str
    attempt: int | None
    tokens: int | None
    cost: float | None
    duration: float | None
    decision: str | None


class PhaseComparison(TypedDict):
    """One phase of two sessions; None where one of them has no such phase. `diff` compares their outputs."""

    number: int
    name: str
    one: PhaseFigures | None
    other: PhaseFigures | None
    same_outputs: bool
    diff: str


class Comparison(TypedDict):
    """What `compare` returns; `common` is the newest commit that both histories have, if there is one."""

    project_id: str
    one: SessionFigures
    other: SessionFigures
    common: str | None
    phases: list[PhaseComparison]


class DeletionRecord(TypedDict):
    """What `delete_session` removed, or would remove.

    `edited_files` are in no history; `refs` are branches, tags and stashes with commits that the session's own branch
    does not have. Both are None if that cannot be told. `state` tells this state of the session from any other.
    """

    project_id: str
    session_id: str
    path: str
    files: int
    bytes: int
    commits: int
    edited_files: list[str] | None
    refs: list[str] | None
    state: str
    dry_run: bool


class RetentionRow(TypedDict):
    """One session that a retention chose, and why; `spared` says why it stays nevertheless, or is None.

    `state` tells the state in which it is deleted from any other; it is None if it is not to be deleted.
    """

    session_id: str
    status: str
    last_updated: str
    bytes: int
    reason: str
    spared: str | None
    state: str | None


class RetentionRecord(TypedDict):
    """What `retain_sessions` did, or would do."""

    project_id: str
    action: str
    dry_run: bool
    chosen: list[RetentionRow]
    kept: int
    bytes: int


class CleanupRecord(TypedDict):
    """What `gc` did in one folder; `torn` are the leftovers of journals that nobody looked at for a long time."""

    folder: str
    bytes_before: int
    bytes_after: int
    removed: list[str]
    torn: list[str]


class RepairRecord(RecoveryReport):
    """What `repair` found and did; `journals` are those that go on from their last whole entry, with the rest aside."""

    project_id: str
    session_id: str
    journals: list[str]
    rescued_files: list[str]
