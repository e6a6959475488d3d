"""Plays the story: a new project, a session, its phases with their reviews, the result.

Prints nothing: a watcher is told what happens. Who reviews is passed in, so that a person can take the seat.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from haytham.checkpoint.checkpoint_manager import CheckpointManager
from haytham.demo import story
from haytham.demo.story import Answer, Decision
from haytham.domain.choices import Action, PhaseStatus
from haytham.domain.records import CheckpointRecord, SessionResult
from haytham.domain.workflow import Phase
from haytham.project.project_manager import ProjectManager
from haytham.session.handle import PhaseRun, Session

Review = Callable[[int, int], Decision]  # phase number, attempt


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

    def reviewed(self, phase: Phase, decision: Decision) -> None:
        """A decision about a phase is saved and committed."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Ending:
    """What a performance leaves behind."""

    project_id: str
    session_id: str
    folder: Path
    result: SessionResult
    sent_back: tuple[str, ...]  # the folders of the phases that a review sent back


class Performance:
    """One run of the story, in a project of its own."""

    def __init__(self, base_dir: Path, watcher: Watcher, *, review: Review = story.review, pace: float = 1.0) -> None:
        self.projects = ProjectManager(base_dir)
        self.sessions = CheckpointManager(base_dir, identity=lambda: story.REVIEWER)
        self._watcher = watcher
        self._review = review
        self._pace = pace
        self._sent_back: list[str] = []

    async def run(self) -> Ending:
        """Plays the whole story."""
        project = self.projects.create_project(story.USER, story.IDEA, story.NAME, story.MODE)
        start = self.projects.start_session(project["project_id"], story.WORKFLOW)
        session = Session(self.sessions, start["project_id"], start["session_id"])
        phases = self.sessions.workflow(story.WORKFLOW).phases_in(story.MODE)
        folder = Path(start["path"])
        self._watcher.started(start["project_id"], start["session_id"], folder, len(phases))
        for phase in phases:
            await self._until_accepted(session, phase)
        result = self._complete(session, phases[-1])
        return Ending(
            project_id=start["project_id"],
            session_id=start["session_id"],
            folder=folder,
            result=result,
            sent_back=tuple(self._sent_back),
        )

    async def _until_accepted(self, session: Session, phase: Phase) -> None:
        attempt, changes = 1, list[str]()
        while True:
            await self._attempt(session, phase, attempt, changes)
            decision = self._review(phase.number, attempt)
            self._save_review(session, phase, decision, attempt)
            if decision.action is not Action.RETRY_WITH_CHANGES:
                return
            self._send_back(session, phase)
            feedback = self.sessions.load_feedback(session.project_id, session.session_id, phase.number)
            attempt, changes = attempt + 1, feedback["requested_changes"]

    async def _attempt(self, session: Session, phase: Phase, attempt: int, changes: list[str]) -> None:
        """Runs the agents of a phase side by side; each may read the phases before, and what was asked for."""
        earlier = [text for outputs in session.outputs().values() for text in outputs.values()]
        prompt = "\n\n".join([story.IDEA, *earlier, *changes])
        self._watcher.phase_started(phase, attempt)
        async with session.phase(phase.number) as run:
            agents = phase.agents_in(story.MODE)
            await asyncio.gather(*(self._agent(run, name, attempt, prompt) for name in agents))
        checkpoint = self.sessions.load_checkpoint(session.project_id, session.session_id, phase.number)
        self._watcher.phase_done(phase, checkpoint)

    async def _agent(self, run: PhaseRun, name: str, attempt: int, prompt: str) -> None:
        self._watcher.agent_started(name)
        async with run.agent(name, model=story.MODEL) as agent:
            await asyncio.sleep(story.thinking(name) * self._pace)
            answer = story.answer(name, attempt, prompt)
            agent.write(
                answer.text,
                input_tokens=answer.input_tokens,
                output_tokens=answer.output_tokens,
                cost=answer.cost,
            )
        self._watcher.agent_done(name, answer)

    def _save_review(self, session: Session, phase: Phase, decision: Decision, attempt: int) -> None:
        self.sessions.save_user_feedback(
            session.project_id,
            session.session_id,
            phase.number,
            reviewed=True,
            approved=decision.action is Action.APPROVED,
            comments=decision.comments,
            requested_changes=list(decision.requested_changes),
            action=decision.action.value,
            retry_count=attempt - 1,
        )
        self._watcher.reviewed(phase, decision)

    def _send_back(self, session: Session, phase: Phase) -> None:
        before = self.sessions.load_checkpoint(session.project_id, session.session_id, phase.number)
        self.sessions.save_checkpoint(
            session.project_id,
            session.session_id,
            phase.number,
            status=PhaseStatus.REQUIRES_RETRY.value,
            agents=[dict(agent) for agent in before["agents"]],
            started=before["started"],
            completed=before["completed"],
            duration=before["duration"],
            retry_count=before["retry_count"],
            execution_mode=before["execution_mode"],
        )
        self._sent_back.append(phase.folder)

    def _complete(self, session: Session, last: Phase) -> SessionResult:
        texts = session.outputs([last.number])[last.number]
        requirements = "\n\n".join(texts.values())
        return self.projects.complete_session(session.project_id, session.session_id, requirements)
