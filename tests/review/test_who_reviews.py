"""Who reviews, in which role, and what of it counts: only what is in history."""

from pathlib import Path

import pytest

from haytham import InvalidDocument
from tests.evidence import git
from tests.review.desk import AT, Desk, with_field

ADA, BOB, EVE = (f"{name} <{name.lower()}@example.org>" for name in ("Ada", "Bob", "Eve"))


@pytest.fixture
def second(desk: Desk) -> Desk:
    """The desk with its second phase completed: two approvals are asked for, one of them legal."""
    desk.run(1)
    desk.approve_all(1)
    desk.run(2)
    return desk


def _kept(desk: Desk, name: str) -> Path:
    return next(path for path in (desk.folder / "phase_2_check/reviews").glob("*.md") if path.name.startswith(name))


def _changed(path: Path, label: str, value: str) -> str:
    return with_field(path.read_text(encoding="utf-8"), label, value)


# Roles


def test_role_that_the_phase_does_not_ask_for_is_told(second: Desk) -> None:
    """A slip in the form's role is a problem with its line and what was probably meant; nothing is decided."""
    theirs = second.edit(2, "approved", reviewer=ADA, role="leagl")
    with pytest.raises(InvalidDocument) as caught:
        second.manager.review(*AT, 2)
    line = theirs.decode().splitlines().index("- Role: leagl") + 1
    assert (caught.value.message, caught.value.location.line, caught.value.location.field, caught.value.hint) == (
        "Role is 'leagl', which this phase does not ask for.",
        line,
        "Role",
        'did you mean "legal"? Allowed: legal.',
    )
    assert not second.manager.validate_checkpoint(*AT, 2)[0]
    assert theirs == second.form(2).read_bytes()


def test_role_in_any_case(second: Desk) -> None:
    """People may write a role their own way; it is recorded as the workflow has it."""
    second.edit(2, "approved", reviewer=ADA, role="LEGAL")
    second.decide(2, reviewer=BOB)
    assert second.approved() == [1, 2]
    assert {"legal", None} == {each["role"] for each in second.manager.review(*AT, 2)["decisions"]}


# Persons


@pytest.mark.parametrize(
    ("first", "other"),
    [
        ("Ada <ada@example.org>", "ada <ADA@example.org>"),
        ("Ada <ada@example.org>", "Countess <ada@example.org>"),
        ("Ada <ada@example.org>", "ada"),
        ("Zoé", "Zoe\u0301"),
    ],
)
def test_one_person(second: Desk, first: str, other: str) -> None:
    """By the address if both have one, else by the name, in any case and Unicode form: one person, one approval."""
    second.decide(2, reviewer=first, role="legal")
    second.decide(2, reviewer=other, role="legal")
    assert second.approved() == [1]
    assert len(second.manager.review(*AT, 2)["decisions"]) == 1


def test_two_persons_of_one_name(second: Desk) -> None:
    """The same name with two addresses is two persons."""
    second.decide(2, reviewer="Ada <ada@example.org>", role="legal")
    second.decide(2, reviewer="Ada <ada@example.net>")
    assert second.approved() == [1, 2]


# What is not in history does not count


def test_copied_decision_does_not_count(second: Desk) -> None:
    """A file that somebody puts among the decisions is theirs: it is committed in their name, and decides nothing."""
    second.decide(2, reviewer=ADA, role="legal")
    copy = _kept(second, "ada").with_name("bob.md")
    copy.write_text(_changed(_kept(second, "ada"), "Reviewer", BOB), encoding="utf-8")
    assert second.approved() == [1]
    second.manager.load_session(*AT)
    assert (second.approved(), git(second.folder, "status", "--short")) == ([1], "")
    assert git(second.folder, "log", "-1", "--format=%an", "--", str(copy)) == "Rea Viewer"


def test_changed_decision_counts_once_it_is_in_history(second: Desk) -> None:
    """A reviewer who edits their own file decides anew: committed in their name, and only then does it count."""
    second.decide(2, reviewer=EVE, action="skip_phase")
    second.decide(2, reviewer=ADA, role="legal")
    kept = _kept(second, "eve")
    kept.write_text(_changed(kept, "Action", "approved"), encoding="utf-8")
    assert second.approved() == [1]
    second.manager.load_session(*AT)
    assert (second.approved(), git(second.folder, "status", "--short")) == ([1, 2], "")
    assert (second.history()[0].author.name, second.history()[0].trailers["Haytham-Decision"]) == ("Eve", "approved")


def test_rejection_in_the_file_sends_back(second: Desk) -> None:
    """What follows from a decision follows wherever it was written."""
    second.decide(2, reviewer=ADA, role="legal")
    kept = _kept(second, "ada")
    kept.write_text(_changed(kept, "Approved", "false"), encoding="utf-8")
    kept.write_text(_changed(kept, "Action", "retry_with_changes"), encoding="utf-8")
    assert second.status(2) == "requires_retry"


def test_deleted_decision(second: Desk) -> None:
    """Deleting a rejection has no effect before history tells who did it."""
    second.decide(2, reviewer=EVE, action="skip_phase")
    second.decide(2, reviewer=ADA, role="legal")
    second.decide(2, reviewer=BOB)
    _kept(second, "eve").unlink()
    assert second.approved() == [1]
    second.manager.load_session(*AT)
    assert (second.approved(), git(second.folder, "status", "--short")) == ([1, 2], "")
    assert second.history()[0].author.name == "Rea Viewer"


def test_broken_decision_is_told(second: Desk) -> None:
    """A decision that cannot be understood any more is neither counted nor passed over."""
    second.decide(2, reviewer=ADA, role="legal")
    kept = _kept(second, "ada")
    kept.write_text(_changed(kept, "Action", "perhaps"), encoding="utf-8")
    with pytest.raises(InvalidDocument) as caught:
        second.approved()
    assert str(kept) == caught.value.location.path
    assert not second.manager.validate_checkpoint(*AT, 2)[0]


def test_decision_that_a_crash_left_uncommitted_is_finished(desk: Desk) -> None:
    """Where only the files were written, recovery commits the decision, even of a phase that nobody has reported."""
    desk.decide(2, reviewer=ADA, role="legal")
    before = git(desk.folder, "rev-parse", "HEAD~1")
    git(desk.folder, "update-ref", "refs/heads/sessions/session-456", before)  # as if killed before the commit
    again = desk.reopened()
    again.manager.load_session(*AT)
    (decision,) = again.manager.review(*AT, 2)["decisions"]
    assert (decision["reviewer"], decision["role"]) == ("Ada", "legal")
    assert again.history()[0].author.name == "Ada"
