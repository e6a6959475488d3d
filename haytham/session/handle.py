"""The handle of one session: the right thing, short, for an orchestrator.

::

    with session.phase(1) as phase:
        with phase.agent("concept_expansion", model="…") as agent:
            agent.write(text, input_tokens=…, output_tokens=…)

The same objects work with `async with`. An exception inside is saved as `failed`, with the error, and goes on.
"""

import asyncio
import threading
import traceback
from collections.abc import AsyncIterator, Callable, Iterator
from datetime import datetime
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from haytham.checkpoint.checkpoint_manager import CheckpointManager
from haytham.domain import failures, instants, numbers, progress
from haytham.domain.audit_records import LogRecord, PhaseSnapshot, VerifyReport
from haytham.domain.choices import ExecutionMode, PhaseStatus
from haytham.domain.errors import InvalidInput, NotFound
from haytham.domain.exchange_records import ExportRecord
from haytham.domain.identifiers import check_agent_name, check_text
from haytham.domain.operation_records import (
    CleanupRecord,
    Comparison,
    DeletionRecord,
    ForkRecord,
    RepairRecord,
    RollbackRecord,
)
from haytham.domain.records import ResumeStep, RetryRequest, ReviewRecord, SessionOverview, SessionState
from haytham.journal.journal import Journal
from haytham.journal.journals import Journals
from haytham.storage import background


def open_session(project_id: str, session_id: str, base_dir: str | Path = "projects") -> "Session":
    """Opens an existing session; raises NotFound if there is none."""
    return Session(CheckpointManager(base_dir), project_id, session_id)


class Session:
    """One session, opened: what a crash may have left is finished."""

    def __init__(self, manager: CheckpointManager, project_id: str, session_id: str) -> None:
        self.manager = manager
        self.project_id = project_id
        self.session_id = session_id
        manager.load_session(project_id, session_id)

    def claim(self) -> int:
        """Makes this handle's manager the only one that may do the session's work, until somebody else claims it."""
        return self.manager.claim_session(self.project_id, self.session_id)

    def state(self) -> SessionState:
        """Tells how far the session got."""
        return self.manager.load_session(self.project_id, self.session_id)

    def next_phase(self) -> int | None:
        """Returns the number of the phase to run next, or None."""
        return self.manager.next_phase(self.project_id, self.session_id)

    def outputs(self, phase_nums: list[int] | None = None) -> dict[int, dict[str, str]]:
        """Returns the outputs by phase and agent."""
        return self.manager.get_phase_outputs(self.project_id, self.session_id, phase_nums)

    def review(self, number: int) -> ReviewRecord:
        """Tells how the review of a phase stands."""
        return self.manager.review(self.project_id, self.session_id, number)

    def wait_for_review(
        self,
        number: int,
        timeout: float | None = None,
        *,
        on_problem: Callable[[InvalidInput], object] | None = None,
    ) -> ReviewRecord:
        """Waits until a phase is approved, sent back or skipped; raises ReviewTimeout.

        `on_problem` is called with each save of the form that cannot be understood.
        """
        return self.manager.wait_for_review(self.project_id, self.session_id, number, timeout, on_problem=on_problem)

    async def wait_for_review_async(
        self,
        number: int,
        timeout: float | None = None,  # noqa: ASYNC109 - as its twin
        *,
        on_problem: Callable[[InvalidInput], object] | None = None,
    ) -> ReviewRecord:
        """Does what `wait_for_review` does without holding up the event loop; calls back in another thread."""
        wait = self.manager.wait_for_review_async
        return await wait(self.project_id, self.session_id, number, timeout, on_problem=on_problem)

    def watch(self, *, stop: threading.Event | None = None) -> Iterator[SessionOverview]:
        """Yields the overview at once and whenever it changes, until the session is completed or `stop` is set."""
        return self.manager.watch(self.project_id, self.session_id, stop=stop)

    def watch_async(self) -> AsyncIterator[SessionOverview]:
        """Does what `watch` does without holding up the event loop; may be cancelled."""
        return self.manager.watch_async(self.project_id, self.session_id)

    def resume(self) -> list[ResumeStep]:
        """Lists what is left to do, in order, and why."""
        return self.manager.resume(self.project_id, self.session_id)

    def journals(self, number: int) -> Journals:
        """Returns the journals of the agents of a phase."""
        return self.manager.journals(self.project_id, self.session_id, number)

    def journal(self, number: int, agent: str, branch: str = "") -> Journal:
        """Returns the journal of an agent in a phase."""
        return self.journals(number).journal(agent, branch)

    def export(self, path: str | Path) -> ExportRecord:
        """Writes the session into one new file, from which `import_file` makes the same again."""
        return self.manager.export_session(self.project_id, self.session_id, path)

    def log(self, **wanted: Any) -> list[LogRecord]:
        """Returns the commits of the session, newest first; `wanted` is what `log` of the manager takes."""
        return self.manager.log(self.project_id, self.session_id, **wanted)

    def show(self, number: int, at: int | str | None = None) -> PhaseSnapshot:
        """Returns a phase as it was at an attempt, at a commit, or at the newest one."""
        return self.manager.show_phase(self.project_id, self.session_id, number, at)

    def diff(self, number: int, before: int | str | None = None, after: int | str | None = None) -> str:
        """Shows what changed in a phase's outputs between two attempts or commits."""
        return self.manager.diff(self.project_id, self.session_id, number, before, after)

    def verify(self, *, head: str | None = None) -> VerifyReport:
        """Checks that the session is what was written; changes nothing."""
        return self.manager.verify_session(self.project_id, self.session_id, head=head)

    def export_page(self, path: str | Path) -> ExportRecord:
        """Writes the session as one new page of HTML, to be opened and mailed."""
        return self.manager.export_page(self.project_id, self.session_id, path)

    def fork(
        self, new_session_id: str | None = None, *, phase: int | None = None, commit: str | None = None
    ) -> ForkRecord:
        """Makes another session that goes on from a phase or a commit of this one."""
        return self.manager.fork(self.project_id, self.session_id, new_session_id, phase=phase, commit=commit)

    def rollback(
        self, *, phase: int | None = None, commit: str | None = None, reason: str = "", dry_run: bool = False
    ) -> RollbackRecord:
        """Takes the session back to a phase or a commit, by a new commit."""
        return self.manager.rollback(
            self.project_id, self.session_id, phase=phase, commit=commit, reason=reason, dry_run=dry_run
        )

    def compare(self, other_session_id: str) -> Comparison:
        """Compares the session with another one of its project."""
        return self.manager.compare(self.project_id, self.session_id, other_session_id)

    def archive(self) -> SessionState:
        """Marks the session as archived."""
        return self.manager.archive_session(self.project_id, self.session_id)

    def unarchive(self) -> SessionState:
        """Opens the session again, if it is archived."""
        return self.manager.unarchive_session(self.project_id, self.session_id)

    def delete(self, *, state: str | None = None, dry_run: bool = False) -> DeletionRecord:
        """Removes the session with its history, for good; a dry run only tells what goes."""
        return self.manager.delete_session(self.project_id, self.session_id, state=state, dry_run=dry_run)

    def gc(self) -> list[CleanupRecord]:
        """Cleans up the session's folder."""
        return self.manager.gc(self.project_id, self.session_id)

    def repair(self) -> RepairRecord:
        """Finishes what crashes left in the session and in the journals of its agents."""
        return self.manager.repair(self.project_id, self.session_id)

    def phase(self, number: int, execution_mode: str | None = None) -> "PhaseRun":
        """Returns a run of a phase, to be used with `with` or `async with`."""
        return PhaseRun(self, number, execution_mode)


class PhaseRun:
    """One attempt at a phase: started on entry, completed or failed on exit, timed in between.

    `request` has what a reviewer asked the last attempt to change, with its outputs, or is None.
    """

    def __init__(self, session: Session, number: int, execution_mode: str | None) -> None:
        self.session = session
        self.number = number
        self.retry_count = 0
        self.request: RetryRequest | None = None
        self._execution_mode = execution_mode
        self._runs: dict[str, AgentRun] = {}
        self._overlapped = False
        self._guard = threading.Lock()
        self._started = ""

    def agent(self, name: str, model: str | None = None) -> "AgentRun":
        """Returns a run of an agent in this phase, to be used with `with` or `async with`.

        An agent that has ended may run again in the same phase: its later run stands for it.
        """
        run = AgentRun(self, check_agent_name(name), model)
        key = run.name.casefold()
        with self._guard:
            before = self._runs.get(key)
            if before is not None and (before.is_running or before.name != run.name):
                raise InvalidInput(
                    f"agent {run.name} cannot run while {before.name} is an agent of this phase.",
                    hint="let it end first, or choose a name that differs by more than case.",
                )
            self._runs[key] = run
        return run

    def note_start(self) -> None:
        """Notes that an agent starts; whether another one is at work is seen here, not guessed from clocks."""
        with self._guard:
            self._overlapped = self._overlapped or any(run.is_running for run in self._runs.values())

    def __enter__(self) -> Self:
        self.request = self.session.manager.retry_request(self.session.project_id, self.session.session_id, self.number)
        self.retry_count = self._next_attempt()
        self._started = instants.text_of(self.now())
        self._save(PhaseStatus.IN_PROGRESS)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None:
            self._save(PhaseStatus.COMPLETED, completed=self.now())
        else:
            self._save(PhaseStatus.FAILED, completed=self.now(), errors=[failures.told(error)])

    async def __aenter__(self) -> Self:
        return await asyncio.to_thread(self.__enter__)

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await background.finished(lambda: self.__exit__(kind, error, trace))

    def now(self) -> datetime:
        """Returns the time by the manager's clock."""
        return self.session.manager.clock()

    def _next_attempt(self) -> int:
        try:
            before = self.session.manager.load_checkpoint(self.session.project_id, self.session.session_id, self.number)
        except NotFound:
            return 0
        return before["retry_count"] + (before["status"] == PhaseStatus.REQUIRES_RETRY)

    def _save(self, status: PhaseStatus, completed: datetime | None = None, errors: list[str] | None = None) -> None:
        self.session.manager.save_checkpoint(
            self.session.project_id,
            self.session.session_id,
            self.number,
            status=status.value,
            agents=[run.record() for run in self._runs.values()],
            started=self._started,
            completed=instants.text_of(completed) if completed else None,
            duration=seconds_between(instants.parse(self._started, "started"), completed) if completed else None,
            retry_count=self.retry_count,
            execution_mode=self._execution_mode or self._observed_mode().value,
            errors=errors,
        )

    def _observed_mode(self) -> ExecutionMode:
        if len(self._runs) <= 1:
            return ExecutionMode.SINGLE
        return ExecutionMode.PARALLEL if self._overlapped else ExecutionMode.SEQUENTIAL_INTERACTIVE


class AgentRun:
    """One run of one agent: what it writes is saved, durably, when its block ends."""

    def __init__(self, phase: PhaseRun, name: str, model: str | None) -> None:
        self.phase = phase
        self.name = name
        self.model = model
        self.status = PhaseStatus.PENDING
        self.started = ""
        self.completed = ""
        self._text: list[str] = []
        self._tools: list[str] = []
        self._figures: dict[str, list[float | None]] = {"input_tokens": [], "output_tokens": [], "cost": []}

    def write(
        self,
        text: str,
        *,
        input_tokens: int | None = None,
        output_tokens: int | None = None,
        cost: float | None = None,
        tools_used: list[str] | None = None,
    ) -> None:
        """Adds to the agent's output; figures of several writes add up; raises InvalidInput if they cannot be saved."""
        check_text(text, "text")
        figures = {
            "input_tokens": numbers.optional_count(input_tokens, "input_tokens"),
            "output_tokens": numbers.optional_count(output_tokens, "output_tokens"),
            "cost": numbers.optional_amount(cost, "cost"),
        }
        for key, figure in figures.items():
            self._figures[key].append(figure)
        self._text.append(text)
        self._tools += [tool for tool in tools_used or [] if tool not in self._tools]

    @cached_property
    def journal(self) -> Journal:
        """The agent's journal: what it does, step by step."""
        return self.phase.session.journal(self.phase.number, self.name)

    @property
    def is_running(self) -> bool:
        """Whether the agent's block has begun and not ended."""
        return self.status is PhaseStatus.IN_PROGRESS

    def record(self) -> dict[str, Any]:
        """Returns what the checkpoint says about this agent."""
        return {
            "agent_name": self.name,
            "status": self.status.value,
            "output_file": f"{self.name}.md" if self.completed else None,
            "input_tokens": self._total("input_tokens"),
            "output_tokens": self._total("output_tokens"),
            "cost": self._total("cost"),
            "duration": self._duration(),
        }

    def __enter__(self) -> Self:
        self.phase.note_start()
        self.status = PhaseStatus.IN_PROGRESS
        self.started = instants.text_of(self.phase.now())
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None and not self._text:
            self.status = PhaseStatus.FAILED
            raise InvalidInput(f"agent {self.name} ended without writing anything.", hint="call agent.write(…).")
        self.completed = instants.text_of(self.phase.now())
        self.status = PhaseStatus.FAILED if error else PhaseStatus.COMPLETED
        self._save(error)

    async def __aenter__(self) -> Self:
        return self.__enter__()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await background.finished(lambda: self.__exit__(kind, error, trace))

    def _save(self, error: BaseException | None) -> None:
        session = self.phase.session
        session.manager.save_agent_output(
            session.project_id,
            session.session_id,
            self.phase.number,
            self.name,
            "".join(self._text),
            status=self.status.value,
            duration=self._duration(),
            model=self.model,
            input_tokens=self._total("input_tokens"),
            output_tokens=self._total("output_tokens"),
            tools_used=self._tools or None,
            error_type=type(error).__name__ if error else None,
            error_message=failures.writable(str(error)) if error else None,
            stack_trace=failures.writable("".join(traceback.format_exception(error))) if error else None,
        )

    def _total(self, key: str) -> Any:
        return progress.total(self._figures[key])

    def _duration(self) -> float | None:
        if not self.completed:
            return None
        return seconds_between(instants.parse(self.started, "started"), instants.parse(self.completed, "completed"))


def seconds_between(start: datetime, end: datetime) -> float:
    """Returns how long it took; a clock that was set back gives 0, never less."""
    return max(0.0, (end - start).total_seconds())
