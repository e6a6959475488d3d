"""A driver: runs sessions through the public API for ever, goes on where the one before it was stopped.

    python -P -m tests.faults.orchestrator BASE JOURNAL [--sessions 0,1] [--rounds 3] [--shared 2] [--pause-after 5]

Everything it does next follows from what the session says; it keeps no notes of its own.
"""

import argparse
import hashlib
import itertools
import os
import signal
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import haytham
from haytham import CheckpointManager, HaythamError, NotFound, ProjectManager, Session
from tests.faults.journal import Journal

PROJECT = "project-trial"
SHARED = "session-shared"
_PARAGRAPH = "The café wants **regulars**, not tourists; see `menu.md`.\n\n## Status: completed\n\n- [x] one | two\n\n"


def text(label: str, size: int = 3000) -> str:
    """Returns some KB of prose that nothing else says."""
    return f"# {label}\n\n" + (_PARAGRAPH + f"<!-- {label} -->\n") * (size // (len(_PARAGRAPH) + len(label) + 10))


def digest(content: str) -> str:
    """Names a text by its content."""
    return hashlib.sha256(content.encode()).hexdigest()[:16]


class Driver:
    """An orchestrator with two agents in every phase and a strict reviewer."""

    def __init__(self, base: Path, journal: Path, pause_after: int = 0) -> None:
        self.base = base
        self.journal = Journal(journal)
        self.fresh = (f"{os.getpid()}-{number}" for number in itertools.count())
        self.id_of_next = "trial"
        self.left = pause_after
        self.projects = ProjectManager(base, new_id=lambda: self.id_of_next)
        self.manager = CheckpointManager(base)

    @contextmanager
    def saving(self, writes: Mapping[str, Any], *repositories: str) -> Iterator[None]:
        """Notes a save before and, if it returned, after; with the commits that it must be in."""
        name = self.journal.begin(writes)
        yield
        self.journal.done(name, {each: self.head(each) for each in repositories})
        self.left -= 1
        if self.left == 0:  # nothing more is flushed, so that the last save stands on its own
            os.write(sys.stdout.fileno(), b"pausing\n")
            signal.pause()

    def head(self, repository: str) -> str:
        """Returns the newest commit, as git itself would find it."""
        name = repository.rpartition("/")[2]
        branch = f"sessions/{name}" if repository != "." else "main"
        return (self.base / PROJECT / repository / ".git/refs/heads" / branch).read_text().strip()

    def ensure_project(self) -> None:
        """Makes the project, unless it is there."""
        if not (self.base / PROJECT).exists():
            with self.saving({"project": "there"}, "."):
                self.projects.create_project("user-1", text("idea", 500), "Trial")

    def ensure_session(self, session: str) -> None:
        """Makes the session, unless it is there, and notes it in the preferences."""
        if not (self.base / PROJECT / "sessions" / session).exists():
            self.id_of_next = session.removeprefix("session-")
            with self.saving({session: "there"}, ".", f"sessions/{session}"):
                self.projects.start_session(PROJECT)

    def set_preference(self, key: str) -> None:
        """Saves one preference under a value never used before."""
        value = next(self.fresh)
        with self.saving({f"preference/{key}": value}, "."):
            self.projects.update_user_preferences(PROJECT, {key: value})

    def run(self, session: str) -> None:
        """Brings a session to its end, from wherever it is."""
        self.ensure_session(session)
        for number in self.manager.load_session(PROJECT, session)["phase_statuses"]:
            self.ensure_phase(session, number)
        self.set_preference(f"after_{session[-1]}")
        if not self.has_result(session):
            content = text(f"{session} {next(self.fresh)}")
            with self.saving({f"requirements/{session}": digest(content)}, ".", f"sessions/{session}"):
                self.projects.complete_session(PROJECT, session, content)

    def ensure_phase(self, session: str, number: int) -> None:
        """Runs a phase, reviews it, and runs it again until it is approved."""
        while True:
            status, retries = self.checkpoint(session, number)
            if status != "completed":
                attempt = retries + (status == "requires_retry")
                run = self.attempt_by_handle if number % 2 else self.attempt_by_manager
                run(session, number, attempt)
                continue
            feedback = self.manager.load_feedback(PROJECT, session, number)
            if not feedback["reviewed"]:
                self.review(session, number, good=bool(number % 2 or retries))
            elif feedback["action"] == "approved":
                return
            else:
                self.save_checkpoint(session, number, "requires_retry", retries)

    def checkpoint(self, session: str, number: int) -> tuple[str, int]:
        """Returns the status and the retries of a phase."""
        try:
            found = self.manager.load_checkpoint(PROJECT, session, number)
        except NotFound:
            return "pending", 0
        return found["status"], found["retry_count"]

    def attempt_by_handle(self, session: str, number: int, attempt: int) -> None:
        """Runs a phase with the handle."""
        place, repository = f"{session}/checkpoint/{number}", f"sessions/{session}"
        run = Session(self.manager, PROJECT, session).phase(number)
        with self.saving({place: ["in_progress", attempt]}):
            run.__enter__()
        for agent in ("first", "second"):
            content = text(f"{agent} {next(self.fresh)}")
            with (
                self.saving({f"{session}/output/{number}/{agent}": digest(content)}),
                run.agent(agent, model="m") as writing,
            ):
                writing.write(content, input_tokens=7, output_tokens=9, cost=0.25)
        writes = {place: ["completed", attempt], f"{session}/feedback/{number}": "form"}
        with self.saving(writes, repository):
            run.__exit__(None, None, None)

    def attempt_by_manager(self, session: str, number: int, attempt: int) -> None:
        """Runs a phase with the reference API."""
        self.save_checkpoint(session, number, "in_progress", attempt)
        for agent in ("first", "second"):
            self.save_output(session, number, agent)
        self.save_checkpoint(session, number, "completed", attempt)

    def save_output(self, session: str, number: int, agent: str) -> None:
        """Saves an output that was never there before."""
        content = text(f"{agent} {next(self.fresh)}")
        with self.saving({f"{session}/output/{number}/{agent}": digest(content)}):
            self.manager.save_agent_output(PROJECT, session, number, agent, content, input_tokens=3, output_tokens=4)

    def save_checkpoint(self, session: str, number: int, status: str, retries: int) -> None:
        """Reports how a phase stands."""
        agents = [{"agent_name": a, "status": "completed", "output_file": f"{a}.md"} for a in ("first", "second")]
        writes: dict[str, Any] = {f"{session}/checkpoint/{number}": [status, retries]}
        if status == "completed":
            writes[f"{session}/feedback/{number}"] = "form"
        repositories = () if status == "in_progress" else (f"sessions/{session}",)
        with self.saving(writes, *repositories):
            self.manager.save_checkpoint(PROJECT, session, number, status, agents, retry_count=retries)

    def review(self, session: str, number: int, *, good: bool) -> None:
        """Decides about a phase."""
        action, comments = "approved" if good else "retry_with_changes", next(self.fresh)
        writes: dict[str, Any] = {f"{session}/feedback/{number}": [action, comments]}
        if not good:  # the decision sends the phase back in the same step
            writes[f"{session}/checkpoint/{number}"] = ["requires_retry", self.checkpoint(session, number)[1]]
        with self.saving(writes, f"sessions/{session}"):
            self.manager.save_user_feedback(
                PROJECT,
                session,
                number,
                reviewed=True,
                approved=good,
                comments=comments,
                requested_changes=None if good else ["Name a price."],
                action=action,
            )

    def has_result(self, session: str) -> bool:
        """Tells whether the project holds a result of this session."""
        found = (self.base / PROJECT / "outputs").glob("requirements_v*.md")
        return any(each.read_text().startswith(f"# {session} ") for each in found)

    def run_beside_others(self, worker: int, rounds: int) -> None:
        """Works on one phase of a session that others work on; what is refused is told, and is not acknowledged."""
        for _ in range(rounds):
            try:
                self.set_preference(f"worker_{worker}")
                if worker < 7:
                    self.attempt_by_manager(SHARED, worker + 1, 0)
                    self.review(SHARED, worker + 1, good=True)
            except HaythamError as error:
                print(f"refused: {error}", flush=True)


def main() -> None:
    """Reads the command line and runs."""
    parser = argparse.ArgumentParser()
    parser.add_argument("base", type=Path)
    parser.add_argument("journal", type=Path)
    parser.add_argument("--sessions", default="")
    parser.add_argument("--shared", type=int)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--pause-after", type=int, default=0)
    asked = parser.parse_args()
    assert Path(haytham.__file__).parents[1] == Path(os.environ["HAYTHAM_ON_TRIAL"])
    driver = Driver(asked.base, asked.journal, asked.pause_after)
    os.write(sys.stdout.fileno(), b"ready\n")
    if asked.shared is not None:
        driver.run_beside_others(asked.shared, asked.rounds)
        return
    driver.ensure_project()
    numbers = [int(each) for each in asked.sessions.split(",")] if asked.sessions else itertools.count()
    for number in numbers:
        driver.run(f"session-{number}")


if __name__ == "__main__":
    main()
