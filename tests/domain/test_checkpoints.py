from typing import Any

import pytest

from haytham.documents import workflow_file
from haytham.domain import checkpoints
from haytham.domain.errors import InvalidInput
from tests.evidence import label

WORKFLOW = workflow_file.built_in()["idea_validation"]
AGENT = {"agent_name": "a", "status": "completed"}


def _report(agents: object = (), **changes: Any) -> checkpoints.Report:
    said: dict[str, Any] = {
        "status": "completed",
        "started": None,
        "completed": None,
        "duration": None,
        "retry_count": 0,
        "execution_mode": "single",
        "errors": None,
    }
    return checkpoints.report(agents=agents, **(said | changes))


def _value(*agents: dict[str, Any], **changes: Any) -> dict[str, Any]:
    phase = WORKFLOW.phase(1, "mvp")
    return checkpoints.value(phase, _report(agents, **changes), [], WORKFLOW.following(phase, "mvp"))


def test_figures_of_agents_add_up_in_decimals() -> None:
    """Cents stay cents: a dime and two dimes are three dimes."""
    value = _value({**AGENT, "cost": 0.1, "tokens": 1}, {**AGENT, "agent_name": "b", "cost": 0.2, "tokens": 2})
    assert (value["metrics"]["cost"], value["metrics"]["total_tokens"]) == (0.3, 3)


def test_zero_is_known_and_missing_is_not() -> None:
    """A cost of 0 is 0; no cost at all is none."""
    assert _value({**AGENT, "cost": 0})["metrics"]["cost"] == 0
    assert _value(AGENT)["metrics"]["cost"] is None


def test_tokens_are_the_sum_of_both_kinds_where_nobody_says_otherwise() -> None:
    """A total that was reported stands; otherwise input and output add up."""
    assert _value({**AGENT, "input_tokens": 12, "output_tokens": 3})["metrics"]["total_tokens"] == 15
    assert _value({**AGENT, "tokens": 20, "input_tokens": 12, "output_tokens": 3})["metrics"]["total_tokens"] == 20


def test_agents_come_back_as_they_were_reported() -> None:
    """What was said about an agent is what is read."""
    agent = {
        "agent_name": "a",
        "status": "failed",
        "output_file": "a.md",
        "tokens": 5,
        "input_tokens": 2,
        "output_tokens": 3,
        "cost": 0.5,
        "duration": 1.25,
    }
    assert [agent] == checkpoints.agents_of(_value(agent))


def test_tokens_of_an_output_fill_in_what_is_not_known() -> None:
    """An output that comes after the checkpoint adds its tokens, and overwrites none."""
    value = _value(AGENT, {"agent_name": "b", "status": "completed", "input_tokens": 1})
    filled = checkpoints.with_tokens(checkpoints.with_tokens(value, "a", 12, 3), "b", 9, None)
    assert [(a["input_tokens"], a["output_tokens"]) for a in checkpoints.agents_of(filled)] == [(12, 3), (1, None)]
    assert filled["metrics"]["total_tokens"] == 16


@pytest.mark.parametrize(
    ("agents", "message"),
    [
        ("a", "agents is 'a'; a list is needed"),
        (b"a", "a list is needed"),
        (7, "a list is needed"),
        ({"agent_name": "a"}, "a list is needed"),
        (["a"], "an agent is 'a'; a dict is needed"),
        ([None], "a dict is needed"),
        ([{"status": "completed"}], "an agent has no 'agent_name'"),
        ([{"agent_name": "a"}], "an agent has no 'status'"),
        ([{**AGENT, "token": 1}], "unknown key 'token'"),
        ([dict([*AGENT.items(), (1, 1)])], "unknown key 1"),
        ([{**AGENT, "agent_name": "../x"}], "agent name '../x'"),
        ([{**AGENT, "agent_name": "checkpoint"}], "reserved"),
        ([{**AGENT, "status": "done"}], "status of agent a is 'done'"),
        ([{**AGENT, "cost": -1}], "cost of agent a is -1"),
        ([{**AGENT, "cost": float("nan")}], "cost of agent a is nan"),
        ([{**AGENT, "duration": float("inf")}], "duration of agent a is inf"),
        ([{**AGENT, "tokens": 1.5}], "tokens of agent a is 1.5"),
        ([{**AGENT, "output_file": "a.txt"}], "output_file of agent a"),
        ([{**AGENT, "output_file": 1}], "output_file of agent a"),
        ([{**AGENT, "output_file": "../a.md"}], "agent name '../a'"),
        ([{**AGENT, "output_file": "checkpoint.md"}], "reserved"),
        ([AGENT, AGENT], "agent 'a' is listed twice"),
        ([AGENT, {**AGENT, "agent_name": "A"}], "agent 'a' is listed twice"),
    ],
    ids=label,
)
def test_agents_that_cannot_be_used_are_refused(agents: object, message: str) -> None:
    """Unknown and missing keys, bad names and bad figures of an agent are each named."""
    with pytest.raises(InvalidInput, match=message) as caught:
        _report(agents)
    assert caught.value.hint


def test_a_slip_in_a_key_is_answered_with_the_key() -> None:
    """Whoever writes `agent-name` learns what was meant."""
    with pytest.raises(InvalidInput) as caught:
        _report([{"agent-name": "a", "status": "completed"}])
    assert caught.value.hint.startswith('did you mean "agent_name"?')


@pytest.mark.parametrize(
    "changes",
    [
        {"status": "done"},
        {"execution_mode": "mvp"},
        {"started": "yesterday"},
        {"completed": "2026-02-30T00:00:00Z"},
        {"duration": -1},
        {"duration": float("nan")},
        {"retry_count": -1},
        {"retry_count": 1.0},
        {"retry_count": True},
        {"errors": "boom"},
        {"errors": [b"boom"]},
        {"errors": ["\ud800"]},
        {"errors": 5},
    ],
    ids=label,
)
def test_report_that_cannot_be_used_is_refused(changes: dict[str, Any]) -> None:
    """Every field of a report is checked, and the error helps."""
    with pytest.raises(InvalidInput) as caught:
        _report(**changes)
    assert caught.value.hint
