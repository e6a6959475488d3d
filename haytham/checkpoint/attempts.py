"""The attempts at a phase, as history has them, and what changed between two."""

from collections.abc import Mapping

from haytham.checkpoint.session_view import SessionView
from haytham.domain import content as fingerprint
from haytham.domain import text_diff
from haytham.domain.errors import InvalidInput
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
            found = fingerprint.of(_outputs(view, phase, entry.id))
            if found.hash == content:
                return found.files
    return None


def diff(view: SessionView, phase: Phase, before: int | None, after: int | None) -> str:
    """Shows what changed in the outputs between two attempts; by default between the last two."""
    known = commits(view, phase)
    newest = after if after is not None else max(known, default=0)
    older = before if before is not None else newest - 1
    for number in (older, newest):
        if number not in known:
            there = ", ".join(str(each) for each in known) or "none yet"
            raise InvalidInput(f"phase {phase.number} has no attempt {number}.", hint=f"attempts: {there}.")
    old, new = _texts(view, phase, known[older]), _texts(view, phase, known[newest])
    return "".join(
        text_diff.unified(old.get(name, ""), new.get(name, ""), f"attempt {older}/{name}", f"attempt {newest}/{name}")
        for name in sorted(old.keys() | new.keys())
    )


def _texts(view: SessionView, phase: Phase, commit: str) -> dict[str, str]:
    return {name: each.decode(errors="replace") for name, each in _outputs(view, phase, commit).items()}


def _outputs(view: SessionView, phase: Phase, commit: str) -> dict[str, bytes]:
    names = view.store.history.names(phase.folder, commit)
    found = {name: view.store.history.read(name_in(phase, name), commit) or b"" for name in names}
    return {name: data for name, data in found.items() if view.store.is_output(phase, name, data)}
