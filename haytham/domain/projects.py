"""A project: from what its owner says to the value of the document, and back."""

import json
from collections.abc import Mapping
from typing import Any

from haytham.domain.choices import ProjectStatus
from haytham.domain.errors import InvalidInput
from haytham.domain.identifiers import check_line, check_text
from haytham.domain.records import ProjectRecord

Value = Mapping[str, Any]

_LONGEST_NAME = 60
_JSON_HINT = "use texts, finite numbers, True, False, None, and lists and dicts of them."


def value(
    *, project_id: str, user_id: object, startup_idea: object, name: object, execution_mode: str, now: str
) -> dict[str, Any]:
    """Checks what a project is made from; raises InvalidInput, else builds the document's value."""
    idea = check_text(startup_idea, "startup_idea")
    return {
        "metadata": {
            "project_id": project_id,
            "name": check_line(name, "project name") if name is not None else name_for(idea, project_id),
            "user_id": check_line(user_id, "user id"),
            "execution_mode": execution_mode,
            "created": now,
            "last_updated": now,
            "status": ProjectStatus.ACTIVE.value,
            "current_session": None,
            "requirements_version": 0,
        },
        "startup_idea": idea,
        "preferences": {},
    }


def changed(project: Value, now: str, **metadata: object) -> dict[str, Any]:
    """Returns a project with other metadata."""
    return {**project, "metadata": {**project["metadata"], "last_updated": now, **metadata}}


def with_preferences(project: Value, preferences: object, now: str) -> dict[str, Any]:
    """Returns a project with these preferences laid over the ones it has; raises InvalidInput if they are no JSON."""
    plain = plain_json(preferences, "preferences")
    return {**changed(project, now), "preferences": {**project["preferences"], **plain}}


def plain_json(mapping: object, what: str) -> dict[str, Any]:
    """Returns a dict as JSON would give it back; raises InvalidInput if it cannot be written as JSON."""
    if not isinstance(mapping, Mapping) or not all(isinstance(key, str) for key in mapping):
        raise InvalidInput(f"{what} are {mapping!r}; a dict with text keys is needed.", hint=_JSON_HINT)
    try:
        text = json.dumps(dict(mapping), allow_nan=False, ensure_ascii=False)
        plain: dict[str, Any] = json.loads(check_text(text, what))
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidInput(f"{what} cannot be written as JSON: {error}.", hint=_JSON_HINT) from error
    return plain


def record(project: Value) -> ProjectRecord:
    """Returns what the project manager tells about a project."""
    metadata = project["metadata"]
    return ProjectRecord(
        project_id=metadata["project_id"],
        project_name=metadata["name"],
        user_id=metadata["user_id"],
        startup_idea=project["startup_idea"],
        execution_mode=metadata["execution_mode"],
        status=metadata["status"],
        created=metadata["created"],
        last_updated=metadata["last_updated"],
        current_session=metadata["current_session"],
        requirements_version=metadata["requirements_version"],
        preferences=dict(project["preferences"]),
    )


def unreadable(project_id: str, problem: str) -> ProjectRecord:
    """Returns what is told about a project whose document cannot be read."""
    return ProjectRecord(
        project_id=project_id,
        project_name="",
        user_id="",
        startup_idea="",
        execution_mode="",
        status="unreadable",
        created="",
        last_updated="",
        current_session=None,
        requirements_version=0,
        preferences={},
        problem=problem,
    )


def name_for(idea: str, project_id: str) -> str:
    """Makes a name from the first words of an idea."""
    words = " ".join("".join(char if char.isprintable() else " " for char in idea).split())
    if len(words) <= _LONGEST_NAME:
        return words or project_id
    return f"{words[:_LONGEST_NAME].rpartition(' ')[0] or words[:_LONGEST_NAME]} …"
