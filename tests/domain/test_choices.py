import pytest

from haytham.domain.choices import Action, PhaseStatus, ProjectStatus, check_transition, choose
from haytham.domain.errors import InvalidInput
from tests.evidence import label


@pytest.mark.parametrize("status", PhaseStatus)
def test_member_is_chosen_by_its_word(status: PhaseStatus) -> None:
    """A word of the list, or the member itself, is taken."""
    assert status is choose(PhaseStatus, status.value, "status")
    assert status is choose(PhaseStatus, status, "status")


def test_slip_is_answered_with_what_was_meant() -> None:
    """A wrong word gets the likely one and all allowed ones."""
    with pytest.raises(InvalidInput) as caught:
        choose(PhaseStatus, "complete", "status")
    assert caught.value.message == "status is 'complete'."
    assert caught.value.hint.startswith('did you mean "completed"? Allowed: pending, in_progress, completed, failed')


@pytest.mark.parametrize(
    "value", ["", "done", "Completed", None, 1, True, b"completed", [], {}, "\ud800", "x" * 10**6], ids=label
)
def test_what_is_no_member_is_refused(value: object) -> None:
    """Anything that is not exactly a word of the list is refused with the list."""
    with pytest.raises(InvalidInput) as caught:
        choose(PhaseStatus, value, "status")
    assert "Allowed: pending" in caught.value.hint


def test_done_and_recorded() -> None:
    """A workflow goes on behind completed and skipped phases; what is an event is recorded."""
    assert [each.value for each in PhaseStatus if each.is_done] == ["completed", "skipped"]
    assert [each.value for each in PhaseStatus if not each.is_recorded] == ["pending", "in_progress"]


def test_the_past_cannot_be_denied() -> None:
    """A phase that has begun cannot become pending again; everything else may be reported."""
    for before in PhaseStatus:
        for after in PhaseStatus:
            if after is PhaseStatus.PENDING and before is not PhaseStatus.PENDING:
                with pytest.raises(InvalidInput, match="cannot become pending again"):
                    check_transition(before, after, 1)
            else:
                check_transition(before, after, 1)


def test_lists_are_those_of_the_reference() -> None:
    """The words are the documented ones."""
    assert {"approved", "retry_with_changes", "skip_phase", "max_retries_exceeded"} == {each.value for each in Action}
    assert {"active", "archived"} == {each.value for each in ProjectStatus}
