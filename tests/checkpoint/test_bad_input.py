"""What cannot be used is refused by every method, by name, with a way out, and nothing is written."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from haytham import CheckpointManager, HaythamError
from tests.conftest import REVIEWER
from tests.evidence import PROJECT, SESSION, USER, Clock, label, snapshot

IDS = {"project_id": PROJECT, "session_id": SESSION}
AGENT: dict[str, Any] = {"agent_name": "concept_expansion", "status": "completed"}
METHODS: dict[str, dict[str, Any]] = {  # every public method about one session, with arguments that it would take
    "create_session": {**IDS, "user_id": USER},
    "save_checkpoint": {**IDS, "phase_num": 2, "status": "completed", "agents": [AGENT]},
    "save_agent_output": {**IDS, "phase_num": 2, "agent_name": "a", "output_content": "text"},
    "save_user_feedback": {**IDS, "phase_num": 1, "reviewed": True, "approved": True},
    "load_session": IDS,
    "load_checkpoint": {**IDS, "phase_num": 1},
    "load_feedback": {**IDS, "phase_num": 1},
    "get_phase_outputs": IDS,
    "get_approved_phases": IDS,
    "next_phase": IDS,
    "can_resume": IDS,
    "complete_session": IDS,
    "recover": IDS,
    "history": IDS,
}
WITH_PHASE = [name for name, arguments in METHODS.items() if "phase_num" in arguments]
BAD_IDS: list[Any] = [
    "",
    "x" * 101,
    ".",
    "..",
    "...",
    ".git",
    "a/b",
    "../../x",
    "/abs",
    "a\\b",
    "a\0b",
    "a\nb",
    "a\x7f",
    "-x",
    "con",
    "NUL",
    "lpt1.md",
    "é",
    "e\u0301",
    "\u202ex",
    "\ud800",
    "x.lock",
    "a b",
    None,
    7,
    True,
    b"project-123",
    ["project-123"],
]
BAD_PHASES: list[Any] = [0, -1, 4, 5, 8, 99, 1.0, 2.0, float("nan"), True, False, "1", b"1", None, [1], 10**30]


def _each(key: str, values: list[Any]) -> list[dict[str, Any]]:
    return [{key: value} for value in values]


BAD_AGENTS: list[dict[str, Any]] = [
    *_each("agent_name", ["checkpoint", "../x", None]),
    *_each("output_file", ["../x.md", "checkpoint.md", "a.txt"]),
    *_each("tokens", [-1, 1.5]),
    *_each("cost", [float("nan"), -0.01]),
    {"name": "a"},
    {"status": "ok"},
    {"input_tokens": True},
    {"output_tokens": "3"},
    {"duration": float("inf")},
]
BAD_VALUES: dict[str, list[dict[str, Any]]] = {
    "create_session": [
        *_each("user_id", ["", " ", "a\nb", " a", None, 7, b"user", "\ud800", "x" * 501]),
        *_each("workflow_type", ["", "idea", "idea_validation.toml", "../x", None, 7, b"idea_validation", []]),
        *_each("execution_mode", ["", "MVP", "fast", None, 1, b"mvp", ["mvp"]]),
    ],
    "save_checkpoint": [
        *_each("status", ["", "done", "Completed", None, True, b"completed", []]),
        *_each("execution_mode", ["", "mvp", None, 1]),
        *_each("started", ["", "yesterday", "2026-02-30T00:00:00Z", "2026-01-31T10:00:00", 7, b"x"]),
        *_each("completed", ["soon", "0001-01-01T00:00:00+14:00"]),
        *_each("duration", [-1, float("nan"), float("inf"), "1", True, 10**400]),
        *_each("retry_count", [-1, 1.0, True, None, "0"]),
        *_each("errors", ["boom", [b"boom"], ["\ud800"], 7, [None]]),
        *_each("agents", ["a", b"a", 7, {"a": 1}, ["a"], [None], [{}]]),
        *_each("agents", [[{"agent_name": "a"}], [{"status": "completed"}], [AGENT, AGENT]]),
        *_each("agents", [*([{**AGENT, **each}] for each in BAD_AGENTS)]),
    ],
    "save_agent_output": [
        *_each("agent_name", [*BAD_IDS]),
        *_each("agent_name", ["checkpoint", "User_Feedback", "session_manifest.md"]),
        *_each("output_content", [None, b"text", 7, "\ud800", ["text"]]),
        *_each("status", ["ok", None, b"failed"]),
        *_each("duration", [-1, float("nan"), "1", True]),
        *_each("model", [7, b"m", "\ud800"]),
        *_each("input_tokens", [-1, True]),
        *_each("output_tokens", [1.5, "3"]),
        *_each("tools_used", ["tool", [""], [None], [b"t"], 7, ["\ud800"]]),
        *_each("error_type", [7, "\ud800"]),
        *_each("error_message", [7, b"m"]),
        *_each("stack_trace", [7, "\udfff"]),
    ],
    "save_user_feedback": [
        *_each("reviewed", [1, None, False, "yes"]),
        *_each("approved", ["true", 1, False]),
        *_each("comments", [None, b"text", "\ud800", 7]),
        *_each("requested_changes", ["text", [None], ["\ud800"], 7, {"a": 1}]),
        *_each("action", ["approve", "skip_phase", None, True, b"approved"]),
        *_each("retry_count", [-1, 0.0, True, None]),
    ],
    "get_phase_outputs": _each("phase_nums", [1, "1", b"1", [4], [1.0], [True], [None], ["1"], {1: 2}]),
}


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> CheckpointManager:
    """A manager with one session whose first phase is completed; shared, because nothing here may change it."""
    base = tmp_path_factory.mktemp("base") / "projects"
    manager = CheckpointManager(base, clock=Clock(), identity=lambda: REVIEWER)
    manager.create_session(PROJECT, SESSION, USER)
    manager.save_agent_output(PROJECT, SESSION, 1, "concept_expansion", "text")
    manager.save_agent_output(PROJECT, SESSION, 2, "concept_expansion", "text")
    manager.save_checkpoint(PROJECT, SESSION, 1, "completed", [AGENT])
    return manager


def _refused(manager: CheckpointManager, kind: type[Exception], call: Callable[[], object]) -> HaythamError:
    before = snapshot(manager.base_dir.parent)
    with pytest.raises(kind) as caught:
        call()
    assert before == snapshot(manager.base_dir.parent)
    assert isinstance(caught.value, HaythamError)
    assert caught.value.message
    assert caught.value.hint
    return caught.value


@pytest.mark.parametrize("key", IDS)
@pytest.mark.parametrize("name", METHODS)
def test_bad_ids_are_refused(session: CheckpointManager, name: str, key: str) -> None:
    """No method takes an id that could not safely name a folder and a branch."""
    for bad in BAD_IDS:
        call = partial(getattr(session, name), **METHODS[name] | {key: bad})
        error = _refused(session, ValueError, call)
        assert key.replace("_", " ") in error.message


@pytest.mark.parametrize("name", WITH_PHASE)
@pytest.mark.parametrize("number", BAD_PHASES, ids=label)
def test_bad_phases_are_refused(session: CheckpointManager, name: str, number: object) -> None:
    """No method takes a phase that the session's mode does not have, nor a float or truth value that equals one."""
    arguments = METHODS[name] | {"phase_num": number}
    error = _refused(session, ValueError, lambda: getattr(session, name)(**arguments))
    assert error.hint == "phases of mode 'mvp': 1, 2, 3, 6, 7."


@pytest.mark.parametrize(
    ("name", "changes"),
    [(name, changes) for name, values in BAD_VALUES.items() for changes in values],
    ids=label,
)
def test_bad_values_are_refused(session: CheckpointManager, name: str, changes: dict[str, Any]) -> None:
    """Every other argument is checked before anything is written."""
    arguments = METHODS[name] | changes
    if name == "create_session":
        arguments |= {"session_id": "another"}
    _refused(session, ValueError, lambda: getattr(session, name)(**arguments))


@pytest.mark.parametrize("key", IDS)
@pytest.mark.parametrize("name", [each for each in METHODS if each != "create_session"])
def test_what_is_missing_is_not_found(session: CheckpointManager, name: str, key: str) -> None:
    """A project or session that does not exist is not found, and those that exist are named."""
    arguments = METHODS[name] | {key: "other"}
    error = _refused(session, FileNotFoundError, lambda: getattr(session, name)(**arguments))
    assert IDS[key] in error.hint


def test_sessions_of_a_missing_project_are_not_found(session: CheckpointManager) -> None:
    """Listing needs a project that exists."""
    _refused(session, FileNotFoundError, lambda: session.list_sessions("other"))
    _refused(session, ValueError, lambda: session.list_sessions("../x"))


@pytest.mark.parametrize("name", ["load_checkpoint", "load_feedback"])
def test_document_that_is_not_there_yet_is_not_found(session: CheckpointManager, name: str) -> None:
    """A phase without a checkpoint or form has none: that is not an empty one."""
    _refused(session, FileNotFoundError, lambda: getattr(session, name)(PROJECT, SESSION, 3))


@pytest.mark.parametrize("project_id", ["PROJECT-123", "Project-123"])
def test_project_that_differs_by_case_is_refused(session: CheckpointManager, project_id: str) -> None:
    """Two projects that some file systems would mix up cannot both exist."""
    error = _refused(session, ValueError, lambda: session.create_session(project_id, "s", USER))
    assert "differs only by case" in error.message


def test_session_that_differs_by_case_is_refused(session: CheckpointManager) -> None:
    """The same for sessions of one project."""
    error = _refused(session, ValueError, lambda: session.create_session(PROJECT, "SESSION-456", USER))
    assert "differs only by case" in error.message


def test_agent_that_differs_by_case_is_refused(session: CheckpointManager) -> None:
    """Two outputs of a phase that some file systems would mix up cannot both exist."""
    before = snapshot(session.base_dir)
    with pytest.raises(ValueError, match="differs only by case from 'concept_expansion'"):
        session.save_agent_output(PROJECT, SESSION, 1, "CONCEPT_EXPANSION", "text")
    assert before == snapshot(session.base_dir)


@pytest.mark.parametrize(
    "arguments",
    [
        ("", SESSION, 1),
        (PROJECT, "../x", 1),
        ("other", SESSION, 1),
        (PROJECT, "other", 1),
        (PROJECT, SESSION, 4),
        (PROJECT, SESSION, True),
        (PROJECT, SESSION, None),
        (None, None, None),
    ],
    ids=label,
)
def test_validation_reports_instead_of_raising(session: CheckpointManager, arguments: tuple[Any, Any, Any]) -> None:
    """`validate_checkpoint` answers every question, also about what does not exist."""
    is_valid, problems = session.validate_checkpoint(*arguments)
    assert not is_valid
    assert problems[0]


def test_the_past_of_a_phase_cannot_be_denied(session: CheckpointManager) -> None:
    """A completed phase does not become pending again."""
    error = _refused(
        session, ValueError, lambda: session.save_checkpoint(PROJECT, SESSION, 1, "pending", agents=[AGENT])
    )
    assert "cannot become pending again" in error.message


@pytest.mark.parametrize("base_dir", [None, 7, b"projects", ["projects"], "a\0b", "a\ud800"], ids=label)
def test_base_folder_must_be_a_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, base_dir: Any) -> None:
    """What is no path cannot be a base folder."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match="base_dir is ") as caught:
        CheckpointManager(base_dir)
    assert isinstance(caught.value, HaythamError)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("below", ["", "deeper/still"])
def test_base_folder_that_is_a_file_is_refused(tmp_path: Path, below: str) -> None:
    """A file in the place of the base folder, or above it, stays as it is."""
    file = tmp_path / "projects"
    file.write_bytes(b"mine")
    with pytest.raises(OSError, match="there is a file where a folder is needed") as caught:
        CheckpointManager(file / below)
    assert isinstance(caught.value, HaythamError)
    assert snapshot(tmp_path) == {"projects": b"mine"}


def test_folder_that_is_no_project_is_left_alone(base: Path, manager: CheckpointManager) -> None:
    """A project is not made inside a folder of somebody else's."""
    (base / PROJECT).mkdir()
    (base / PROJECT / "mine.txt").write_text("mine", encoding="utf-8")
    before = snapshot(base)
    with pytest.raises(ValueError, match="exists and is no project"):
        manager.create_session(PROJECT, SESSION, USER)
    assert before == snapshot(base)
