"""Where the journals of a session's agents are."""

from haytham.domain import instants
from haytham.domain.workflow import Phase
from haytham.journal.journals import Journals
from haytham.storage import layout
from haytham.storage.session_store import SessionStore, name_in


def of(store: SessionStore, phase: Phase, clock: instants.Clock) -> Journals:
    """Returns the journals of the agents of a phase."""
    return Journals(
        store.path(name_in(phase, layout.JOURNAL_FOLDER)),
        store.history.git_folder / layout.JOURNAL_NOTES / phase.folder,
        store.folder.name,
        clock=clock,
        policy=store.workflow.journal,
    )
