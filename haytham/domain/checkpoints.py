"""A phase's checkpoint: from what an orchestrator reports to the value of the document, and back."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from haytham.domain import instants, numbers, progress, suggestions
from haytham.domain.choices import ExecutionMode, PhaseStatus, choose
from haytham.domain.errors import InvalidInput
from haytham.domain.identifiers import check_agent_name, check_text
from haytham.domain.records import AgentRecord, CheckpointRecord
from haytham.domain.workflow import Phase

Value = Mapping[str, Any]

_AGENT_KEYS = tuple(AgentRecord.__annotations__)
_RUNS = {PhaseStatus.IN_PROGRESS, PhaseStatus.COMPLETED, PhaseStatus.FAILED}
_FIGURES = ("duration", "tokens", "input_tokens", "output_tokens", "cost")


@dataclass(frozen=True, kw_only=True, slots=True)
class Report:
    """What an orchestrator says about a phase, checked."""

    status: PhaseStatus
    agents: tuple[AgentRecord, ...]
    started: str | None
    completed: str | None
    duration: float | None
    retry_count: int
    execution_mode: ExecutionMode
    errors: tuple[str, ...]


def report(
    status: object,
    agents: object,
    started: object,
    completed: object,
    duration: object,
    retry_count: object,
    execution_mode: object,
    errors: object,
) -> Report:
    """Checks everything that is reported about a phase; raises InvalidInput."""
    return Report(
        status=choose(PhaseStatus, status, "status"),
        agents=_agents(agents),
        started=instants.canonical(started, "started"),
        completed=instants.canonical(completed, "completed"),
        duration=numbers.optional_amount(duration, "duration"),
        retry_count=numbers.check_count(retry_count, "retry_count"),
        execution_mode=choose(ExecutionMode, execution_mode, "execution mode"),
        errors=tuple(check_text(each, "an error") for each in _sequence(errors, "errors")),
    )


def value(phase: Phase, said: Report, inputs: list[dict[str, Any]], following: Phase | None) -> dict[str, Any]:
    """Builds the value of the document."""
    document: dict[str, Any] = {
        "metadata": {
            "phase_number": phase.number,
            "phase_name": phase.name,
            "status": said.status.value,
            "started": said.started,
            "completed": said.completed,
            "duration": said.duration,
            "retry_count": said.retry_count,
            "execution_mode": said.execution_mode.value,
        },
        "agents": {agent["agent_name"]: agent["status"] for agent in said.agents},
        "inputs": inputs,
        "outputs": {a["agent_name"]: a["output_file"] for a in said.agents if a.get("output_file")},
        "metrics": _metrics(said.agents),
        "next_phase": {
            "phase": following.number if following else None,
            "name": following.name if following else None,
        },
    }
    if said.errors:
        document["errors"] = list(said.errors)
    return document


def agents_of(checkpoint: Value) -> list[AgentRecord]:
    """Returns the agents of a checkpoint as they were reported."""
    figures = {row["agent"]: row for row in checkpoint["metrics"]["agent_times"]}
    return [
        AgentRecord(
            agent_name=name,
            status=status,
            output_file=checkpoint["outputs"].get(name),
            **{key: figures.get(name, {}).get(key) for key in _FIGURES},  # type: ignore[typeddict-item]
        )
        for name, status in checkpoint["agents"].items()
    ]


def with_tokens(checkpoint: Value, agent: str, input_tokens: int | None, output_tokens: int | None) -> dict[str, Any]:
    """Fills in the tokens of an agent that its output tells and the checkpoint does not know yet."""
    agents = agents_of(checkpoint)
    for each in agents:
        if each["agent_name"] == agent:
            each["input_tokens"] = input_tokens if each.get("input_tokens") is None else each["input_tokens"]
            each["output_tokens"] = output_tokens if each.get("output_tokens") is None else each["output_tokens"]
    return {**checkpoint, "metrics": _metrics(agents)}


def next_attempt(said: Report, before: Value | None) -> Report:
    """Counts attempts, whether the orchestrator does or not: one more after being sent back, and never fewer."""
    if before is None:
        return said
    used = before["metadata"]["retry_count"]
    is_new = said.status in _RUNS and is_sent_back(before)
    return replace(said, retry_count=max(said.retry_count, used + is_new))


def timed(said: Report, before: Value | None, now: datetime) -> Report:
    """Fills in the times of a phase that is under way, where the report names none: from its start until now."""
    started = before["metadata"]["started"] if before else None
    is_running = before is not None and before["metadata"]["status"] == PhaseStatus.IN_PROGRESS
    if not is_running or not started or said.started or said.completed or said.duration is not None:
        return said
    taken = max(0.0, (now - instants.parse(started, "started")).total_seconds())
    return replace(said, started=started, completed=instants.text_of(now), duration=taken)


def is_sent_back(checkpoint: Value) -> bool:
    """Tells whether a reviewer, or an orchestrator, asked for another attempt, be there one left or not."""
    return checkpoint["metadata"]["status"] == PhaseStatus.REQUIRES_RETRY or is_exhausted(checkpoint)


def is_exhausted(checkpoint: Value) -> bool:
    """Tells whether a phase failed because it was sent back once more than it may be tried again."""
    is_failed = checkpoint["metadata"]["status"] == PhaseStatus.FAILED
    return is_failed and _exhaustion(checkpoint) in checkpoint.get("errors", ())


def with_status(checkpoint: Value, status: PhaseStatus) -> dict[str, Any]:
    """Returns a checkpoint in another status; what its attempts had to do with the old one is forgotten."""
    changed = {**checkpoint, "metadata": {**checkpoint["metadata"], "status": status.value}}
    errors = [each for each in checkpoint.get("errors", ()) if each != _exhaustion(checkpoint)]
    changed.pop("errors", None)
    return {**changed, "errors": errors} if errors else changed


def exhausted(checkpoint: Value) -> dict[str, Any]:
    """Returns a checkpoint that has failed because its attempts are used up, and says so."""
    failed = with_status(checkpoint, PhaseStatus.FAILED)
    return {**failed, "errors": [*failed.get("errors", ()), _exhaustion(checkpoint)]}


def _exhaustion(checkpoint: Value) -> str:
    return f"max_retries_exceeded: {checkpoint['metadata']['retry_count']} retries"


def record(checkpoint: Value) -> CheckpointRecord:
    """Returns what `load_checkpoint` tells."""
    metadata, metrics = checkpoint["metadata"], checkpoint["metrics"]
    return CheckpointRecord(
        phase_num=metadata["phase_number"],
        phase_name=metadata["phase_name"],
        status=metadata["status"],
        started=metadata["started"],
        completed=metadata["completed"],
        duration=metadata["duration"],
        retry_count=metadata["retry_count"],
        execution_mode=metadata["execution_mode"],
        agents=agents_of(checkpoint),
        inputs=[dict(row) for row in checkpoint["inputs"]],
        next_phase=checkpoint["next_phase"]["phase"],
        errors=list(checkpoint.get("errors", ())),
        total_tokens=metrics["total_tokens"],
        input_tokens=metrics["input_tokens"],
        output_tokens=metrics["output_tokens"],
        cost=metrics["cost"],
    )


def _metrics(agents: Sequence[AgentRecord]) -> dict[str, Any]:
    return {
        "total_tokens": progress.total(_tokens(agent) for agent in agents),
        "input_tokens": progress.total(agent.get("input_tokens") for agent in agents),
        "output_tokens": progress.total(agent.get("output_tokens") for agent in agents),
        "cost": progress.total(agent.get("cost") for agent in agents),
        "agent_times": [{"agent": a["agent_name"], **{key: a.get(key) for key in _FIGURES}} for a in agents],
    }


def _tokens(agent: AgentRecord) -> int | None:
    tokens = agent.get("tokens")
    parts = [each for each in (agent.get("input_tokens"), agent.get("output_tokens")) if each is not None]
    return sum(parts) if tokens is None and parts else tokens


def _agents(agents: object) -> tuple[AgentRecord, ...]:
    checked = tuple(_agent(each) for each in _sequence(agents, "agents"))
    names = [agent["agent_name"].casefold() for agent in checked]
    for name in names:
        if names.count(name) > 1:
            raise InvalidInput(f"agent {name!r} is listed twice.", hint="list each agent of the phase once.")
    return checked


def _agent(agent: object) -> AgentRecord:
    if not isinstance(agent, Mapping):
        raise InvalidInput(f"an agent is {agent!r}; a dict is needed.", hint=f"keys: {', '.join(_AGENT_KEYS)}.")
    for key in agent:
        if key not in _AGENT_KEYS:
            raise InvalidInput(
                f"an agent has the unknown key {key!r}.", hint=suggestions.allowed(str(key), _AGENT_KEYS)
            )
    for key in ("agent_name", "status"):
        if key not in agent:
            raise InvalidInput(f"an agent has no {key!r}.", hint=f"keys: {', '.join(_AGENT_KEYS)}.")
    name = check_agent_name(agent["agent_name"])
    return AgentRecord(
        agent_name=name,
        status=choose(PhaseStatus, agent["status"], f"status of agent {name}").value,
        output_file=_output_file(name, agent.get("output_file")),
        tokens=numbers.optional_count(agent.get("tokens"), f"tokens of agent {name}"),
        input_tokens=numbers.optional_count(agent.get("input_tokens"), f"input_tokens of agent {name}"),
        output_tokens=numbers.optional_count(agent.get("output_tokens"), f"output_tokens of agent {name}"),
        cost=numbers.optional_amount(agent.get("cost"), f"cost of agent {name}"),
        duration=numbers.optional_amount(agent.get("duration"), f"duration of agent {name}"),
    )


def _output_file(name: str, file: object) -> str | None:
    if file is None:
        return None
    if not isinstance(file, str) or not file.endswith(".md"):
        raise InvalidInput(f"output_file of agent {name} is {file!r}.", hint=f'use "{name}.md".')
    check_agent_name(file.removesuffix(".md"))
    return file


def _sequence(values: object, what: str) -> Sequence[object]:
    if values is None:
        return ()
    if isinstance(values, (str, bytes)) or not isinstance(values, Sequence):
        raise InvalidInput(f"{what} is {values!r}; a list is needed.", hint=f"pass {what}=[…], even for one.")
    return values
