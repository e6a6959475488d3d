import pytest

from haytham.documents import workflow_file
from haytham.domain.errors import InvalidDocument, InvalidInput

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


def test_agent_name() -> None:
    """An agent's name that could leave its folder or hide a document is refused."""
    for name in ("../x", "checkpoint"):
        with pytest.raises(InvalidInput):
            workflow_file.read(_TEXT.replace("writer", name))
