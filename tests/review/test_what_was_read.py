"""A decision may name what was read: if that is not what is there, nothing is decided."""

import pytest

from haytham import Conflict, InvalidInput
from tests.evidence import snapshot
from tests.review.desk import AT, Desk


@pytest.mark.parametrize("action", ["approved", "retry_with_changes", "skip_phase"])
def test_decision_about_what_was_read(desk: Desk, action: str) -> None:
    """A decision that names the present content counts."""
    desk.run(1)
    read = desk.manager.review(*AT, 1)["content"]
    desk.decide(1, action, content=read)
    assert desk.manager.review(*AT, 1)["decision"] == action


@pytest.mark.parametrize("action", ["approved", "retry_with_changes", "skip_phase"])
def test_decision_about_what_is_no_longer_there_is_refused(desk: Desk, action: str) -> None:
    """Whoever read another content decides nothing, is told what changed, and not a byte is written."""
    desk.write(1, "first")
    desk.manager.save_agent_output(*AT, 1, "gone", "goes")
    desk.complete(1)
    read = desk.manager.review(*AT, 1)["content"]
    desk.write(1, "second")
    desk.manager.save_agent_output(*AT, 1, "added", "comes")
    desk.output(1).with_name("gone.md").unlink()
    desk.manager.load_session(*AT)
    before = snapshot(desk.folder)
    with pytest.raises(Conflict) as caught:
        desk.decide(1, action, content=read)
    assert caught.value.message == (
        "phase 1 Draft changed since it was read: writer.md changed, gone.md is gone, added.md is new."
    )
    assert str(desk.output(1).parent) == caught.value.location.path
    assert before == snapshot(desk.folder)
    desk.decide(1, action, content=desk.manager.review(*AT, 1)["content"])


def test_edit_by_hand_of_what_was_read(desk: Desk) -> None:
    """A change that nobody has taken in yet counts as one too."""
    desk.run(1)
    read = desk.manager.review(*AT, 1)["content"]
    desk.output(1).write_bytes(desk.output(1).read_bytes() + b"more\n")
    with pytest.raises(Conflict, match=r"changed since it was read: writer\.md changed"):
        desk.decide(1, content=read)
    assert desk.approved() == []


def test_content_that_was_never_committed(desk: Desk) -> None:
    """What history never had cannot be compared, but is refused all the same."""
    desk.run(1)
    with pytest.raises(Conflict, match=r"phase 1 Draft changed since it was read\."):
        desk.decide(1, content=f"sha256:{'0' * 64}")


@pytest.mark.parametrize("content", ["", "abc", "sha256:12", " "])
def test_content_that_is_no_hash(desk: Desk, content: str) -> None:
    """A prefix or a slip is no content."""
    desk.run(1)
    with pytest.raises(InvalidInput):
        desk.decide(1, content=content)
