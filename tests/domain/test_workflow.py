from typing import Any

import pytest

from haytham.documents import workflow_file
from haytham.domain.choices import ReviewPolicy
from haytham.domain.due import Due
from haytham.domain.errors import InvalidInput
from haytham.domain.journal_policy import JournalPolicy
from haytham.domain.retention import Retention
from haytham.domain.workflow import workflow_of
from tests.evidence import label

BUILT_IN = workflow_file.built_in()["idea_validation"]


def _value(**changes: Any) -> dict[str, Any]:
    phases = [{"number": n, "name": f"P{n}", "folder": f"p{n}", "agents": ["a"]} for n in (20, 10)]
    return {"name": "w", "title": "W", "modes": {"m": [20, 10]}, "phases": phases} | changes


def test_built_in_phases_are_those_of_the_reference() -> None:
    """Numbers, names and folders of the seven phases."""
    assert {phase.number: (phase.name, phase.folder) for phase in BUILT_IN.phases} == {
        1: ("Concept Expansion", "phase_1_concept"),
        2: ("Market Research", "phase_2_market_research"),
        3: ("Niche Selection", "phase_3_niche_selection"),
        4: ("Product Strategy", "phase_4_product_strategy"),
        5: ("Business Planning", "phase_5_business_planning"),
        6: ("Validation", "phase_6_validation"),
        7: ("Final Synthesis", "phase_7_synthesis"),
    }


def test_built_in_modes_are_those_of_the_reference() -> None:
    """`mvp` leaves out 4 and 5, `full` nothing."""
    assert dict(BUILT_IN.modes) == {"mvp": (1, 2, 3, 6, 7), "full": (1, 2, 3, 4, 5, 6, 7)}


def test_built_in_agents_are_those_of_the_reference() -> None:
    """Phase 6 has other agents in `full`."""
    validation = BUILT_IN.phase(6, "full")
    assert validation.agents_in("mvp") == ("unified_validator",)
    assert validation.agents_in("full") == ("claims_extraction", "three_track_validator", "risk_validator")
    assert BUILT_IN.phase(2, "mvp").agents_in("full") == ("market_intelligence", "competitor_analysis")


def test_neighbours_follow_the_mode() -> None:
    """What comes next, and what came before, depends on the mode."""
    assert getattr(BUILT_IN.following(BUILT_IN.phase(3, "mvp"), "mvp"), "number", None) == 6
    assert getattr(BUILT_IN.following(BUILT_IN.phase(3, "full"), "full"), "number", None) == 4
    assert BUILT_IN.following(BUILT_IN.phase(7, "mvp"), "mvp") is None
    assert [each.number for each in BUILT_IN.preceding(BUILT_IN.phase(6, "mvp"), "mvp")] == [1, 2, 3]


@pytest.mark.parametrize("number", [0, 8, -1, 1.0, True, "1", None, b"1", [1], 10**20], ids=label)
def test_what_is_no_phase_number_is_refused(number: object) -> None:
    """Only whole numbers of the workflow are phases: no truth value, no float that happens to be equal."""
    with pytest.raises(InvalidInput, match="which this workflow does not have") as caught:
        BUILT_IN.phase(number, "mvp")
    assert caught.value.hint == "phases of mode 'mvp': 1, 2, 3, 6, 7."


def test_phase_outside_the_mode_is_refused_as_such() -> None:
    """A phase that another mode has is named as left out by this one."""
    with pytest.raises(InvalidInput, match="phase number is 4, which mode 'mvp' leaves out"):
        BUILT_IN.phase(4, "mvp")


@pytest.mark.parametrize("mode", ["", "MVP", "fast", None, 1, b"mvp", ["mvp"]])
def test_unknown_mode_is_refused(mode: object) -> None:
    """A mode is a word of the workflow's own."""
    with pytest.raises(InvalidInput, match="execution mode is") as caught:
        BUILT_IN.check_mode(mode)
    assert "Allowed: mvp, full." in caught.value.hint


def test_own_workflow_needs_no_seven_phases() -> None:
    """Phases may have any numbers; they run in the order of these, and reviews are optional by default."""
    workflow = workflow_of(_value(), "source")
    assert [phase.number for phase in workflow.phases_in("m")] == [10, 20]
    assert (workflow.default_mode, workflow.max_retries, workflow.source) == ("m", 3, "source")
    assert ReviewPolicy.OPTIONAL is workflow.phases[0].review


def test_journal_policy() -> None:
    """A workflow says when snapshots are due and which stay; what it does not say keeps its default."""
    workflow = workflow_of(_value(journal={"every_steps": 5, "routine": 7, "limit": 40}), "")
    expected = JournalPolicy(due=Due(every_steps=5), retention=Retention(routine=7, limit=40))
    assert expected == workflow.journal
    assert JournalPolicy() == workflow_of(_value(), "").journal == BUILT_IN.journal


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"journal": {"routin": 3}}, "retention has no 'routin'"),
        ({"modes": {"m": [10, 30]}}, "mode 'm' names phase 30"),
        ({"default_mode": "x"}, "execution mode is 'x'"),
        ({"phases": [{"number": 1, "name": "A", "folder": f, "agents": []} for f in "ab"]}, "two phases of one number"),
        (
            {"phases": [{"number": n, "name": "A", "folder": f, "agents": []} for n, f in ((10, "A"), (20, "a"))]},
            "two phases in one folder",
        ),
        (
            {
                "modes": {"m": [1]},
                "phases": [{"number": 1, "name": "A", "folder": "a", "agents": [], "agents_by_mode": {"y": ["b"]}}],
            },
            "execution mode is 'y'",
        ),
    ],
)
def test_workflow_that_contradicts_itself_is_refused(changes: dict[str, Any], message: str) -> None:
    """References inside a definition must hold."""
    with pytest.raises(InvalidInput, match=message):
        workflow_of(_value(**changes), "")
