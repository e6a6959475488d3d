from dataclasses import fields
from pathlib import Path

import pytest

from haytham.documents import schemas, workflow_file
from haytham.domain.due import Due
from haytham.domain.errors import InvalidDocument, InvalidInput
from haytham.domain.journal_policy import JournalPolicy
from haytham.domain.retention import Retention

_TEXT = """
name = "essay"
title = "Essay"

[modes]
short = [1]

[[phases]]
number = 1
name = "Draft"
folder = "phase_1_draft"
agents = ["writer"]
"""


def test_read() -> None:
    """A workflow of one's own is a TOML file of the same form as the built-in one."""
    workflow = workflow_file.read(_TEXT)
    assert workflow.name == "essay"
    assert [phase.name for phase in workflow.phases] == ["Draft"]


def test_built_in() -> None:
    """The built-in workflow is read from its file."""
    assert list(workflow_file.built_in()) == ["idea_validation"]


def test_no_toml() -> None:
    """A file that is no TOML is refused with its path and the place in it."""
    with pytest.raises(InvalidInput) as caught:
        workflow_file.read("name = ", "essay.toml")
    assert caught.value.message.startswith("the workflow is no valid TOML: Invalid value (at ")
    assert caught.value.location.path == "essay.toml"


def test_every_fault() -> None:
    """All that is wrong is told at once, each with the path of its field."""
    text = _TEXT.replace('title = "Essay"', 'tilte = "Essay"').replace("number = 1", "number = 0")
    with pytest.raises(InvalidDocument) as caught:
        workflow_file.read(text, "essay.toml")
    expected = {
        ("'tilte' is not known here.", ""),
        ("title is missing.", "title"),
        ("number is 0.", "phases.0.number"),
    }
    assert expected == {(problem.message, problem.location.field) for problem in caught.value.problems}


def test_journal() -> None:
    """The table `journal` is the policy of the agents' journals, as the example shows it."""
    example = Path(__file__).parents[2] / "examples" / "custom_workflow.toml"
    expected = JournalPolicy(
        due=Due(every_steps=10, every_seconds=600), retention=Retention(routine=5, recovery_days=14)
    )
    assert expected == workflow_file.read(example.read_text(encoding="utf-8")).journal


def test_journal_faults() -> None:
    """A bad figure or an unknown word in the table is told with its place."""
    with pytest.raises(InvalidDocument) as caught:
        workflow_file.read(f"{_TEXT}\n[journal]\nlimit = 0\nroutin = 3\nevery_seconds = inf\n")
    expected = {
        ("limit is 0.", "journal.limit", "it must be at least 1."),
        ("every_seconds is inf.", "journal.every_seconds", "a number is expected."),
        ("'routin' is not known here.", "journal", 'did you mean "routine"?'),
    }
    found = {(each.message, each.location.field, each.hint.split(" Allowed")[0]) for each in caught.value.problems}
    assert expected == found


def test_journal_schema_has_the_fields_of_the_policy() -> None:
    """What the schema accepts, the policy has, and the other way round."""
    known = schemas.schema("workflow")["properties"]["journal"]["properties"]
    assert [each.name for kind in (Due, Retention) for each in fields(kind)] == list(known)


def test_agent_name() -> None:
    """An agent's name that could leave its folder or hide a document is refused."""
    for name in ("../x", "checkpoint"):
        with pytest.raises(InvalidInput):
            workflow_file.read(_TEXT.replace("writer", name))
