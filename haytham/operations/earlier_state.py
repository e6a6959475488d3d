"""The documents of a session as they were at a point, and what follows for its reviews.

A decision comes back only if it still was the last word about that content: one that was withdrawn later stays
withdrawn, and the phase asks for a new review. So going back never opens a gate that is shut.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import dropwhile
from typing import Any

from haytham.checkpoint.session_view import SessionView
from haytham.documents.document import Document
from haytham.documents.reader import read
from haytham.documents.renderer import checked
from haytham.domain import checkpoints, progress, reviews
from haytham.domain import content as fingerprint
from haytham.domain.choices import PhaseStatus
from haytham.domain.errors import InvalidInput
from haytham.domain.workflow import Phase
from haytham.operations.points import Point
from haytham.storage import files, history_past, layout
from haytham.storage.session_store import SessionStore, name_in

WITHDRAWN = "the session went back to before another decision about the same content"

Contents = dict[str, bytes | None]


@dataclass(frozen=True, kw_only=True, slots=True)
class EarlierState:
    """Every document of the phases as it was, None where there was none; `reopened` ask for a new review."""

    contents: Contents
    reopened: tuple[Phase, ...]


def of(view: SessionView, point: Point, present: list[str]) -> EarlierState:
    """Returns the documents of all phases at a point; those `present` that were not there then are None."""
    contents: Contents = dict.fromkeys(present)
    contents |= {name: data for phase in point.kept for name, data in _of_phase(view, phase, point.commit).items()}
    reopened = tuple(phase for phase in point.kept if _is_withdrawn(view, phase, point.commit, contents))
    for phase in reopened:
        contents |= _reopened(view.store, phase, point.commit, contents)
    return EarlierState(contents=contents, reopened=reopened)


def documents(view: SessionView) -> list[str]:
    """Returns the documents of all phases that are in the folder or in the newest commit.

    Whatever else lies in a phase's folder is a person's own.
    """
    store, newest = view.store, view.store.history.head()
    found: list[str] = []
    for phase in view.phases:
        names = [*layout.OWN_FILES, *store.output_names(phase)]
        found += [*(name_in(phase, name) for name in names), *store.review_files(phase), *store.journal_names(phase)]
        found += _of_phase(view, phase, newest) if newest else {}
    return list(dict.fromkeys(found))


def _of_phase(view: SessionView, phase: Phase, commit: str) -> dict[str, bytes]:
    """Returns the documents of a phase as a commit has them."""
    history = view.store.history
    inside = {n: oid for n, oid in history_past.files_at(history, commit).items() if n.startswith(f"{phase.folder}/")}
    found = history_past.contents(history, inside)
    return {name: data for name, data in found.items() if _is_document(view.store, phase, name, data)}


def _is_document(store: SessionStore, phase: Phase, name: str, data: bytes) -> bool:
    _, _, file = name.partition("/")
    inner, _, rest = file.partition("/")
    if rest:
        return inner in {layout.REVIEWS_FOLDER, layout.JOURNAL_FOLDER} and "/" not in rest
    return file in layout.OWN_FILES or store.is_output(phase, file, data)


def manifest(view: SessionView, state: EarlierState, identity: Mapping[str, Any], parts: Mapping[str, Any]) -> bytes:
    """Returns the manifest that these documents give, for a session of this identity."""
    view.identity, view.parts = {**view.identity, **identity}, dict(parts)
    with view.store.previewing(state.contents):
        document = view.manifest.replaced(view.derived_manifest())
    return checked(document, layout.MANIFEST_FILE).encode()


def _is_withdrawn(view: SessionView, phase: Phase, commit: str, contents: Contents) -> bool:
    """Tells whether a decision of a phase was not the last one about the content that it had then."""
    decided = _decided(view.store, phase, contents)
    if not decided:
        return False
    last = _last_with(view, phase, commit)
    then = history_past.files_at(view.store.history, commit)
    return any(last.get(name) != then[name] for name in decided)


def _decided(store: SessionStore, phase: Phase, contents: Contents) -> list[str]:
    """Returns the documents that hold a decision about a phase."""
    folder, form = name_in(phase, layout.REVIEWS_FOLDER), name_in(phase, layout.FEEDBACK_FILE)
    names = [name for name, data in contents.items() if name.startswith(f"{folder}/") and data is not None]
    value = _value(store, "user_feedback", form, contents.get(form), phase)
    return [*names, *([form] if value is not None and reviews.action_of(value) else [])]


def _last_with(view: SessionView, phase: Phase, commit: str) -> dict[str, str]:
    """Returns the files of the newest commit in which a phase has the outputs that it has in this one."""
    history = view.store.history
    wanted = _outputs(view, phase, history_past.files_at(history, commit))
    for entry in history.entries():
        found = history_past.files_at(history, entry.id)
        if _outputs(view, phase, found) == wanted:
            return found
    return {}


def _outputs(view: SessionView, phase: Phase, names: Mapping[str, str]) -> dict[str, str]:
    """Returns the ids of those files that are outputs of a phase."""
    inside = {name: oid for name, oid in names.items() if name.startswith(f"{phase.folder}/") and name.count("/") == 1}
    found = history_past.contents(view.store.history, inside)
    return {name: inside[name] for name, data in found.items() if _is_output(view.store, phase, name, data)}


def _is_output(store: SessionStore, phase: Phase, name: str, data: bytes) -> bool:
    file = name.removeprefix(f"{phase.folder}/")
    return "/" not in file and store.is_output(phase, file, data)


def _reopened(store: SessionStore, phase: Phase, commit: str, contents: Contents) -> Contents:
    """Returns the documents of a phase that asks for a new review: a fresh form, no decision, nor what it led to."""
    folder = f"{name_in(phase, layout.REVIEWS_FOLDER)}/"
    form, checkpoint = name_in(phase, layout.FEEDBACK_FILE), name_in(phase, layout.CHECKPOINT_FILE)
    outputs = {
        name.partition("/")[2]: data
        for name, data in contents.items()
        if data is not None and name.startswith(f"{phase.folder}/") and _is_output(store, phase, name, data)
    }
    before = _value(store, "user_feedback", form, contents.get(form), phase)
    done = _value(store, "checkpoint", checkpoint, contents.get(checkpoint), phase)
    tried = done["metadata"]["retry_count"] if done else 0
    fresh = reviews.form(phase, fingerprint.of(outputs), tried, before, WITHDRAWN)
    changed: Contents = {name: None for name in contents if name.startswith(folder)}
    changed[form] = checked(Document(kind="user_feedback", value=fresh), form).encode()
    if done and (checkpoints.is_sent_back(done) or progress.status_of(done) is PhaseStatus.SKIPPED):
        was_completed = _was_completed(store, phase, commit, tried)
        value = checkpoints.with_status(done, PhaseStatus.COMPLETED if was_completed else PhaseStatus.IN_PROGRESS)
        changed[checkpoint] = checked(Document(kind="checkpoint", value=value), checkpoint).encode()
    return changed


def _was_completed(store: SessionStore, phase: Phase, commit: str, tried: int) -> bool:
    """Tells whether a phase had been completed in this attempt, by a commit or one before it."""
    name = name_in(phase, layout.CHECKPOINT_FILE)
    for entry in dropwhile(lambda each: each.id != commit, store.history.entries()):
        value = _value(store, "checkpoint", name, store.history.read(name, entry.id), phase)
        if value is None or value["metadata"]["retry_count"] != tried:
            return False
        if progress.status_of(value) is PhaseStatus.COMPLETED:
            return True
    return False


def _value(store: SessionStore, kind: str, name: str, data: bytes | None, phase: Phase) -> Mapping[str, Any] | None:
    """Reads a document as it was; one that cannot be understood decides nothing."""
    if data is None:
        return None
    path = str(store.path(name))
    try:
        return read(kind, files.decoded(data, path), path, phase.approvals.roles).value
    except InvalidInput:
        return None
