"""Reads a workflow definition: a TOML file that a schema describes."""

import tomllib
from functools import lru_cache

from haytham import resources
from haytham.documents import schemas
from haytham.domain.errors import InvalidDocument, InvalidInput, Location, Problem
from haytham.domain.identifiers import check_agent_name
from haytham.domain.workflow import Workflow, workflow_of

_SUFFIX = ".toml"


def read(text: str, path: str = "") -> Workflow:
    """Reads a workflow; raises InvalidDocument or InvalidInput with what is wrong and where."""
    try:
        return _read_cached(text)
    except InvalidInput:
        return _read(text, path)  # again, for problems that name the path


@lru_cache(maxsize=64)
def _read_cached(text: str) -> Workflow:
    return _read(text, "")


def _read(text: str, path: str) -> Workflow:
    try:
        value = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InvalidInput(f"the workflow is no valid TOML: {error}.", location=Location(path=path)) from error
    if not schemas.is_valid("workflow", value) and (faults := schemas.faults("workflow", value)):
        raise InvalidDocument(
            [
                Problem(
                    message=fault.message,
                    location=Location(path=path, field=".".join(str(key) for key in fault.path)),
                    hint=fault.hint,
                )
                for fault in faults
            ]
        )
    workflow = workflow_of(value, text)
    for phase in workflow.phases:
        for name in (*phase.agents, *(each for names in phase.agents_by_mode.values() for each in names)):
            check_agent_name(name)
    return workflow


def built_in() -> dict[str, Workflow]:
    """Returns the workflows that ship with the package, by name."""
    found = (
        read(resources.text("workflows", name), name) for name in resources.names("workflows") if name.endswith(_SUFFIX)
    )
    return {workflow.name: workflow for workflow in found}
