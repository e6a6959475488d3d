"""Holds the decisions that stand in forms against history: who gave them, in which commit, about what."""

from collections.abc import Mapping
from typing import Any

from haytham.audit.commit_chain import CommitChain
from haytham.audit.findings import APPROVAL, Findings, short
from haytham.domain import content, instants, progress, reviewers, reviews
from haytham.domain.choices import Action, PhaseStatus
from haytham.domain.errors import HaythamError
from haytham.domain.workflow import Phase
from haytham.storage import layout
from haytham.storage.session_store import SessionStore, name_in

Value = Mapping[str, Any]


def check(store: SessionStore, phase: Phase, chain: CommitChain, findings: Findings) -> None:
    """Checks every decision about a phase, as the newest commit has it, and the approval of what is there now."""
    if not chain.links:
        return
    for name, form in chain.forms(chain.links[-1], phase).items():
        _check_recorded(phase, name, form, chain, findings)
    _check_present(store, phase, chain, findings)


def _check_recorded(phase: Phase, name: str, form: Value, chain: CommitChain, findings: Findings) -> None:
    """Checks that a decision which bears a time is one that its reviewer's commit records."""
    action = reviews.action_of(form)
    if action is None or form["review"]["timestamp"] is None:
        return
    link = chain.decisions.get((phase.number, action.value, form["subject"]["content"]))
    said = f"{_who(form)} decided {action} about this content of phase {phase.number}"
    if link is None:
        findings.add(APPROVAL, f"the form says that {said}, and no commit records it.", name)
        return
    known = {row.files.get(name) for row in chain.links if row.entry.trailers.get("Haytham-Decision") == action.value}
    if chain.links[-1].files.get(name) not in known:
        what = f"the form is not as {_who(form)} left it in commit {short(link.entry.id)}: it was edited afterwards."
        findings.add(APPROVAL, what, name, f"see: git diff {short(link.entry.id)} -- {name}", link.entry.id)


def _check_present(store: SessionStore, phase: Phase, chain: CommitChain, findings: Findings) -> None:
    """Checks that an approved phase still has the content that was approved."""
    try:
        form, checkpoint = store.feedback(phase), store.checkpoint(phase)
    except HaythamError:
        return  # reported where documents are read
    is_completed = checkpoint is not None and progress.status_of(checkpoint.value) is PhaseStatus.COMPLETED
    if form is None or not is_completed or reviews.action_of(form.value) is not Action.APPROVED:
        return
    present, about = store.content(phase), form.value["subject"]
    if about["content"] == present.hash:
        return
    changes = content.differences({row["file"]: row["content"] for row in about["files"]}, present.files)
    link = chain.decisions.get((phase.number, Action.APPROVED.value, about["content"]))
    where = f" in commit {short(link.entry.id)} at {instants.text_of(link.entry.time)}" if link else ""
    findings.add(
        APPROVAL,
        f"phase {phase.number} {phase.name} was approved by {_who(form.value)}{where}; since then {changes}.",
        name_in(phase, layout.FEEDBACK_FILE),
        "the approval is void; load the session, and the form asks for a new review.",
        link.entry.id if link else None,
    )


def _who(form: Value) -> str:
    return reviewers.name_in(form) or "somebody"
