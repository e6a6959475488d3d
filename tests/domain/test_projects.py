from typing import Any

import pytest

from haytham.domain import projects
from haytham.domain.errors import InvalidInput
from tests.evidence import label


def _project(**changes: Any) -> dict[str, Any]:
    said: dict[str, Any] = {"user_id": "u", "startup_idea": "An idea", "name": None}
    return projects.value(project_id="p-1", execution_mode="mvp", now="2026-01-31T10:00:00Z", **(said | changes))


@pytest.mark.parametrize(
    ("idea", "name"),
    [
        ("An idea", "An idea"),
        ("", "p-1"),
        ("\n\t\0", "p-1"),
        ("Line one\nline two", "Line one line two"),
        ("word " * 30, "word word word word word word word word word word word word …"),
        ("x" * 100, "x" * 60 + " …"),
    ],
)
def test_name_is_made_from_the_idea(idea: str, name: str) -> None:
    """A project without a name is called by the first words of its idea."""
    assert name == _project(startup_idea=idea)["metadata"]["name"]


def test_preferences_are_laid_over_the_ones_there() -> None:
    """Other preferences stay; the same one is replaced."""
    one = projects.with_preferences(_project(), {"a": 1, "b": [True, None, "x"]}, "2026-01-31T11:00:00Z")
    two = projects.with_preferences(one, {"a": 2}, "2026-01-31T12:00:00Z")
    assert two["preferences"] == {"a": 2, "b": [True, None, "x"]}
    assert two["metadata"]["last_updated"] == "2026-01-31T12:00:00Z"


@pytest.mark.parametrize(
    "preferences",
    [
        None,
        "a",
        [("a", 1)],
        {1: 2},
        {"a": float("nan")},
        {"a": float("inf")},
        {"a": {1, 2}},
        {"a": b"x"},
        {"\ud800": 1},
    ],
    ids=label,
)
def test_preferences_that_are_no_json_are_refused(preferences: object) -> None:
    """Only what JSON can say is kept."""
    with pytest.raises(InvalidInput, match="preferences") as caught:
        projects.with_preferences(_project(), preferences, "2026-01-31T11:00:00Z")
    assert caught.value.hint


def test_endless_nesting_is_refused() -> None:
    """A value that contains itself cannot be written."""
    endless: dict[str, Any] = {}
    endless["a"] = endless
    with pytest.raises(InvalidInput, match="preferences cannot be written as JSON"):
        projects.with_preferences(_project(), endless, "2026-01-31T11:00:00Z")


@pytest.mark.parametrize(
    "changes",
    [
        {"user_id": ""},
        {"user_id": None},
        {"user_id": "a\nb"},
        {"startup_idea": None},
        {"startup_idea": b"idea"},
        {"startup_idea": "\ud800"},
        {"name": ""},
        {"name": "a\nb"},
        {"name": 7},
    ],
    ids=label,
)
def test_project_that_cannot_be_made_is_refused(changes: dict[str, Any]) -> None:
    """User, idea and name are checked, and the error helps."""
    with pytest.raises(InvalidInput) as caught:
        _project(**changes)
    assert caught.value.hint
