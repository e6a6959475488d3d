"""Lists what is wrong with the documents of a phase, by the reader that loads them."""

from collections.abc import Callable

from haytham.documents.document import Document
from haytham.domain.errors import HaythamError, InvalidDocument, NotFound
from haytham.domain.workflow import Phase
from haytham.storage.session_store import SessionStore


def problems(store: SessionStore, phase: Phase) -> list[str]:
    """Returns every problem of a phase's documents, each with its place; an empty list means that all is well."""
    if not store.path(phase.folder).is_dir():
        return [f"phase {phase.number} has no folder {phase.folder}."]
    readers: list[Callable[[], object]] = [
        lambda: _checkpoint(store, phase),
        lambda: store.outputs(phase),
        lambda: store.feedback(phase),
    ]
    found = [problem for reader in readers for problem in _problems_of(reader)]
    return found or _disagreements(store, phase)


def _problems_of(reader: Callable[[], object]) -> list[str]:
    try:
        reader()
    except InvalidDocument as error:
        return [str(problem) for problem in error.problems]
    except HaythamError as error:
        return [str(error)]
    return []


def _checkpoint(store: SessionStore, phase: Phase) -> Document:
    found = store.checkpoint(phase)
    if found is None:
        raise NotFound(f"phase {phase.number} {phase.name} has no checkpoint yet.")
    return found


def _disagreements(store: SessionStore, phase: Phase) -> list[str]:
    checkpoint = _checkpoint(store, phase)
    return _foreign(checkpoint, phase) + _missing_outputs(store, phase, checkpoint)


def _foreign(checkpoint: Document, phase: Phase) -> list[str]:
    number = checkpoint.value["metadata"]["phase_number"]
    return [] if number == phase.number else [f"the checkpoint in {phase.folder} is of phase {number}."]


def _missing_outputs(store: SessionStore, phase: Phase, checkpoint: Document) -> list[str]:
    there = set(store.output_names(phase))
    return [
        f"agent {agent} has no output {file}, which the checkpoint names."
        for agent, file in checkpoint.value["outputs"].items()
        if file not in there
    ]
