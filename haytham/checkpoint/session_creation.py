"""Makes the folder of a session with its first commit."""

from collections.abc import Mapping
from typing import Any

from haytham.documents.document import Document
from haytham.documents.renderer import checked
from haytham.domain import messages, progress, projects
from haytham.domain.choices import ReviewPolicy, SessionStatus, choose
from haytham.domain.errors import InvalidInput, Location
from haytham.domain.workflow import Workflow
from haytham.storage import layout
from haytham.storage.project_store import ProjectStore
from haytham.storage.session_store import SessionStore
from haytham.storage.store import CommitNote

Identity = Mapping[str, str]


def ensure_project(store: ProjectStore, identity: Identity, now: str) -> None:
    """Makes the project of a session that is created before its project, as the reference usage does."""
    if store.exists():
        return
    value = projects.value(
        project_id=identity["project_id"],
        user_id=identity["user_id"],
        startup_idea="",
        name=identity["project_id"],
        execution_mode=identity["execution_mode"],
        now=now,
    )
    if not store.create_project(value) and not store.exists():
        raise InvalidInput(
            f"the folder {store.folder.name!r} exists and is no project.",
            location=Location(path=str(store.folder)),
            hint="choose another project id or base folder; nothing in it was touched.",
        )


def check_same(store: SessionStore, present: Mapping[str, Any], wanted: Identity) -> None:
    """Raises InvalidInput if an existing session is another one than wanted."""
    for key in ("user_id", "workflow_type", "execution_mode"):
        if present[key] != wanted[key]:
            raise InvalidInput(
                f"session {wanted['session_id']!r} exists with {key} {present[key]!r}, not {wanted[key]!r}.",
                location=Location(path=str(store.folder)),
                hint="use another session id, or the values it was created with.",
            )


def policies(workflow: Workflow, mode: str, review: object) -> dict[str, str]:
    """Checks the review policies of one session; raises InvalidInput, else returns them by phase number."""
    if review is None:
        return {}
    phases = workflow.phases_in(mode)
    if isinstance(review, Mapping):
        chosen = {workflow.phase(number, mode).number: policy for number, policy in review.items()}
    else:
        chosen = {phase.number: review for phase in phases}
    return {str(number): choose(ReviewPolicy, policy, "review").value for number, policy in sorted(chosen.items())}


def create(store: SessionStore, workflow: Workflow, identity: Identity, now: str, policy: Mapping[str, str]) -> bool:
    """Makes a session with its own history; False if somebody else made it first."""
    phases = workflow.phases_in(identity["execution_mode"])
    contents = {
        layout.ATTRIBUTES_FILE: layout.ATTRIBUTES,
        layout.WORKFLOW_FILE: workflow.source.encode(),
        layout.MANIFEST_FILE: _manifest(workflow, identity, now, policy),
    }
    note = CommitNote(message=_message(workflow, identity))
    return store.create(contents, note, tuple(phase.folder for phase in phases))


def _manifest(workflow: Workflow, identity: Identity, now: str, policy: Mapping[str, str]) -> bytes:
    status = SessionStatus.IN_PROGRESS.value
    full: dict[str, Any] = {**identity, "created": now, "last_updated": now, "status": status, "closed": None}
    value = progress.manifest(full, workflow, {}, now)
    if policy:
        value["review_policy"] = dict(policy)
    return checked(Document(kind="session_manifest", value=value), layout.MANIFEST_FILE).encode()


def _message(workflow: Workflow, identity: Identity) -> str:
    title = f"Session {identity['session_id']} created"
    body = f"{workflow.title}, mode {identity['execution_mode']}, for {identity['user_id']}"
    trailers = {
        "Session": identity["session_id"],
        "Workflow": workflow.name,
        "Mode": identity["execution_mode"],
    }
    return messages.message(title, body, trailers)
