"""Plays the story: a new project, a session, its phases with their reviews, the result.

Prints nothing: a watcher is told what happens. What has been played is read from the session itself, so that a
performance that was interrupted can be taken up where it stopped.
"""

import asyncio
from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from haytham.checkpoint.checkpoint_manager import CheckpointManager
from haytham.demo import story
from haytham.demo.story import Answer, Decision
from haytham.domain.choices import Action, PhaseStatus, ReviewPolicy
from haytham.domain.errors import InvalidInput, ReviewTimeout
from haytham.domain.records import CheckpointRecord, ReviewRecord, SessionResult
from haytham.domain.workflow import Phase
from haytham.project.project_manager import ProjectManager
from haytham.session.handle import PhaseRun, Session
from haytham.storage.history import Person
from haytham.storage.history_user import user_identity

Review = Callable[[int, int], Decision]  # phase number, attempt

_SPELL = 2.0  # seconds; how long a form that cannot be understood may lie there before its writer is told


class Watcher(Protocol):
    """Is told what happens, as it happens."""

    def started(self, project_id: str, session_id: str, folder: Path, phases: int) -> None:
        """There is a session now."""

    def phase_started(self, phase: Phase, attempt: int) -> None:
        """The agents of a phase set out."""

    def agent_started(self, name: str) -> None:
        """An agent thinks."""

    def agent_done(self, name: str, answer: Answer) -> None:
        """An agent's output is saved."""

    def phase_done(self, phase: Phase, checkpoint: CheckpointRecord) -> None:
        """A phase is completed and committed."""

    def waiting(self, phase: Phase, review: ReviewRecord) -> None:
        """A phase waits for a person."""

    def misunderstood(self, phase: Phase, error: InvalidInput) -> None:
        """What the person saved cannot be understood."""

    def reviewed(self, phase: Phase, review: ReviewRecord) -> None:
        """A decision about a phase is saved and committed."""

    def passed(self, phase: Phase) -> None:
        """The session goes on behind a phase."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Ending:
    """What a performance leaves behind."""

    project_id: str
    session_id: str
    folder: Path
    result: SessionResult
    sent_back: tuple[Phase, ...]  # the phases that a review sent back


class Performance:
    """One run of the story, in a project of its own.

    `gates` are the phases that wait for a person; without any, a scripted reviewer decides.
    """

    def __init__(
        self,
        base_dir: Path,
        watcher: Watcher,
        *,
        gates: Collection[int] = (),
        review: Review = story.review,
        pace: float = 1.0,
    ) -> None:
        self.projects = ProjectManager(base_dir)
        self.sessions = CheckpointManager(base_dir, identity=_person if gates else lambda: story.REVIEWER)
        self._watcher = watcher
        self._gates = frozenset(gates)
        self._review = review
        self._pace = pace

    def create(self) -> tuple[str, str]:
        """Makes a project with a session and returns their ids."""
        project = self.projects.create_project(story.USER, story.IDEA, story.NAME, story.MODE)
        project_id = project["project_id"]
        if not self._gates:
            return project_id, self.projects.start_session(project_id, story.WORKFLOW)["session_id"]
        policy = dict.fromkeys(self._gates, ReviewPolicy.REQUIRED.value)
        session_id = project_id.replace("project-", "session-")
        self.sessions.create_session(project_id, session_id, story.USER, story.WORKFLOW, story.MODE, review=policy)
        return project_id, session_id

    async def run(self, project_id: str, session_id: str) -> Ending:
        """Plays what is left of the story in a session of it."""
        session = Session(self.sessions, project_id, session_id)
        phases = self.sessions.workflow(story.WORKFLOW).phases_in(story.MODE)
        folder = self.projects.base_dir / project_id / "sessions" / session_id
        self._watcher.started(project_id, session_id, folder, len(phases))
        for phase in phases:
            await self._until_accepted(session, phase)
            self._watcher.passed(phase)
        retries = {phase.number: self._checkpoint(session, phase)["retry_count"] for phase in phases}
        return Ending(
            project_id=project_id,
            session_id=session_id,
            folder=folder,
            result=self._complete(session),
            sent_back=tuple(phase for phase in phases if retries[phase.number]),
        )

    async def _until_accepted(self, session: Session, phase: Phase) -> None:
        while (status := session.state()["phase_statuses"][phase.number]) != PhaseStatus.SKIPPED:
            if status != PhaseStatus.COMPLETED:
                await self._attempt(session, phase)
            review = await self._reviewed(session, phase)
            if review["decision"] != Action.RETRY_WITH_CHANGES:
                return

    async def _attempt(self, session: Session, phase: Phase) -> None:
        """Runs the agents of a phase side by side; each may read the phases before, and what was asked for."""
        earlier = [text for outputs in session.outputs().values() for text in outputs.values()]
        async with session.phase(phase.number) as run:
            self._watcher.phase_started(phase, run.retry_count + 1)
            changes = run.request["requested_changes"] if run.request else []
            prompt = "\n\n".join([story.IDEA, *earlier, *changes])
            agents = phase.agents_in(story.MODE)
            await asyncio.gather(*(self._agent(run, name, prompt) for name in agents))
        self._watcher.phase_done(phase, self._checkpoint(session, phase))

    async def _agent(self, run: PhaseRun, name: str, prompt: str) -> None:
        self._watcher.agent_started(name)
        async with run.agent(name, model=story.MODEL) as agent:
            await asyncio.sleep(story.thinking(name) * self._pace)
            request = run.request if run.number in self._gates else None  # the scripted reviewer's has its own text
            answer = story.answer(name, run.retry_count + 1, prompt, request)
            agent.write(
                answer.text,
                input_tokens=answer.input_tokens,
                output_tokens=answer.output_tokens,
                cost=answer.cost,
            )
        self._watcher.agent_done(name, answer)

    async def _reviewed(self, session: Session, phase: Phase) -> ReviewRecord:
        """Returns the review of a phase that has run, after waiting for it if the phase has a gate."""
        before = session.review(phase.number)
        if before["decision"] is not None or (self._gates and phase.number not in self._gates):
            return before
        if phase.number in self._gates:
            self._watcher.waiting(phase, before)
            review = await self._decided_by_a_person(session, phase)
        else:
            review = self._decided_by_the_script(session, phase)
        self._watcher.reviewed(phase, review)
        return review

    async def _decided_by_a_person(self, session: Session, phase: Phase) -> ReviewRecord:
        told = ""
        while True:
            try:
                return await session.wait_for_review_async(phase.number, timeout=_SPELL)
            except ReviewTimeout:
                told = ""
            except InvalidInput as error:
                if str(error) != told:
                    self._watcher.misunderstood(phase, error)
                told = str(error)

    def _decided_by_the_script(self, session: Session, phase: Phase) -> ReviewRecord:
        attempt = self._checkpoint(session, phase)["retry_count"] + 1
        decision = self._review(phase.number, attempt)
        self.sessions.save_user_feedback(
            session.project_id,
            session.session_id,
            phase.number,
            reviewed=True,
            approved=decision.action is Action.APPROVED,
            comments=decision.comments,
            requested_changes=list(decision.requested_changes),
            action=decision.action.value,
        )
        return session.review(phase.number)

    def _checkpoint(self, session: Session, phase: Phase) -> CheckpointRecord:
        return self.sessions.load_checkpoint(session.project_id, session.session_id, phase.number)

    def _complete(self, session: Session) -> SessionResult:
        """Closes the session with what its last completed phase wrote: a reviewer may have left out the last one."""
        texts = list(session.outputs().values())[-1]
        requirements = "\n\n".join(texts.values())
        return self.projects.complete_session(session.project_id, session.session_id, requirements)


def _person() -> Person:
    return user_identity() or story.REVIEWER
