"""What the managers return: the written form of every dict that crosses the border."""

from typing import Any, NotRequired, TypedDict


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
