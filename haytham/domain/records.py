"""What the managers return: the written form of every dict that crosses the border."""

from typing import Any, NotRequired, TypedDict


class ProblemRecord(TypedDict):
    """One problem: what, where, how to go on; `line` is None and a text empty where there is nothing to say."""

    message: str
    path: str
    line: int | None
    section: str
    field: str
    hint: str


class FolderReport(TypedDict):
    """What a check of one folder found: the documents that were read, and every problem."""

    folder: str
    documents: list[str]
    problems: list[ProblemRecord]


class CheckRecord(TypedDict):
    """One check of a machine: `status` is ok, warning or problem; `hint` says how to mend it, empty if all is well."""

    name: str
    status: str
    found: str
    hint: str


class AgentRecord(TypedDict):
    """One agent in a checkpoint; what callers hand in may leave out all but the first two."""

    agent_name: str
    status: str
    output_file: NotRequired[str | None]
    tokens: NotRequired[int | None]
    input_tokens: NotRequired[int | None]
    output_tokens: NotRequired[int | None]
    cost: NotRequired[float | None]
    duration: NotRequired[float | None]


class Metrics(TypedDict):
    """What a session took so far."""

    total_duration: float
    total_tokens: int
    total_cost: float


class OriginRecord(TypedDict):
    """What a session was forked from; `phase` is None if a commit was named."""

    session_id: str
    commit: str
    phase: int | None
    forked: str


class SessionState(TypedDict):
    """What `load_session` returns."""

    session_id: str
    project_id: str
    user_id: str
    workflow_type: str
    execution_mode: str
    created: str
    last_updated: str
    status: str
    current_phase: int
    completed_phases: list[int]
    phase_statuses: dict[int, str]
    next_phase: int | None
    can_resume: bool
    metrics: Metrics
    edited_files: list[str]
    recovered: list[str]
    stale_phases: dict[int, str]
    archived: str | None
    origin: OriginRecord | None


class PhaseOverview(TypedDict):
    """One phase in an overview; `review` is one word for how its review stands, `void` words an approval that is."""

    number: int
    name: str
    status: str
    duration: float | None
    tokens: int | None
    cost: float | None
    attempt: int | None
    policy: str
    review: str | None
    missing: str | None
    void: str | None
    stale: str | None
    agents: list[str]


class SessionOverview(SessionState):
    """What `overview` returns: the session with its phases, and the forms that cannot be understood as problems."""

    rescued_files: list[str]
    own_files: list[str]
    phases: list[PhaseOverview]
    problems: list[ProblemRecord]


class CheckpointRecord(TypedDict):
    """What `load_checkpoint` returns."""

    phase_num: int
    phase_name: str
    status: str
    started: str | None
    completed: str | None
    duration: float | None
    retry_count: int
    execution_mode: str
    agents: list[AgentRecord]
    inputs: list[dict[str, Any]]
    next_phase: int | None
    errors: list[str]
    total_tokens: int | None
    input_tokens: int | None
    output_tokens: int | None
    cost: float | None


class FeedbackRecord(TypedDict):
    """What `load_feedback` returns."""

    phase_num: int
    reviewed: bool
    approved: bool
    timestamp: str | None
    reviewer: str | None
    role: str | None
    comments: str
    requested_changes: list[str]
    action: str | None
    retry_count: int
    attempt: int
    content: str
    is_current: bool


class DecisionRecord(TypedDict):
    """One reviewer's decision."""

    reviewer: str | None
    role: str | None
    decision: str
    timestamp: str | None
    comments: str
    requested_changes: list[str]


class PreviousDecision(TypedDict):
    """The decision about earlier content that a form notes; `void_because` says why it is one no more."""

    attempt: int
    decision: str
    reviewer: str | None
    timestamp: str | None
    void_because: str | None


class ReviewRecord(TypedDict):
    """What `review` and `wait_for_review` return: how the review of a phase stands."""

    phase_num: int
    phase_name: str
    policy: str
    attempt: int
    decision: str | None
    approved: bool
    missing: str | None
    comments: str
    requested_changes: list[str]
    reviewer: str | None
    timestamp: str | None
    content: str
    decisions: list[DecisionRecord]
    previous: PreviousDecision | None
    form: str


class RetryRequest(TypedDict):
    """What the next attempt at a phase is asked to do better."""

    phase_num: int
    attempt: int
    requested_changes: list[str]
    comments: str
    reviewer: str | None
    previous_outputs: dict[str, str]


class ResumeStep(TypedDict):
    """One thing that is left to do in a session, and why."""

    phase_num: int
    phase_name: str
    action: str
    reason: str


class SessionSummary(TypedDict):
    """One row of `list_sessions`."""

    session_id: str
    status: str
    execution_mode: str
    workflow_type: str
    created: str
    last_updated: str
    current_phase: int
    archived: str | None
    problem: NotRequired[str]


class RecoveryReport(TypedDict):
    """What `recover` found and did."""

    finished: list[str]
    removed: list[str]
    edited_files: list[str]


class ProjectRecord(TypedDict):
    """What the project manager returns about a project."""

    project_id: str
    project_name: str
    user_id: str
    startup_idea: str
    execution_mode: str
    status: str
    created: str
    last_updated: str
    current_session: str | None
    requirements_version: int
    preferences: dict[str, Any]
    problem: NotRequired[str]


class ProjectStatusRecord(ProjectRecord):
    """What `get_project_status` returns: the project with its sessions."""

    sessions: list[SessionSummary]
    session_counts: dict[str, int]


class SessionStart(TypedDict):
    """What `start_session` returns."""

    project_id: str
    session_id: str
    user_id: str
    workflow_type: str
    execution_mode: str
    status: str
    created: str
    path: str


class SessionResult(TypedDict):
    """What `complete_session` of a project returns."""

    project_id: str
    session_id: str
    status: str
    completed: str
    requirements_version: int
    requirements_file: str
    unfinished_phases: list[int]
    metrics: dict[str, Any]


class EntryRecord(TypedDict):
    """One entry of an agent's journal, without its state."""

    id: str
    number: int
    agent: str
    timestamp: str
    step: int
    name: str
    kind: str
    status: str
    reason: str
    metadata: dict[str, Any]
    parent: str | None
    succeeded: str | None


class CleanupReport(TypedDict):
    """What the retention of a journal removed, or would remove; `reasons` has one for each entry, by id."""

    removed: list[EntryRecord]
    reasons: dict[str, str]
    kept: int
    bytes_freed: int
    dry_run: bool


class JournalSummary(TypedDict):
    """What a journal holds; `whole_bytes` is what saving the whole state each time would have taken."""

    total_count: int
    unique_names: int
    names: dict[str, int]
    kinds: dict[str, int]
    first: EntryRecord | None
    last: EntryRecord | None
    duration_seconds: float
    size_bytes: int
    whole_bytes: int
    savings: float


class JournalBranch(TypedDict):
    """A journal in the tree of forks."""

    title: str
    agent: str
    branch: str
    forked_from: str | None
    entries: int
    forks: list["JournalBranch"]
