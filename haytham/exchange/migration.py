"""Rewrites documents of older formats in the present one, as one commit of a folder.

Outputs of agents are never rewritten: approvals are bound to their bytes, and the reader understands old ones as they
are. What a person changed and nobody committed is committed before.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from haytham.documents import migrations
from haytham.documents.document import FORMAT_VERSION
from haytham.documents.migrations import Steps
from haytham.documents.reader import read
from haytham.domain import messages
from haytham.domain.errors import InvalidDocument, Location, Problem
from haytham.storage import files, layout
from haytham.storage.project_store import ProjectStore
from haytham.storage.session_store import SessionStore, name_in
from haytham.storage.store import CommitNote, Store


@dataclass(frozen=True, kw_only=True, slots=True)
class Rewrite:
    """One document that is to be brought up to the present format."""

    name: str
    kind: str
    version: int
    text: str


def documents_of(project: ProjectStore, sessions: Iterable[SessionStore]) -> dict[Store, dict[str, str]]:
    """Returns the kinds of the documents in each folder of a project, by name, but for the outputs."""
    found: dict[Store, dict[str, str]] = {project: {layout.PROJECT_FILE: "project"}}
    return found | {each: session_documents(each) for each in sessions}


def session_documents(store: SessionStore) -> dict[str, str]:
    """Returns the kinds of a session's documents, by name, but for the outputs."""
    found = {layout.MANIFEST_FILE: "session_manifest"}
    for phase in store.workflow.phases:
        found[name_in(phase, layout.CHECKPOINT_FILE)] = "checkpoint"
        found |= dict.fromkeys([name_in(phase, layout.FEEDBACK_FILE), *store.review_files(phase)], "user_feedback")
    return found


def plan(store: Store, documents: dict[str, str], known: Steps = migrations.KNOWN) -> list[Rewrite]:
    """Returns what is to be rewritten; raises InvalidDocument if a format is not known, or its steps do not help."""
    found = [_rewrite(store, name, kind, known) for name, kind in documents.items()]
    return [each for each in found if each is not None]


def migrate(store: Store, rewrites: Iterable[Rewrite]) -> None:
    """Writes documents in the present format, as one commit; call it under the lock."""
    contents = {each.name: each.text.encode() for each in rewrites}
    if not contents:
        return
    if edited := store.edited_by_hand(list(contents)):
        store.commit(tuple(edited), CommitNote(message=messages.edit(edited)))
    note = messages.message(
        f"Format {FORMAT_VERSION}", "\n".join(contents), {"Migrated": "yes", "Format": FORMAT_VERSION}
    )
    store.save(contents, CommitNote(message=note))


def _rewrite(store: Store, name: str, kind: str, known: Steps) -> Rewrite | None:
    data, path = store.bytes_of(name), str(store.path(name))
    if data is None:
        return None
    text = files.decoded(data, path)
    version, new = migrations.version_of(kind, text), migrations.upgraded(kind, text, known)
    if version == FORMAT_VERSION:
        return None
    if migrations.version_of(kind, new) != FORMAT_VERSION:
        raise InvalidDocument([_unknown(kind, version, path)])
    read(kind, new, path)  # raises InvalidDocument if the steps did not make one of it
    return Rewrite(name=name, kind=kind, version=version, text=new)


def _unknown(kind: str, version: int, path: str) -> Problem:
    return Problem(
        message=f"format {version} of {kind} is not known; this release knows {FORMAT_VERSION}.",
        location=Location(path=path),
        hint="read it with the release of Haytham that wrote it.",
    )
