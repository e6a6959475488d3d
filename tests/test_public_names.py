import inspect
from typing import Any

import pytest

import haytham
from haytham.checkpoint.checkpoint_manager import CheckpointManager
from haytham.project.project_manager import ProjectManager

NEEDED = inspect.Parameter.empty

MANAGERS: dict[type, dict[str, dict[str, Any]]] = {
    CheckpointManager: {
        "create_session": {
            "project_id": NEEDED,
            "session_id": NEEDED,
            "user_id": NEEDED,
            "workflow_type": "idea_validation",
            "execution_mode": "mvp",
        },
        "save_checkpoint": {
            "project_id": NEEDED,
            "session_id": NEEDED,
            "phase_num": NEEDED,
            "status": NEEDED,
            "agents": NEEDED,
            "started": None,
            "completed": None,
            "duration": None,
            "retry_count": 0,
            "execution_mode": "single",
            "errors": None,
        },
        "save_agent_output": {
            "project_id": NEEDED,
            "session_id": NEEDED,
            "phase_num": NEEDED,
            "agent_name": NEEDED,
            "output_content": NEEDED,
            "status": "completed",
            "duration": None,
            "model": None,
            "input_tokens": None,
            "output_tokens": None,
            "tools_used": None,
            "error_type": None,
            "error_message": None,
            "stack_trace": None,
        },
        "save_user_feedback": {
            "project_id": NEEDED,
            "session_id": NEEDED,
            "phase_num": NEEDED,
            "reviewed": NEEDED,
            "approved": NEEDED,
            "comments": "",
            "requested_changes": None,
            "action": "approved",
            "retry_count": 0,
        },
        "load_session": {"project_id": NEEDED, "session_id": NEEDED},
        "get_phase_outputs": {"project_id": NEEDED, "session_id": NEEDED, "phase_nums": None},
        "get_approved_phases": {"project_id": NEEDED, "session_id": NEEDED},
        "validate_checkpoint": {"project_id": NEEDED, "session_id": NEEDED, "phase_num": NEEDED},
    },
    ProjectManager: {
        "create_project": {
            "user_id": NEEDED,
            "startup_idea": NEEDED,
            "project_name": None,
            "execution_mode": "mvp",
        },
        "start_session": {"project_id": NEEDED, "workflow_type": "idea_validation"},
        "complete_session": {
            "project_id": NEEDED,
            "session_id": NEEDED,
            "requirements_content": NEEDED,
            "metrics": None,
        },
        "list_user_projects": {"user_id": NEEDED, "status": None},
        "get_project_status": {"project_id": NEEDED},
        "update_user_preferences": {"project_id": NEEDED, "preferences": NEEDED},
        "get_user_preferences": {"project_id": NEEDED},
        "archive_project": {"project_id": NEEDED},
        "delete_project": {"project_id": NEEDED},
    },
}
METHODS = [(owner, name) for owner, methods in MANAGERS.items() for name in methods]


def _by_position(function: Any) -> dict[str, Any]:
    parameters = list(inspect.signature(function).parameters.values())
    return {each.name: each.default for each in parameters[1:] if each.kind is each.POSITIONAL_OR_KEYWORD}


def test_public_names_are_sorted() -> None:
    """The names that the package exports are listed once each, in their order."""
    assert sorted(set(haytham.__all__)) == haytham.__all__


@pytest.mark.parametrize("name", haytham.__all__)
def test_public_name_can_be_imported(name: str) -> None:
    """Every exported name is there and documented."""
    assert inspect.getdoc(getattr(haytham, name))


def test_unknown_name_is_an_attribute_error() -> None:
    """The package does not pretend to have names that it has not."""
    assert not hasattr(haytham, "CheckpointManger")


@pytest.mark.parametrize(("owner", "name"), METHODS, ids=[f"{o.__name__}.{n}" for o, n in METHODS])
def test_signature_is_the_reference_one(owner: type, name: str) -> None:
    """Each method of the reference has its parameters: names, order and defaults."""
    expected = MANAGERS[owner][name]
    actual = _by_position(getattr(owner, name))
    assert list(expected.items()) == list(actual.items())


@pytest.mark.parametrize("owner", MANAGERS)
def test_constructor_takes_a_base_folder_first(owner: type) -> None:
    """A manager is made from its base folder, by default `projects`; all else is named."""
    parameters = list(inspect.signature(owner).parameters.values())
    first, further = parameters[0], parameters[1:]
    assert (first.name, first.default) == ("base_dir", "projects")
    assert [each.name for each in further if each.kind is not each.KEYWORD_ONLY] == []
    assert [each.name for each in further if each.default is NEEDED] == []


@pytest.mark.parametrize("owner", MANAGERS)
def test_every_public_method_is_annotated_and_documented(owner: type) -> None:
    """What a manager offers says what it takes, returns and promises."""
    functions = inspect.getmembers(owner, inspect.isfunction)
    public = [value for name, value in functions if not name.startswith("_")]
    assert [each.__name__ for each in public if not each.__doc__ or "return" not in each.__annotations__] == []
