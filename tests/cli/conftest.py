"""A project with one session, and ways to run the command line on it."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import pytest
from jsonschema import Draft202012Validator

from haytham import resources
from haytham.checkpoint.checkpoint_manager import CheckpointManager
from haytham.cli.group import group, run
from haytham.project.project_manager import ProjectManager
from haytham.storage.history import Person
from tests import terminal

PROGRAM = (sys.executable, "-m", "haytham.cli.main")
REVIEWER = Person(name="Rita Reviewer", email="rita@example.org")


@dataclass(frozen=True, kw_only=True)
class Sample:
    """Where a session is."""

    base: Path
    project: str
    session: str

    @property
    def folder(self) -> Path:
        """The session's folder."""
        return self.base / self.project / "sessions" / self.session

    @property
    def ids(self) -> tuple[str, str]:
        """What managers take first."""
        return self.project, self.session


def all_commands() -> Iterator[tuple[str, click.Command]]:
    """Yields every command there is by its full name, those of groups too, as the overview lists them."""
    with click.Context(group) as context:
        for name in group.list_commands(context):
            command = group.get_command(context, name)
            assert command is not None
            if isinstance(command, click.Group):
                yield from ((f"{name} {each}", below) for each, below in command.commands.items())
            else:
                yield name, command


def check_form(value: Any) -> None:
    """Fails unless a JSON value is exactly what the schema of its form says."""
    name = value["form"].removeprefix("haytham.")
    schema = json.loads(resources.text("schemas/cli", f"{name}.schema.json"))
    checker = Draft202012Validator.FORMAT_CHECKER
    errors = list(Draft202012Validator(schema, format_checker=checker).iter_errors(value))
    assert [f"{error.json_path}: {error.message}" for error in errors] == []


@dataclass(frozen=True, kw_only=True)
class Said:
    """What a command said, and its exit code."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The JSON on standard output, which is held against the schema of its form."""
        return _checked(self.out)

    @property
    def error(self) -> Any:
        """The JSON on standard error, which is held against the schema of its form."""
        return _checked(self.err)


def _checked(text: str) -> Any:
    found = json.loads(text)
    check_form(found)
    return found


class Shell:
    """Runs commands in process."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys

    def __call__(self, *arguments: str | Path) -> Said:
        """Runs one command."""
        self._capsys.readouterr()
        code = run([str(argument) for argument in arguments])
        out, err = self._capsys.readouterr()
        return Said(code=code, out=out, err=err)


@pytest.fixture
def shell(capsys: pytest.CaptureFixture[str]) -> Shell:
    """Runs commands in process."""
    return Shell(capsys)


def process(*arguments: str | Path, cwd: Path | None = None, **environment: str) -> Said:
    """Runs one command as a process of its own."""
    done = subprocess.run(
        [*PROGRAM, *(str(argument) for argument in arguments)],
        cwd=cwd,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=False,
    )
    return Said(code=done.returncode, out=done.stdout, err=done.stderr)


def in_terminal(*arguments: str, **environment: str) -> str:
    """Runs a command in a terminal of 80 columns and returns every byte it wrote there."""
    code, written = terminal.run(*PROGRAM, *arguments, environment=environment)
    assert code == 0
    return written.decode()


def new_session(base: Path, name: str = "Nightdesk") -> Sample:
    """Makes a project with a session: phase 1 approved, phase 2 sent back."""
    manager = ProjectManager(base)
    project = manager.create_project("ada", "an idea", name)
    session = manager.start_session(project["project_id"])
    sample = Sample(base=base, project=project["project_id"], session=session["session_id"])
    sessions = CheckpointManager(base, identity=lambda: REVIEWER)
    agent = {"agent_name": "concept_expansion", "status": "completed", "output_file": "concept_expansion.md"}
    sessions.save_agent_output(*sample.ids, 1, "concept_expansion", "text", input_tokens=12000, output_tokens=3000)
    figures = {"cost": 0.0375, "duration": 120.5}
    sessions.save_checkpoint(*sample.ids, 1, "completed", [{**agent, **figures}], duration=120.5)
    sessions.save_user_feedback(*sample.ids, 1, reviewed=True, approved=True, comments="good")
    sessions.save_checkpoint(*sample.ids, 2, "requires_retry", [])
    return sample


@pytest.fixture
def sample(tmp_path: Path) -> Sample:
    """A project with a session: phase 1 approved, phase 2 sent back."""
    return new_session(tmp_path / "projects")
