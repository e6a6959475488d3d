"""Puts into history what is not there yet, before an operation replaces it."""

from haytham.checkpoint.session_writer import SessionWriter
from haytham.domain import messages
from haytham.operations import earlier_state
from haytham.storage import layout
from haytham.storage.history import blob_id
from haytham.storage.store import CommitNote


def uncommitted(writer: SessionWriter) -> tuple[list[str], list[str]]:
    """Returns the documents that history does not have as they are: those that people changed, and our own."""
    store = writer.store
    for phase in writer.phases:
        store.settled_journals(phase)
    names = [*earlier_state.documents(writer), layout.MANIFEST_FILE]
    committed = store.history.blob_ids(names)
    found = {name: store.bytes_of(name) for name in names}
    differing = [n for n, data in found.items() if committed.get(n) != (None if data is None else blob_id(data))]
    edited = store.edited_by_hand([name for name in differing if f"/{layout.JOURNAL_FOLDER}/" not in name])
    return edited, [name for name in differing if name not in edited]


def keep(writer: SessionWriter, edited: list[str], unfinished: list[str]) -> None:
    """Commits what people changed in their name, and unfinished work in Haytham's."""
    writer.commit_edits(edited)
    if unfinished:
        note = messages.message("Unfinished work, as it was found", "\n".join(unfinished))
        writer.store.commit(tuple(unfinished), CommitNote(message=note))
