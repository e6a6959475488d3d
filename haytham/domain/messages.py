"""What commits say: a subject for people, trailers for machines."""

import re
from collections.abc import Mapping
from typing import Any

from haytham.domain.choices import Action, PhaseStatus
from haytham.domain.workflow import Phase

Value = Mapping[str, Any]

PARENT = "Haytham-Parent"

_TRAILER = re.compile(r"[A-Za-z-]+: ")


def message(subject: str, body: str = "", trailers: Mapping[str, object] | None = None) -> str:
    """Joins subject, body and trailers; a trailer that is None is left out.

    Subject and trailers are one line each, so that no value can add a trailer of its own.
    """
    return _joined(subject, body, {f"Haytham-{key}": value for key, value in (trailers or {}).items()})


def phase(phase_: Phase, checkpoint: Value, content: str, *, recovered: bool = False) -> str:
    """Tells that a phase reached a status."""
    status = PhaseStatus(checkpoint["metadata"]["status"])
    trailers = {
        "Phase": phase_.number,
        "Status": status.value,
        "Attempt": checkpoint["metadata"]["retry_count"] + 1,
        "Content": content,
        "Recovered": "yes" if recovered else None,
    }
    words = {PhaseStatus.REQUIRES_RETRY: "sent back for another attempt"}.get(status, status.value.replace("_", " "))
    return message(f"{_title(phase_)} {words}", _summary(checkpoint), trailers)


def output(phase_: Phase, agent: str, content: str) -> str:
    """Tells that an output came after its phase had been reported."""
    trailers = {"Phase": phase_.number, "Agent": agent, "Content": content}
    return message(f"{_title(phase_)}: output of {agent}", trailers=trailers)


def review(phase_: Phase, feedback: Value, reviewed_by: str) -> str:
    """Tells what a review decided, about which content."""
    action = feedback["action"]["action"]
    verbs = {
        Action.APPROVED: "approved",
        Action.RETRY_WITH_CHANGES: "needs changes",
        Action.SKIP_PHASE: "is to be skipped",
        Action.MAX_RETRIES_EXCEEDED: "has used up its attempts",
        None: "review noted",
    }
    changes = len(feedback["requested_changes"])
    body = f"{changes} requested change{'s' if changes != 1 else ''}" if changes else ""
    trailers = {
        "Haytham-Phase": phase_.number,
        "Haytham-Attempt": feedback["subject"]["attempt"],
        "Haytham-Decision": action,
        "Haytham-Content": feedback["subject"]["content"],
        "Haytham-Role": feedback["review"]["role"],
        "Reviewed-by": reviewed_by if action else None,
    }
    return _joined(f"{_title(phase_)} {verbs[action]}", body, trailers)


def form(phase_: Phase, content: str, why: str) -> str:
    """Tells that a phase asks for a new review."""
    return message(f"{_title(phase_)} asks for a new review", why, {"Phase": phase_.number, "Content": content})


def edit(names: list[str], phase_: Phase | None = None) -> str:
    """Tells that somebody's own edit was put into history as it was found."""
    subject = f"{names[0]} as edited by hand" if len(names) == 1 else f"{len(names)} files as edited by hand"
    return message(
        subject,
        "\n".join(names) if len(names) > 1 else "",
        {"Phase": phase_.number if phase_ else None, "Edited": "yes"},
    )


def after(text: str, parent: str | None) -> str:
    """Adds to a message which commit it follows: one that is moved or put upon another then contradicts itself."""
    if parent is None:
        return text
    *above, last = text.rstrip("\n").split("\n\n")
    is_trailers = bool(above) and all(_TRAILER.match(line) for line in last.split("\n"))
    return f"{text.rstrip(chr(10))}{chr(10) if is_trailers else chr(10) * 2}{PARENT}: {parent}\n"


def figures(duration: float | None) -> str:
    """Writes a duration as hours, minutes, seconds."""
    if duration is None:
        return ""
    whole = round(duration)
    hours, minutes, seconds = whole // 3600, whole // 60 % 60, whole % 60
    parts = [f"{hours}h" if hours else "", f"{minutes}m" if minutes else "", f"{seconds}s"]
    return " ".join(part for part in parts if part)


def duration(seconds: float | None) -> str:
    """Writes a duration for people who compare: with a decimal below a minute, - where it is not known."""
    if seconds is None:
        return "-"
    return figures(seconds) if seconds >= 59.95 else f"{seconds:.1f}s"  # noqa: PLR2004 - what rounds to a minute


def _joined(subject: str, body: str, trailers: Mapping[str, object]) -> str:
    lines = [f"{key}: {_one_line(value)}" for key, value in trailers.items() if value is not None]
    text = "\n\n".join(part for part in (_one_line(subject), body, "\n".join(lines)) if part)
    return "".join(char for char in text if char.isprintable() or char == "\n") + "\n"


def _one_line(value: object) -> str:
    return " ".join(str(value).split())


def _title(phase_: Phase) -> str:
    return f"Phase {phase_.number} {phase_.name}"


def _summary(checkpoint: Value) -> str:
    count, metrics = len(checkpoint["agents"]), checkpoint["metrics"]
    parts = [
        f"{count} agent{'s' if count != 1 else ''}" if count else "",
        f"{metrics['total_tokens']:,} tokens" if metrics["total_tokens"] is not None else "",
        f"${metrics['cost']:.4f}" if metrics["cost"] is not None else "",
        figures(checkpoint["metadata"]["duration"]),
    ]
    first = ", ".join(part for part in parts if part)
    errors = [f"Error: {error.splitlines()[0][:200]}" for error in checkpoint.get("errors", ()) if error.strip()]
    return "\n".join([*([first] if first else []), *errors])
