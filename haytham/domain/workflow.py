"""A workflow: which phases there are, in which modes, by which agents, under which reviews."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from haytham.domain import suggestions
from haytham.domain.choices import ReviewPolicy
from haytham.domain.errors import InvalidInput
from haytham.domain.journal_policy import JournalPolicy, policy_of


@dataclass(frozen=True, kw_only=True, slots=True)
class Approvals:
    """Whose approval a phase asks for: how many people, in which roles, and for how long it holds."""

    minimum: int = 1
    roles: tuple[str, ...] = ()
    expires_after_days: float | None = None

    @property
    def is_single(self) -> bool:
        """Whether one person's decision is enough, whoever they are."""
        return self.minimum == 1 and not self.roles


@dataclass(frozen=True, kw_only=True, slots=True)
class Phase:
    """One step of a workflow."""

    number: int
    name: str
    folder: str
    agents: tuple[str, ...]
    agents_by_mode: Mapping[str, tuple[str, ...]]
    review: ReviewPolicy
    approvals: Approvals = Approvals()

    def agents_in(self, mode: str) -> tuple[str, ...]:
        """Returns the agents that this phase is meant to run in a mode."""
        return self.agents_by_mode.get(mode, self.agents)


@dataclass(frozen=True, kw_only=True, slots=True)
class Workflow:
    """A workflow definition; `source` is the text of the file it was read from."""

    name: str
    title: str
    max_retries: int
    default_mode: str
    phases: tuple[Phase, ...]
    modes: Mapping[str, tuple[int, ...]]
    source: str
    journal: JournalPolicy = field(default_factory=JournalPolicy)

    @property
    def agents(self) -> frozenset[str]:
        """The agents of all phases in all modes."""
        groups = [each for phase in self.phases for each in (phase.agents, *phase.agents_by_mode.values())]
        return frozenset(name for group in groups for name in group)

    def phases_in(self, mode: str) -> tuple[Phase, ...]:
        """Returns the phases of a mode in their order; raises InvalidInput for an unknown mode."""
        self.check_mode(mode)
        return tuple(phase for phase in self.phases if phase.number in self.modes[mode])

    def check_mode(self, mode: object) -> str:
        """Returns the mode if this workflow has it; raises InvalidInput otherwise."""
        if not isinstance(mode, str) or mode not in self.modes:
            hint = suggestions.allowed(str(mode), self.modes)
            raise InvalidInput(f"execution mode is {mode!r}, which workflow {self.name!r} does not have.", hint=hint)
        return mode

    def phase(self, number: object, mode: str) -> Phase:
        """Returns a phase of a mode; raises InvalidInput if the number is none or is outside the mode."""
        is_number = isinstance(number, int) and not isinstance(number, bool)
        for phase in self.phases_in(mode):
            if is_number and phase.number == number:
                return phase
        numbers = ", ".join(str(each) for each in self.modes[mode])
        elsewhere = is_number and any(phase.number == number for phase in self.phases)
        reason = f"which mode {mode!r} leaves out" if elsewhere else "which this workflow does not have"
        raise InvalidInput(f"phase number is {number!r}, {reason}.", hint=f"phases of mode {mode!r}: {numbers}.")

    def following(self, phase: Phase, mode: str) -> Phase | None:
        """Returns the phase behind this one in a mode, or None at the end."""
        later = [each for each in self.phases_in(mode) if each.number > phase.number]
        return later[0] if later else None

    def with_reviews(self, policies: Mapping[str, str]) -> "Workflow":
        """Returns the workflow with other review policies for some phases, by their numbers as text."""
        if not policies:
            return self
        phases = tuple(
            replace(phase, review=ReviewPolicy(policies.get(str(phase.number), phase.review))) for phase in self.phases
        )
        return replace(self, phases=phases)

    def preceding(self, phase: Phase, mode: str) -> tuple[Phase, ...]:
        """Returns the phases before this one in a mode."""
        return tuple(each for each in self.phases_in(mode) if each.number < phase.number)


def workflow_of(value: Mapping[str, Any], source: str) -> Workflow:
    """Builds a workflow from a value that its schema has accepted; raises InvalidInput for broken references."""
    phases = tuple(sorted((_phase_of(each) for each in value["phases"]), key=lambda phase: phase.number))
    modes = {mode: tuple(sorted(numbers)) for mode, numbers in value["modes"].items()}
    workflow = Workflow(
        name=value["name"],
        title=value["title"],
        max_retries=value.get("max_retries", 3),
        default_mode=value.get("default_mode", next(iter(modes))),
        phases=phases,
        modes=modes,
        source=source,
        journal=policy_of(value.get("journal", {})),
    )
    _check_references(workflow)
    return workflow


def _phase_of(value: Mapping[str, Any]) -> Phase:
    return Phase(
        number=value["number"],
        name=value["name"],
        folder=value["folder"],
        agents=tuple(value["agents"]),
        agents_by_mode={mode: tuple(names) for mode, names in value.get("agents_by_mode", {}).items()},
        review=ReviewPolicy(value.get("review", ReviewPolicy.OPTIONAL)),
        approvals=_approvals_of(value.get("approvals", {})),
    )


def _approvals_of(value: Mapping[str, Any]) -> Approvals:
    roles = tuple(value.get("roles", ()))
    return Approvals(
        minimum=max(value.get("minimum", 1), len(roles)),
        roles=roles,
        expires_after_days=value.get("expires_after_days"),
    )


def _check_references(workflow: Workflow) -> None:
    where = f"workflow {workflow.name!r}"
    numbers = [phase.number for phase in workflow.phases]
    folders = [phase.folder.casefold() for phase in workflow.phases]
    if len(set(numbers)) != len(numbers):
        raise InvalidInput(f"{where} has two phases of one number.", hint=f"numbers: {numbers}.")
    if len(set(folders)) != len(folders):
        raise InvalidInput(f"{where} has two phases in one folder.", hint=f"folders: {folders}.")
    for mode, chosen in workflow.modes.items():
        if missing := sorted(set(chosen) - set(numbers)):
            raise InvalidInput(f"{where}: mode {mode!r} names phase {missing[0]}, which is not defined.")
    workflow.check_mode(workflow.default_mode)
    for phase in workflow.phases:
        for mode in phase.agents_by_mode:
            workflow.check_mode(mode)
