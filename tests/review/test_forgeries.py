"""Nothing that is written where words are asked for can decide: 200 forgeries, by every way in."""

from contextlib import suppress

import pytest

from haytham import InvalidDocument, InvalidInput
from tests.review.desk import AT, Desk, below
from tests.review.forgeries import DRESSES, TEXTS, form

EXPECTED_FORGERIES = 200


def _forgeries(desk: Desk, dress: str) -> list[str]:
    content = desk.manager.load_feedback(*AT, 1)["content"]
    return [DRESSES[dress](text(content)) for text in TEXTS.values()]


def _decides_nothing(desk: Desk) -> bool:
    """Tells whether the form is undecided, or refused with the line of its fault."""
    try:
        return desk.approved() == [] and desk.manager.review(*AT, 1)["decision"] is None
    except InvalidDocument as error:
        return error.location.line is not None


def test_count() -> None:
    """There are two hundred of them, all different."""
    made = {dress(text("sha256:" + 64 * "a")) for dress in DRESSES.values() for text in TEXTS.values()}
    assert len(made) == EXPECTED_FORGERIES


@pytest.mark.parametrize("dress", DRESSES)
def test_through_the_api(desk: Desk, dress: str) -> None:
    """In comments and requested changes they come back as they were, and stay words: also in the form after next."""
    desk.run(1)
    for number, forgery in enumerate(_forgeries(desk, dress)):
        desk.manager.save_user_feedback(*AT, 1, reviewed=False, approved=False, comments=forgery)
        assert desk.manager.load_feedback(*AT, 1)["comments"] == forgery
        assert (desk.approved(), desk.manager.review(*AT, 1)["decision"]) == ([], None)
        desk.manager.save_user_feedback(
            *AT,
            1,
            reviewed=True,
            approved=False,
            action="skip_phase",
            comments=forgery,
            requested_changes=[forgery] * 2,
        )
        feedback = desk.manager.load_feedback(*AT, 1)
        assert (forgery, [forgery] * 2, "skip_phase") == (
            feedback["comments"],
            feedback["requested_changes"],
            feedback["action"],
        )
        assert desk.approved() == []
        desk.run(1, f"attempt {number}")  # what was said is the previous review now
        assert (desk.approved(), desk.manager.review(*AT, 1)["decision"]) == ([], None)


@pytest.mark.parametrize("dress", DRESSES)
def test_in_what_agents_write(desk: Desk, dress: str) -> None:
    """In outputs, errors, stack traces and the names of tools they are data."""
    desk.run(1)
    for forgery in _forgeries(desk, dress):
        desk.manager.save_agent_output(
            *AT, 1, "writer", forgery, "failed", error_type="E", error_message=forgery, stack_trace=forgery
        )
        desk.manager.save_checkpoint(*AT, 1, "failed", [], errors=[forgery])
        assert desk.approved() == []
        desk.complete(1)
        assert desk.manager.get_phase_outputs(*AT, [1]) == {1: {"writer": forgery}}
        assert (desk.approved(), desk.manager.review(*AT, 1)["decision"]) == ([], None)


@pytest.mark.parametrize("dress", DRESSES)
def test_pasted_into_the_form(desk: Desk, dress: str) -> None:
    """Pasted by hand where words are asked for, they are words or a fault with its line; the paste is left alone."""
    desk.run(1)
    empty = desk.form(1).read_text(encoding="utf-8")
    for forgery in _forgeries(desk, dress):
        for heading in ("## User Comments", "## Requested Changes"):
            theirs = below(empty, heading, forgery).encode()
            desk.form(1).write_bytes(theirs)
            assert _decides_nothing(desk)
            assert theirs == desk.form(1).read_bytes()


@pytest.mark.parametrize("dress", DRESSES)
def test_in_a_section_or_file_of_its_own(desk: Desk, dress: str) -> None:
    """In a section that somebody added, or in another file of the folder, they do not approve either."""
    desk.run(1)
    empty = desk.form(1).read_text(encoding="utf-8")
    for forgery in _forgeries(desk, dress):
        desk.form(1).write_bytes(f"{empty}\n## Notes\n\n{forgery}\n".encode())
        assert _decides_nothing(desk)
    desk.form(1).write_text(empty, encoding="utf-8")
    for name in ("user_feedback.md.bak", "user_feedback", "User_Feedback.MD", "user_feedback.md~", ".user_feedback.md"):
        desk.form(1).with_name(name).write_text(form(desk.manager.load_feedback(*AT, 1)["content"]), encoding="utf-8")
    assert desk.approved() == []
    assert desk.manager.load_session(*AT)["phase_statuses"][1] == "completed"


@pytest.mark.parametrize("dress", DRESSES)
def test_as_a_name(desk: Desk, dress: str) -> None:
    """As a reviewer's or an agent's name they are refused, or are one line that decides nothing."""
    desk.run(1)
    for forgery in _forgeries(desk, dress):
        with suppress(InvalidInput):
            desk.decide(1, "skip_phase", reviewer=forgery)
        with suppress(InvalidInput):
            desk.decide(1, "skip_phase", reviewer="Eve", role=forgery)
        with suppress(InvalidInput):
            desk.manager.save_agent_output(*AT, 1, forgery, "text")
        with suppress(InvalidInput):
            desk.manager.save_agent_output(*AT, 1, "writer", "text", model=forgery, tools_used=[forgery])
        assert desk.approved() == []
