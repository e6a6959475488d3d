"""Which entries of a log are wanted."""

import pytest

from haytham import CheckpointManager, InvalidInput, Session
from tests.review.desk import AT, Desk


def test_a_day_is_the_whole_of_it(desk: Desk) -> None:
    """A day without a time begins and ends with itself; an instant counts to the second of a commit."""
    desk.run(1)
    log = desk.manager.log(*AT)
    day, first = log[0]["time"][:10], log[-1]["time"]
    assert desk.manager.log(*AT, since=day, until=day) == log
    assert desk.manager.log(*AT, until=first) == log[-1:]
    assert desk.manager.log(*AT, since=log[0]["time"]) == log[:1]
    assert Session(desk.manager, *AT).log(phase=1) == log[:1]


@pytest.mark.parametrize(
    "wanted", [{"phase": "1"}, {"phase": True}, {"actor": "a\nb"}, {"decision": "perhaps"}, {"since": 5}]
)
def test_what_cannot_be_asked_for(wanted: dict[str, object], manager: CheckpointManager, folder: object) -> None:
    """A bad filter is refused before anything is read."""
    with pytest.raises(InvalidInput):
        manager.log(*AT, **wanted)  # type: ignore[arg-type]
