"""The attempts at a phase, as history has them."""

from collections.abc import Mapping

from haytham.checkpoint.session_view import SessionView
from haytham.domain import content as fingerprint
from haytham.domain.workflow import Phase
from haytham.storage.session_store import name_in


def commits(view: SessionView, phase: Phase) -> dict[int, str]:
    """Returns the newest commit of each attempt at a phase, by the attempt's number."""
    found: dict[int, str] = {}
    for entry in view.store.history.entries():
        attempt = entry.trailers.get("Haytham-Attempt", "")
        if entry.trailers.get("Haytham-Phase") == str(phase.number) and attempt.isdigit():
            found.setdefault(int(attempt), entry.id)
    return dict(sorted(found.items()))


def files_with(view: SessionView, phase: Phase, content: str) -> Mapping[str, str] | None:
    """Returns the hashes of a phase's outputs, by name, when they had a content; None if history knows of no such."""
    for entry in view.store.history.entries():
        told = entry.trailers.get("Haytham-Phase"), entry.trailers.get("Haytham-Content")
        if told == (str(phase.number), content):
            found = fingerprint.of(outputs(view, phase, entry.id))
            if found.hash == content:
                return found.files
    return None


def outputs(view: SessionView, phase: Phase, commit: str) -> dict[str, bytes]:
    """Returns the outputs of a phase as a commit has them, by name."""
    names = view.store.history.names(phase.folder, commit)
    found = {name: view.store.history.read(name_in(phase, name), commit) or b"" for name in names}
    return {name: data for name, data in found.items() if view.store.is_output(phase, name, data)}
