"""Several reviewers: how many, in which roles, one rejection holds, minds change, approvals expire."""

import pytest

from haytham import InvalidInput
from haytham.storage.history import Person
from tests.evidence import subjects
from tests.review.desk import AT, Desk

ADA, BOB, EVE = (f"{name} <{name.lower()}@example.org>" for name in ("Ada", "Bob", "Eve"))


@pytest.fixture
def second(desk: Desk) -> Desk:
    """The desk with its second phase completed: two approvals are asked for, one of them legal."""
    desk.run(1)
    desk.approve_all(1)
    desk.run(2)
    return desk


def _missing(desk: Desk) -> str | None:
    return desk.manager.review(*AT, 2)["missing"]


def test_quorum_with_a_role(second: Desk) -> None:
    """Two people approve, one of them in the role; before that the phase tells what is missing."""
    assert (second.approved(), _missing(second)) == ([1], "an approval in the role legal")
    second.decide(2, reviewer=BOB)
    assert (second.approved(), _missing(second)) == ([1], "an approval in the role legal")
    second.decide(2, reviewer=ADA, role="legal")
    assert (second.approved(), _missing(second)) == ([1, 2], None)


def test_each_decision_is_kept_on_its_own(second: Desk) -> None:
    """Every reviewer's decision has a file and a commit of its own, with their words; the form lists them."""
    second.decide(2, reviewer=ADA, role="legal", comments="Lawful.")
    assert "| Ada | legal | approved |" in second.form(2).read_text(encoding="utf-8")
    assert second.manager.load_feedback(*AT, 2)["action"] is None
    second.decide(2, reviewer=BOB, comments="Good.")
    decisions = second.manager.review(*AT, 2)["decisions"]
    assert {("Ada", "legal", "Lawful."), ("Bob", None, "Good.")} == {
        (each["reviewer"], each["role"], each["comments"]) for each in decisions
    }
    assert len(list((second.folder / "phase_2_check" / "reviews").glob("*.md"))) == 2
    assert [entry.author.name for entry in second.history()[:2]] == ["Bob", "Ada"]


def test_one_person_is_one_approval(second: Desk) -> None:
    """Approving twice, by API and in the form, with or without the name or the address, counts once."""
    second.identity = Person(name="Ada", email="ada@example.org")
    second.decide(2, reviewer="Ada", role="legal")
    second.edit(2, "approved")
    assert (second.approved(), _missing(second)) == ([1], "an approval in the role legal")
    second.decide(2)
    assert second.approved() == [1]
    second.edit(2, "approved", reviewer="Ada", role="legal")
    assert (second.approved(), _missing(second)) == ([1], "1 more approval")
    second.edit(2, "approved", reviewer="Bob")
    assert second.approved() == [1, 2]


@pytest.mark.parametrize("decision", ["retry_with_changes", "skip_phase"])
def test_one_rejection_holds(second: Desk, decision: str) -> None:
    """Two approvals do not outvote one that is not."""
    second.decide(2, reviewer=ADA, role="legal")
    second.decide(2, reviewer=EVE, action=decision)
    second.decide(2, reviewer=BOB)
    assert second.approved() == [1]


def test_rejection_outlasts_an_attempt_that_changed_nothing(second: Desk) -> None:
    """What a reviewer rejected stays rejected until it changes or they change their mind."""
    second.decide(2, reviewer=EVE, action="retry_with_changes", changes=["better"])
    second.complete(2)
    second.decide(2, reviewer=ADA, role="legal")
    second.decide(2, reviewer=BOB)
    assert (second.approved(), _missing(second)) == ([1], "another decision of Eve, who decided retry_with_changes")
    second.decide(2, reviewer=EVE)
    assert second.approved() == [1, 2]


def test_minds_change(second: Desk) -> None:
    """A reviewer's later decision replaces their earlier one, and both are in history."""
    second.decide(2, reviewer=ADA, role="legal")
    second.decide(2, reviewer=BOB)
    assert second.approved() == [1, 2]
    second.edit(2, "retry_with_changes", reviewer=BOB, changes="- On second thought.")
    assert second.status(2) == "requires_retry"
    assert second.approved() == [1]
    told = [line for line in subjects(second.folder) if line.startswith("Phase 2 Check")]
    assert ["approved", "approved", "needs changes"] == [line.removeprefix("Phase 2 Check ") for line in told[1:]]


def test_new_content_asks_everybody_again(second: Desk) -> None:
    """Approvals of others are void too when the content changes, and the form does not list them any more."""
    second.decide(2, reviewer=ADA, role="legal")
    second.write(2, "other text")
    assert "Decisions So Far" not in second.form(2).read_text(encoding="utf-8")
    second.decide(2, reviewer=BOB)
    assert (second.approved(), _missing(second)) == ([1], "an approval in the role legal")


def test_approvals_expire(second: Desk) -> None:
    """An approval older than the phase lets it hold does not count, and the form asks again."""
    second.decide(2, reviewer=ADA, role="legal")
    second.pass_days(20)
    second.decide(2, reviewer=BOB)
    assert second.approved() == [1, 2]
    second.pass_days(15)
    assert (second.approved(), _missing(second)) == ([1], "an approval in the role legal")
    second.decide(2, reviewer=ADA, role="legal")
    assert second.approved() == [1, 2]
    second.pass_days(31)
    assert (second.approved(), second.manager.review(*AT, 2)["decision"]) == ([1], None)
    assert "- Void Because: the approval has expired" in second.form(2).read_text(encoding="utf-8")
    second.edit(2, "approved", reviewer=ADA, role="legal")
    assert _missing(second) == "1 more approval"
    second.edit(2, "approved", reviewer=BOB)
    assert second.approved() == [1, 2]


def test_role_that_nobody_asked_for_is_refused(second: Desk) -> None:
    """A typo in a role is told, not recorded."""
    with pytest.raises(InvalidInput, match="does not ask for") as caught:
        second.decide(2, reviewer=ADA, role="legall")
    assert caught.value.hint == 'did you mean "legal"? Allowed: legal.'
    assert second.approved() == [1]
