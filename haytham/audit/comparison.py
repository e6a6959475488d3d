"""What changed in the outputs of a phase: between two attempts, two commits or two sessions.

When an agent ran, how long it took and how many tokens it used is different each time; such lines are left out.
"""

from collections.abc import Mapping
from typing import Any

from haytham.audit import phase_snapshot
from haytham.checkpoint import attempts
from haytham.checkpoint.session_view import SessionView
from haytham.documents.document import Document
from haytham.documents.reader import read
from haytham.documents.renderer import render
from haytham.domain import text_diff
from haytham.domain.errors import HaythamError, InvalidInput
from haytham.domain.workflow import Phase

_NOISE = {"metadata": ("executed", "duration"), "execution": ("input_tokens", "output_tokens")}


def of_phase(view: SessionView, phase: Phase, before: int | str | None, after: int | str | None) -> str:
    """Shows what changed in a phase; by default between its last attempt and the one before.

    A number is an attempt, a text the id of a commit or its beginning.
    """
    known = attempts.commits(view, phase)
    newer = after if after is not None else max(known, default=0)
    if before is None and not isinstance(newer, int):
        raise InvalidInput("there is a commit to compare with, and none to compare.", hint="name both.")
    older = before if before is not None else int(newer) - 1
    sides = [attempts.outputs(view, phase, phase_snapshot.commit_of(view, phase, each)) for each in (older, newer)]
    return _diff(sides[0], sides[1], _title(older), _title(newer))


def of_sessions(one: SessionView, other: SessionView, phases: list[Phase]) -> str:
    """Shows how the committed outputs of another session differ from those of one, phase by phase."""
    shown = []
    for phase in phases:
        mine, theirs = (attempts.outputs(view, phase, view.store.history.head() or "") for view in (one, other))
        titles = (f"{view.store.folder.name}/{phase.folder}" for view in (one, other))
        shown.append(_diff(mine, theirs, *titles))
    return "".join(shown)


def _diff(old: Mapping[str, bytes], new: Mapping[str, bytes], before: str, after: str) -> str:
    return "".join(
        text_diff.unified(*_texts(old.get(name), new.get(name)), f"{before}/{name}", f"{after}/{name}")
        for name in sorted(old.keys() | new.keys())
    )


def _texts(old: bytes | None, new: bytes | None) -> tuple[str, str]:
    """Returns two versions of an output as texts, the older one with what always differs as in the newer one."""
    one, other = _document(old), _document(new)
    if one is None or other is None:
        return (old or b"").decode(errors="replace"), (new or b"").decode(errors="replace")
    return render(one.replaced(_with_noise_of(other.value, one.value))), render(other)


def _document(data: bytes | None) -> Document | None:
    try:
        return read("agent_output", data.decode()) if data is not None else None
    except (HaythamError, UnicodeDecodeError):
        return None


def _with_noise_of(source: Mapping[str, Any], value: Mapping[str, Any]) -> dict[str, Any]:
    parts = {
        part: {**value[part], **{key: source[part][key] for key in keys if key in source[part]}}
        for part, keys in _NOISE.items()
    }
    return {**value, **parts}


def _title(at: int | str) -> str:
    return f"attempt {at}" if isinstance(at, int) else f"commit {at[:7]}"
