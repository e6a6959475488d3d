"""Finishes what a crash left between two steps of a save, or names it; leaves people's own edits alone."""

from haytham.checkpoint import review_desk
from haytham.checkpoint.session_view import SessionView
from haytham.checkpoint.session_writer import SessionWriter
from haytham.documents.document import Document
from haytham.documents.reader import read
from haytham.documents.renderer import checked
from haytham.domain import messages, progress, reviews
from haytham.domain.choices import PhaseStatus
from haytham.domain.errors import HaythamError, InvalidDocument, InvalidInput, NotFound
from haytham.domain.records import RecoveryReport
from haytham.domain.workflow import Phase
from haytham.storage import layout
from haytham.storage.session_store import SessionStore, name_in
from haytham.storage.store import CommitNote


def recover(writer: SessionWriter) -> RecoveryReport:
    """Brings folder, manifest and history of a session together; call it under the lock.

    Doing it twice does nothing more: a healthy session is only looked at.
    """
    store = writer.store
    store.history.check()
    removed = [str(path) for path in store.sweep()]
    restored = [f"{name} was brought to the commit that a crash had left it behind" for name in store.restored]
    finished = [_finish(writer, phase) for phase in _unfinished(writer)]
    if not finished and _manifest_is_stale(writer):
        writer.save_manifest(messages.message("Manifest derived again", trailers={"Recovered": "yes"}))
        finished.append(_derived_again(writer.manifest_fault))
    finished += _finish_documents(writer)
    return RecoveryReport(finished=restored + finished, removed=removed, edited_files=edited_files(writer))


def _derived_again(fault: HaythamError | None) -> str:
    """Tells that the manifest is new and, where it could not be understood, why, and where its words are."""
    told = f"{layout.MANIFEST_FILE} was derived again from the checkpoints"
    if not isinstance(fault, InvalidDocument):
        return told
    first = fault.problems[0]
    line = f"line {first.location.line}: " if first.location.line else ""
    return f"{told}, because it could not be read ({line}{first.message.rstrip('.')}); what it said is in history"


def edited_files(view: SessionView) -> list[str]:
    """Returns the documents that a person changed and nobody committed yet."""
    store = view.store
    present = [name for phase in view.phases for name in store.files_of(phase)]
    texts = [name for phase in view.phases for name in store.known_texts(phase)]
    return store.edited_by_hand(list(dict.fromkeys([layout.MANIFEST_FILE, layout.WORKFLOW_FILE, *present, *texts])))


def _unfinished(writer: SessionWriter) -> list[Phase]:
    """Returns the phases whose checkpoint we wrote, with a recorded status that history does not know."""
    found = []
    for phase in writer.workflow.phases_in(writer.mode):
        try:
            checkpoint = writer.store.checkpoint(phase)
        except InvalidInput:
            continue  # a person's edit that cannot be understood: reported when it is read, never touched
        if checkpoint is None or not progress.status_of(checkpoint.value).is_recorded:
            continue
        if _attempt(checkpoint) != _attempt(_committed_checkpoint(writer.store, phase)):
            found.append(phase)
    return [phase for phase in found if not _is_a_persons(writer.store, phase)]


def _finish_documents(writer: SessionWriter) -> list[str]:
    """Commits decisions that we wrote, and what we wrote for phases that are recorded, where the commit is missing."""
    phases = writer.workflow.phases_in(writer.mode)
    statuses = {phase.number: _status(writer, phase) for phase in phases}
    readable = [phase for phase in phases if statuses[phase.number] is not None]
    finished = [told for phase in readable for told in _finish_decisions(writer, phase)]
    recorded = [phase for phase in readable if (status := statuses[phase.number]) and status.is_recorded]
    names = [name for phase in recorded for name in writer.store.files_of(phase)]
    if not {PhaseStatus.IN_PROGRESS, None} & set(statuses.values()):
        names.append(layout.MANIFEST_FILE)
    if ours := writer.store.left_behind(names):
        note = messages.message("What an interrupted save wrote", "\n".join(ours), {"Recovered": "yes"})
        writer.store.commit(tuple(dict.fromkeys([*ours, layout.MANIFEST_FILE])), CommitNote(message=note))
        finished += [f"{name} was written but not committed" for name in ours]
    return finished


def _finish_decisions(writer: SessionWriter, phase: Phase) -> list[str]:
    """Finishes what was decided about a phase, be it recorded or not: nothing counts that is not in history."""
    feedback = name_in(phase, layout.FEEDBACK_FILE)
    document = writer.store.feedback(phase) if writer.store.left_behind([feedback]) else None
    if document is None or not document.value["review"]["reviewed"]:
        return _finish_reviews(writer, phase)
    review_desk.finish(writer, phase, document.value)
    return [f"{feedback} was decided but not committed", *_finish_reviews(writer, phase)]


def _finish_reviews(writer: SessionWriter, phase: Phase) -> list[str]:
    """Finishes what one of several reviewers decided, where only their own file was written."""
    folder = name_in(phase, layout.REVIEWS_FOLDER)
    own = [name for name in writer.store.files_of(phase) if name.startswith(f"{folder}/")]
    ours = writer.store.left_behind(own)
    for name in ours:
        document = writer.store.document("user_feedback", name)
        if document is not None and reviews.is_about(document.value, phase, writer.content(phase)):
            review_desk.finish(writer, phase, document.value)
    return [f"{name} was decided but not committed" for name in ours]


def _status(writer: SessionWriter, phase: Phase) -> PhaseStatus | None:
    """Returns the status of a phase, or None if its checkpoint cannot be understood: then it is left alone."""
    try:
        checkpoint = writer.store.checkpoint(phase)
    except InvalidInput:
        return None
    return progress.status_of(checkpoint.value if checkpoint else None)


def _is_a_persons(store: SessionStore, phase: Phase) -> bool:
    """Tells whether a person wrote this checkpoint: nobody noted it, and it is not in the form that we write.

    The note alone does not tell, because a power cut may take it.
    """
    name = name_in(phase, layout.CHECKPOINT_FILE)
    document = store.checkpoint(phase)
    if document is None or not store.edited_by_hand([name]):
        return False
    return checked(document, name).encode() != store.bytes_of(name)


def _finish(writer: SessionWriter, phase: Phase) -> str:
    checkpoint = writer.store.checkpoint(phase)
    if checkpoint is None:
        raise NotFound(f"the checkpoint of phase {phase.number} vanished.")
    writer.put_checkpoint(phase, checkpoint, checkpoint.value, recovered=True)
    return f"phase {phase.number} {phase.name} was {checkpoint.value['metadata']['status']} but not committed"


def _attempt(checkpoint: Document | None) -> tuple[str, int] | None:
    if checkpoint is None:
        return None
    metadata = checkpoint.value["metadata"]
    return metadata["status"], metadata["retry_count"]


def _committed_checkpoint(store: SessionStore, phase: Phase) -> Document | None:
    data = store.history.read(name_in(phase, layout.CHECKPOINT_FILE))
    try:
        return None if data is None else read("checkpoint", data.decode())
    except (HaythamError, UnicodeDecodeError):
        return None


def _manifest_is_stale(writer: SessionWriter) -> bool:
    """Tells whether the manifest has to be derived again; not from checkpoints that cannot be understood."""
    try:
        return writer.manifest_is_stale()
    except InvalidInput:
        return False
