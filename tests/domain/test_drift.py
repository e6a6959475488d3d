from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from haytham.domain import drift
from haytham.domain.drift import (
    CycleCount,
    Detector,
    ErrorRate,
    History,
    Reason,
    Remedy,
    RepeatedActions,
    SessionAge,
    StalledActions,
)
from haytham.domain.drift_monitor import DriftMonitor
from haytham.domain.errors import InvalidInput

START = datetime(2026, 3, 1, tzinfo=UTC)


def _at(seconds: float) -> datetime:
    return START + timedelta(seconds=seconds)


def _monitor(*detectors: Detector, **more: Any) -> DriftMonitor:
    return DriftMonitor(START, detectors, **more)


def _sentences(monitor: DriftMonitor, seconds: float = 0) -> list[str]:
    return [reason.sentence for reason in monitor.report(_at(seconds)).reasons]


def _feed(monitor: DriftMonitor, actions: Sequence[str]) -> None:
    for action in actions:
        monitor.observe(action, {"path": "a.md"}, time=START)


def test_without_observations_all_is_well() -> None:
    """An agent that has done nothing does not drift."""
    report = DriftMonitor(START).report(START)
    assert (report.is_drifting, report.reasons, report.cycles, str(report)) == (False, (), 0, "")


def test_default_detectors() -> None:
    """Five detectors look by default."""
    assert [type(each) for each in drift.DEFAULT] == [
        CycleCount,
        SessionAge,
        ErrorRate,
        RepeatedActions,
        StalledActions,
    ]


def test_cycle_count() -> None:
    """300 cycles are well; the next is one too many, and a fresh context helps."""
    monitor = DriftMonitor(START)
    for number in range(300):
        monitor.observe("read", number, time=START)
    assert not monitor.report(START).is_drifting
    monitor.observe("read", 300, time=START)
    expected = Reason(
        detector="cycle_count",
        figure=301,
        threshold=300,
        sentence="301 cycles since the start, more than 300.",
        remedy=Remedy.REFRESH,
    )
    assert (expected,) == monitor.report(START).reasons == monitor.report(START).needing(Remedy.REFRESH)
    assert monitor.report(START).needing(Remedy.HALT) == ()


def test_session_age() -> None:
    """An agent at work for more than two hours needs a fresh context; a clock that was set back does not."""
    monitor = DriftMonitor(START)
    assert _sentences(monitor, 7200) == []
    assert _sentences(monitor, 7201) == ["7201 seconds since the start, more than 7200."]
    assert _sentences(monitor, -86_400) == []


def test_error_rate() -> None:
    """Half of a window may fail; one more is too many. Old failures leave the window."""
    monitor = _monitor(ErrorRate(window=4, above=0.5))
    for ok in (False, False, False):
        monitor.observe("call", time=START, ok=ok)
    assert _sentences(monitor) == []  # three cycles are no window
    monitor.observe("call", time=START, ok=True)
    (reason,) = monitor.report(START).reasons
    assert (reason.figure, reason.threshold, reason.remedy) == (0.75, 0.5, Remedy.HALT)
    assert reason.sentence == "3 of the last 4 cycles failed, more than 50%."
    monitor.observe("call", time=START, ok=True)
    assert _sentences(monitor) == []


def test_same_action_again_and_again() -> None:
    """Five times the same call in a row is a loop; four times is none."""
    monitor = _monitor(RepeatedActions())
    _feed(monitor, ["start", *["read"] * 4])
    assert _sentences(monitor) == []
    _feed(monitor, ["read"])
    assert _sentences(monitor) == ["read with the same arguments 5 times in a row, 5 are a loop."]
    _feed(monitor, ["read", "read"])
    assert [reason.figure for reason in monitor.report(START).reasons] == [7]
    _feed(monitor, ["write"])
    assert _sentences(monitor) == []


@pytest.mark.parametrize(
    ("turn", "names"), [(["read", "write"], "read, write"), (["read", "write", "test"], "read, write, test")]
)
def test_actions_that_take_turns(turn: list[str], names: str) -> None:
    """Two or three calls that take turns are a loop after five rounds, named in their order."""
    monitor = _monitor(RepeatedActions())
    _feed(monitor, (turn * 5)[:-1])
    assert _sentences(monitor) == []
    _feed(monitor, turn[-1:])
    assert _sentences(monitor) == [f"{names} with the same arguments 5 times in a row, 5 are a loop."]


def test_longer_turns_are_no_loop_unless_asked_for() -> None:
    """Four calls in turn pass, unless loops of that length are looked for."""
    for longest, found in ((3, []), (4, ["a, b, c, d with the same arguments 5 times in a row, 5 are a loop."])):
        monitor = _monitor(RepeatedActions(longest=longest))
        _feed(monitor, ["a", "b", "c", "d"] * 5)
        assert found == _sentences(monitor)


def test_arguments_tell_calls_apart() -> None:
    """The same action with other arguments is another call; the order of the keys does not matter."""
    monitor = _monitor(RepeatedActions(times=3))
    for page in (1, 1.0, True):
        monitor.observe("read", {"page": page}, time=START)
    assert _sentences(monitor) == []
    for arguments in ({"a": 1, "b": 2}, {"b": 2, "a": 1}, {"a": 1, "b": 2}):
        monitor.observe("read", arguments, time=START)
    assert _sentences(monitor) == ["read with the same arguments 3 times in a row, 3 are a loop."]


def test_progress_breaks_a_loop() -> None:
    """Turning a page five times is no loop while the work moves."""
    monitor = _monitor(RepeatedActions())
    for page in range(10):
        monitor.observe("next_page", time=START, progress=page)
    assert _sentences(monitor) == []
    for _ in range(5):
        monitor.observe("next_page", time=START, progress=9)
    assert _sentences(monitor) == ["next_page with the same arguments 5 times in a row, 5 are a loop."]


def test_stalled_cycles() -> None:
    """So many cycles without progress are too many; the next progress makes up for all."""
    monitor = _monitor(StalledActions(cycles=3, seconds=None))
    monitor.observe("work", time=START, progress=10)
    for _ in range(3):
        monitor.observe("work", time=START, progress=10)
    assert _sentences(monitor) == []
    monitor.observe("work", time=START, progress=10)
    assert _sentences(monitor) == ["4 cycles without progress, more than 3."]
    monitor.observe("work", time=START, progress=11)
    assert _sentences(monitor) == []


def test_stalled_time() -> None:
    """So many seconds without progress are too many, also while nothing is observed at all."""
    monitor = _monitor(StalledActions(cycles=None, seconds=60))
    monitor.observe("work", time=_at(0), progress=True)
    monitor.observe("work", time=_at(50), progress=False)
    assert _sentences(monitor, 60) == []
    assert _sentences(monitor, 61) == ["61 seconds without progress, more than 60."]
    monitor.observe("work", time=_at(61), progress=True)
    assert _sentences(monitor, 100) == []


def test_back_and_forth_is_no_progress() -> None:
    """Figures that come and go are a stall; the percentages of the next task are not."""
    monitor = _monitor(StalledActions(cycles=3))
    for figure in (39, 40, 39, 40, 39, 40):
        monitor.observe("work", time=START, progress=figure)
    assert _sentences(monitor) == ["4 cycles without progress, more than 3."]
    for _ in range(3):
        for figure in range(0, 101, 10):
            monitor.observe("work", figure, time=START, progress=figure)
            assert _sentences(monitor) == []


def test_unknown_progress_is_no_stall() -> None:
    """Who never tells about progress is not said to make none."""
    monitor = _monitor(StalledActions(cycles=3, seconds=60))
    for number in range(50):
        monitor.observe("work", number, time=START)
    assert _sentences(monitor, 10_000) == []


def test_no_progress_from_the_start() -> None:
    """Without any progress at all, the first cycle that could have made some counts."""
    monitor = _monitor(StalledActions(cycles=2, seconds=60))
    for seconds in (100, 110, 120):
        monitor.observe("work", time=_at(seconds), progress=False)
    assert _sentences(monitor, 161) == [
        "3 cycles without progress, more than 2.",
        "61 seconds without progress, more than 60.",
    ]


def _expensive(history: History) -> Iterator[Reason]:
    spent = sum(each.arguments["cost"] for each in history.recent if each.action == "model")
    if spent > 10:
        yield Reason(detector="expensive", figure=spent, threshold=10, sentence=f"${spent} spent, more than $10.")


def test_detector_of_ones_own() -> None:
    """Any callable over the history is a detector, beside the others."""
    monitor = _monitor(*drift.DEFAULT, _expensive)
    monitor.observe("model", {"cost": 6}, time=START)
    assert _sentences(monitor) == []
    monitor.observe("model", {"cost": 7}, time=START)
    assert _sentences(monitor, 7201) == [
        "7201 seconds since the start, more than 7200.",
        "$13 spent, more than $10.",
    ]
    assert str(monitor.report(START)) == "$13 spent, more than $10."


def test_restart() -> None:
    """An agent that goes on from a fresh state starts from nothing."""
    monitor = _monitor(*drift.DEFAULT)
    for _ in range(301):
        monitor.observe("read", time=START, ok=False, progress=False)
    found = {reason.detector for reason in monitor.report(_at(7201)).reasons}
    expected = {"cycle_count", "session_age", "error_rate", "repeated_actions", "stalled_cycles", "stalled_time"}
    assert expected == found
    monitor.restart(_at(7201))
    assert monitor.report(_at(7201)).reasons == ()


def test_memory_is_bounded() -> None:
    """Detectors see the newest observations; the count goes back to the start."""
    monitor = _monitor(memory=10)
    for number in range(25):
        monitor.observe("work", number, time=START)
    history = monitor.history(START)
    assert ([each.arguments for each in history.recent], history.cycles) == ([*range(15, 25)], 25)


def test_what_was_observed_is_a_copy() -> None:
    """Arguments that the caller changes later do not change the past."""
    arguments = {"page": 1}
    seen = _monitor().observe("read", arguments, time=START)
    arguments["page"] = 2
    assert seen.arguments == {"page": 1}


@pytest.mark.parametrize(
    ("observed", "message"),
    [
        ({"action": ""}, "action is ''"),
        ({"action": 5}, "action is 5"),
        ({"action": "a", "arguments": {"x": object()}}, "arguments.x is a object"),
        ({"action": "a", "progress": float("nan")}, "progress is nan"),
        ({"action": "a", "progress": "far"}, "progress is 'far'"),
    ],
)
def test_bad_observations_are_refused(observed: dict[str, Any], message: str) -> None:
    """What cannot be compared is refused, and leaves no trace."""
    monitor = _monitor()
    with pytest.raises(InvalidInput, match=message):
        monitor.observe(**observed, time=START)
    assert monitor.report(START).cycles == 0


@given(st.lists(st.sampled_from("abc"), max_size=40), st.integers(1, 4), st.integers(1, 6))
def test_loops_are_those_of_the_definition(actions: list[str], longest: int, times: int) -> None:
    """A loop is reported exactly if the calls end with the same short turn, so many times."""
    monitor = _monitor(RepeatedActions(times=times, longest=longest))
    _feed(monitor, actions)
    text = "".join(actions)
    turns = (text[-length:] for length in range(1, longest + 1) if len(text) >= length)
    assert any(text.endswith(turn * times) for turn in turns) == bool(_sentences(monitor))
