"""Finishes what a crash left between two steps of a save, or names it; leaves people's own edits alone."""

from haytham.checkpoint.session_writer import SessionWriter
from haytham.documents.document import Document
from haytham.documents.reader import read
from haytham.domain import messages, progress
from haytham.domain.errors import HaythamError, InvalidInput, NotFound
from haytham.domain.records import RecoveryReport
from haytham.domain.workflow import Phase
from haytham.storage import layout
from haytham.storage.session_store import SessionStore, name_in


def recover(writer: SessionWriter) -> RecoveryReport:
    """Brings folder, manifest and history of a session together; call it under the lock.

    Doing it twice does nothing more: a healthy session is only looked at.
    """
    store = writer.store
    store.history.check()
    removed = [str(path) for path in store.sweep()]
    finished = [_finish(writer, phase) for phase in _unfinished(writer)]
    if not finished and _manifest_is_stale(writer):
        writer.save_manifest(messages.message("Manifest derived again", trailers={"Recovered": "yes"}))
        finished.append(f"{layout.MANIFEST_FILE} was derived again from the checkpoints")
    return RecoveryReport(finished=finished, removed=removed, edited_files=edited_files(writer))


def edited_files(writer: SessionWriter) -> list[str]:
    """Returns the documents that a person changed and nobody committed yet."""
    phases = writer.workflow.phases_in(writer.mode)
    names = [name for phase in phases for name in writer.store.files_of(phase)]
    return writer.store.edited_by_hand([layout.MANIFEST_FILE, *names])


def _unfinished(writer: SessionWriter) -> list[Phase]:
    """Returns the phases whose checkpoint reached a recorded status that history does not know."""
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
    return found


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
    try:
        present = writer.store.manifest().value
        return not progress.same(present, writer.derived_manifest())
    except NotFound:
        return True
    except InvalidInput as error:
        return _concerns_manifest(error)


def _concerns_manifest(error: InvalidInput) -> bool:
    """Tells a manifest that cannot be read, which is derived again, from a checkpoint that cannot, which is not."""
    return error.location.path.endswith(layout.MANIFEST_FILE)
