"""Random sequences of saves, edits, decisions and crashes against a model that knows only the rules.

The rules, in full: an approval holds for the content it was given for; a phase is approved if it is completed (or was
never reported), nobody's decision about its present content is anything but an approval, and as many people as it
asks for, in the roles it asks for, approved within the time that approvals hold. Whoever sent a phase back may change
their mind: approved, it is completed again. Behind a required phase that is neither approved nor skipped, and in one
that was sent back once too often, nothing is written.

A crash leaves open how much of an operation happened; then the model holds all worlds that there may be, until it
sees which one it is.
"""

import copy
import os
import random
import signal
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from haytham import GateClosed, NotFound
from haytham.storage.history import Person
from tests.evidence import is_sound
from tests.review.desk import AGENTS, AT, FAST, STYLES, Desk
from tests.trials import count

PEOPLE = ("Ada", "Bob", "Eve")
ACTIONS = ("approved", "approved", "approved", "retry_with_changes", "skip_phase")
MAX_RETRIES = 2
HOLDS = timedelta(days=30)  # phase 2

phases = st.sampled_from([1, 2, 2, 2, 3])
people = st.sampled_from(PEOPLE)
actions = st.sampled_from(ACTIONS)
roles = st.sampled_from([None, "legal"])
kills = st.sampled_from([False, False, True])


@dataclass(kw_only=True)
class Decision:
    """What one person said, about which content, when."""

    action: str
    content: str | None
    role: str | None
    time: datetime
    is_last: bool = False  # sent back once too often


@dataclass(kw_only=True)
class Model:
    """One phase by the rules; its content is the text of its one output, if it has one."""

    number: int
    status: str = "pending"
    content: str | None = None
    has_form: bool = False
    about: str | None = None  # which content the form is about
    retries: int = 0
    decisions: dict[str, Decision] = field(default_factory=dict)
    in_form: str | None = None  # whose decision stands in the form
    is_exhausted: bool = False  # sent back once too often

    @property
    def is_single(self) -> bool:
        """Whether one person is enough."""
        return self.number != 2

    def said(self) -> list[tuple[str, Decision]]:
        """Returns who decided what about the present content."""
        return [(name, each) for name, each in self.decisions.items() if each.content == self.content]

    def lacks_nothing(self, now: datetime, wanted: str = "approved") -> bool:
        """Tells whether the decisions are enough."""
        said = [each for _, each in self.said()]
        if any(each.action != wanted for each in said):
            return False
        if self.is_single:
            return len(said) == 1
        held = [each for each in said if now - each.time <= HOLDS]
        return len(held) >= 2 and any(each.role == "legal" for each in held)

    def is_approved(self, now: datetime) -> bool:
        """Tells whether the present content is approved."""
        return self.status in {"completed", "pending"} and self.lacks_nothing(now)

    def note(self, person: str, decision: Decision) -> None:
        """Keeps a decision: the only one, or one of several."""
        if self.is_single:
            self.decisions.clear()
        self.decisions[person] = decision

    def show(self, person: str, decision: Decision, now: datetime) -> None:
        """Puts a decision into the form; while more approvals are missing, the form is for the next one."""
        self.has_form, self.about = True, decision.content
        is_done = self.is_single or decision.action != "approved" or self.lacks_nothing(now)
        self.in_form = person if is_done else None

    def follow(self, decision: Decision, now: datetime) -> None:
        """Does what follows from a decision, if the phase has been reported at all."""
        if self.status != "pending" and decision.action == "skip_phase":
            if self.is_single or self.lacks_nothing(now, "skip_phase"):
                self.status, self.is_exhausted = "skipped", False
        elif decision.action == "approved" and (self.status == "requires_retry" or self.is_exhausted):
            if self.lacks_nothing(now):
                self.status, self.is_exhausted = "completed", False
        elif self.status != "pending" and decision.action == "retry_with_changes":
            self.is_exhausted = self.retries >= MAX_RETRIES
            self.status = "failed" if self.is_exhausted else "requires_retry"
            for each in self.decisions.values():
                each.is_last = each.is_last or (each == decision and self.status == "failed")

    def report(self, status: str) -> None:
        """Takes in how an orchestrator says the phase stands."""
        self.retries += self.status == "requires_retry"
        self.status = status

    def ask(self) -> None:
        """Issues the form for a completed phase, unless there is one that is about this and not rejected."""
        held = self.decisions.get(self.in_form or "")
        is_rejected = held is not None and held.action != "approved"
        if not self.has_form or self.about != self.content or is_rejected:
            self.has_form, self.about, self.in_form = True, self.content, None
            if self.is_single:
                self.decisions.clear()

    def settle(self, now: datetime) -> None:
        """Takes in what was done by hand to the output, and that approvals grow old."""
        held = self.decisions.get(self.in_form or "")
        if self.status == "completed" and self.has_form and self.about != self.content:
            self.ask()
        elif self.status == "completed" and held and not self.is_single and now - held.time > HOLDS:
            self.in_form = None


World = dict[int, Model]
Operation = Callable[[Desk], None]
Effect = Callable[[Model, datetime], None]  # a step of an operation on one phase


class Reviews(RuleBasedStateMachine):
    """A session under review, and the worlds it may be in."""

    @initialize(is_ahead=st.booleans())
    def start(self, *, is_ahead: bool) -> None:
        """Makes a fresh session, or one that waits for the review of the phase that asks for two."""
        self.folder = tempfile.TemporaryDirectory(dir=FAST)
        self.desk = Desk(Path(self.folder.name) / "projects")
        self.desk.clock.step = timedelta(0)
        self.worlds: list[World] = [{number: Model(number=number) for number in (1, 2, 3)}]
        self.texts = 0
        self.unseen: set[int] = set()  # phases with a decision in the form that nobody has looked at
        if is_ahead:
            self.complete_at_once(1, kill=False)
            self.decide(1, "Ada", "skip_phase", None, kill=False)
            self.complete_at_once(2, kill=False)

    def teardown(self) -> None:
        """Looks at the repository once more."""
        if hasattr(self, "desk"):
            assert is_sound(self.desk.folder)
            self.folder.cleanup()

    # Orchestrators

    @rule(phase=phases, kill=kills)
    def write(self, phase: int, *, kill: bool) -> None:
        """Saves an output."""
        self.texts += 1
        text = f"text {self.texts}\n"

        def write(model: Model, _: datetime) -> None:
            model.content = text

        def ask(model: Model, _: datetime) -> None:
            if model.status == "completed":
                model.ask()

        self._gated(phase, lambda desk: desk.write(phase, text), [write, ask], kill=kill)

    @rule(phase=phases, kill=kills)
    def complete(self, phase: int, *, kill: bool) -> None:
        """Reports a phase as completed."""
        steps: list[Effect] = [lambda model, _: model.ask(), lambda model, _: model.report("completed")]
        self._gated(phase, lambda desk: desk.complete(phase), steps, kill=kill)

    @rule(phase=phases, kill=kills)
    def complete_at_once(self, phase: int, *, kill: bool) -> None:
        """Completes a phase with its output in one call."""
        self.texts += 1
        text = f"text {self.texts}\n"

        def write(model: Model, _: datetime) -> None:
            model.content = text

        steps: list[Effect] = [write, lambda model, _: model.ask(), lambda model, _: model.report("completed")]
        given = [{"agent_name": AGENTS[phase], "output_content": text}]
        self._gated(phase, lambda desk: desk.manager.complete_phase(*AT, phase, given), steps, kill=kill)

    @rule(phase=phases, status=st.sampled_from(["in_progress", "in_progress", "failed"]))
    def report(self, phase: int, status: str) -> None:
        """Starts a phase, or reports that it failed."""
        steps: list[Effect] = [lambda model, _: model.report(status)]
        self._gated(phase, lambda desk: desk.complete(phase, status), steps, kill=False)

    # People

    @rule(phase=phases, person=people, action=actions, role=roles, kill=kills)
    def decide(self, phase: int, person: str, action: str, role: str | None, *, kill: bool) -> None:
        """Decides through the API."""
        asked = role if phase == 2 else None
        steps = self._decision(person, action, asked, lambda model: model.content)
        self._do(phase, lambda desk: desk.decide(phase, action, reviewer=person, role=asked), steps, kill=kill)

    @rule(
        phase=phases,
        person=people,
        action=actions,
        role=roles,
        style=st.sampled_from(sorted(STYLES)),
        is_named=st.booleans(),
        is_seen=st.booleans(),
    )
    def decide_in_the_form(
        self, phase: int, person: str, action: str, role: str | None, style: str, *, is_named: bool, is_seen: bool
    ) -> None:
        """Decides in an editor, with the name in the form or left to git; somebody looks soon, or later."""
        if not self.desk.form(phase).exists():
            return
        if phase in self.unseen:
            self._look()  # or else one person would overwrite what another has just decided
        before = self.desk.form(phase).read_bytes()
        is_fresh = b"Reviewer: -" in before
        self.desk.identity = Person(name=person, email=f"{person.lower()}@example.org")
        name = person if is_named or not is_fresh else "-"
        self.desk.edit(phase, action, reviewer=name, role=role or "-", style=style)
        if self.desk.form(phase).read_bytes() == before:
            return
        for world in self.worlds:
            model, now = world[phase], self.desk.clock.present
            assert model.has_form
            if action != "approved" or model.about == model.content:
                for step in self._decision(person, action, role, lambda model: model.about):
                    step(model, now)
        self.unseen.add(phase)
        self.approved_phases_are_those_of_the_rules()
        if is_seen or name == "-" or not is_fresh:  # else a later rule may change who git says the user is
            self._look()

    @rule(phase=phases)
    def edit_an_output(self, phase: int) -> None:
        """Changes an output by hand; nobody looks yet."""
        path = self.desk.output(phase)
        if path.exists():
            self._look()
            path.write_bytes(path.read_bytes() + b"by hand\n")
            for world in self.worlds:
                world[phase].content = f"{world[phase].content}by hand\n"

    @rule()
    def look(self) -> None:
        """Somebody asks how the session stands."""
        self._look()

    @rule(days=st.sampled_from([1, 16, 31]))
    def wait(self, days: int) -> None:
        """Lets time go by."""
        self._look()
        self.desk.pass_days(days)

    @rule()
    def reopen(self) -> None:
        """Opens the session in another process, so to say."""
        self.desk = self.desk.reopened()
        self._look()

    @invariant()
    def approved_phases_are_those_of_the_rules(self) -> None:
        """What the manager says is what the rules say, in a world that is possible."""
        if not hasattr(self, "desk"):
            return
        found = self.desk.approved()
        now = self.desk.clock.present
        expected = [[number for number, model in world.items() if model.is_approved(now)] for world in self.worlds]
        assert found in expected, f"{found} is none of {expected}: {self.worlds}"
        self.worlds = [world for world, each in zip(self.worlds, expected, strict=True) if each == found]

    # Steps

    @staticmethod
    def _decision(person: str, action: str, role: str | None, about: Callable[[Model], str | None]) -> list[Effect]:
        def made(model: Model, now: datetime) -> Decision:
            return Decision(action=action, content=about(model), role=role, time=now)

        return [
            lambda model, now: model.note(person, made(model, now)),
            lambda model, now: model.show(person, made(model, now), now),
            lambda model, now: model.follow(made(model, now), now),
        ]

    def _look(self) -> None:
        """Lets the manager take in what was done by hand, and compares all that it tells."""
        self.desk.manager.load_session(*AT)
        self.unseen.clear()
        for world in self.worlds:
            for model in world.values():
                model.settle(self.desk.clock.present)
        found = {number: self._seen(number) for number in (1, 2, 3)}
        worlds = [world for world in self.worlds if {n: _told(model) for n, model in world.items()} == found]
        told = [{n: _told(model) for n, model in world.items()} for world in self.worlds]
        assert worlds, f"{found} is none of {told}"
        self.worlds = worlds[:1] if all(world == worlds[0] for world in worlds) else worlds

    def _seen(self, phase: int) -> tuple[object, ...]:
        manager = self.desk.manager
        status = manager.load_session(*AT)["phase_statuses"][phase]
        text = manager.get_phase_outputs(*AT, [phase])[phase].get(AGENTS[phase])
        try:
            retries = manager.load_checkpoint(*AT, phase)["retry_count"]
        except NotFound:
            retries = 0
        try:
            review = manager.review(*AT, phase)
        except NotFound:
            return status, text, retries, None
        decided = {(each["reviewer"], each["decision"], each["role"]) for each in review["decisions"]}
        return status, text, retries, frozenset(decided)

    def _gated(self, phase: int, operation: Operation, steps: list[Effect], *, kill: bool) -> None:
        """Does what is refused behind a closed gate."""
        if len(self.worlds) > 1:
            self._look()
        now = self.desk.clock.present
        is_open = {_may_run(world, phase, now) for world in self.worlds}
        if is_open == {True}:
            self._do(phase, operation, steps, kill=kill)
            return
        try:
            operation(self.desk)
        except GateClosed:
            assert False in is_open
            self.worlds = [world for world in self.worlds if not _may_run(world, phase, now)]
            return
        raise AssertionError(f"phase {phase} went through a closed gate: {self.worlds}")

    def _do(self, phase: int, operation: Operation, steps: list[Effect], *, kill: bool) -> None:
        worlds = [copy.deepcopy(self.worlds)]
        for step in steps:
            worlds.append(copy.deepcopy(worlds[-1]))
            for world in worlds[-1]:
                step(world[phase], self.desk.clock.present)
        if kill:
            self._killed(operation)
            self.worlds = [world for each in worlds for world in each]
            self.desk = self.desk.reopened()
            self._look()
        else:
            operation(self.desk)
            self.worlds = worlds[-1]

    def _killed(self, operation: Operation) -> None:
        """Does it in a child that is killed in the middle, or at its end."""
        child = os.fork()
        if child == 0:
            try:
                operation(self.desk)
            finally:
                os._exit(0)
        time.sleep(random.uniform(0, 0.02))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def _may_run(world: World, phase: int, now: datetime) -> bool:
    return all(_passes(world[n], now) for n in (1, 2) if n < phase) and not world[phase].is_exhausted


def _passes(model: Model, now: datetime) -> bool:
    return model.status == "skipped" or (model.status == "completed" and model.lacks_nothing(now))


def _told(model: Model) -> tuple[object, ...]:
    """Returns what the manager should tell about a phase."""
    decided = frozenset((name, _recorded(model, each), each.role) for name, each in model.said())
    return model.status, model.content, model.retries, decided if model.has_form else None


def _recorded(model: Model, decision: Decision) -> str:
    return "max_retries_exceeded" if decision.is_last else decision.action


TestReviews = Reviews.TestCase
TestReviews.settings = settings(
    max_examples=count(smoke=20, release=500),
    stateful_step_count=count(smoke=20, release=30),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
)
