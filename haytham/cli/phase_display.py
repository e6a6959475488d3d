"""How a phase stands that a person runs by hand.

`--json` prints: form "haytham.phase", version 1, project_id, session_id, phase_num, phase_name, status, attempt,
folder, agents, policy, form_path (null before there is one), requested_changes and comments (of the review that sent it
back).
"""

from typing import Any

from haytham.cli import hints, json_output, terminal
from haytham.cli.target import Target
from haytham.domain.choices import PhaseStatus, ReviewPolicy
from haytham.domain.workflow import Phase


def show(target: Target, phase: Phase, *, as_json: bool) -> None:
    """Prints how the phase stands, and what to type next."""
    value = _value(target, phase)
    if as_json:
        json_output.emit("phase", {**target.form_ids(), **value})
        return
    console = terminal.screen()
    text = f"{phase.number} {phase.name}, attempt {value['attempt']}: "
    terminal.facts(
        console,
        [
            ("Phase", terminal.joined([terminal.styled(text), terminal.word(value["status"])], "")),
            ("Agents", ", ".join(value["agents"]) or "-"),
            *(("Change" if not i else "", each) for i, each in enumerate(value["requested_changes"])),
            *([("Comment", value["comments"])] if value["comments"] else []),
        ],
    )
    terminal.plain(console, value["folder"])
    terminal.show(console)
    for line in _what_next(phase, value):
        terminal.plain(console, hints.runnable(line))


def _value(target: Target, phase: Phase) -> dict[str, Any]:
    checkpoint = target.manager.load_checkpoint(*target.ids, phase.number)
    request = target.manager.retry_request(*target.ids, phase.number)
    form = target.form(phase)
    mode = target.manager.load_session(*target.ids)["execution_mode"]
    ran = [agent["agent_name"] for agent in checkpoint["agents"]]
    return {
        "phase_num": phase.number,
        "phase_name": phase.name,
        "status": checkpoint["status"],
        "attempt": checkpoint["retry_count"] + 1,
        "folder": str(form.parent),
        "agents": ran or list(phase.agents_in(mode)),
        "policy": phase.review.value,
        "form_path": str(form) if form.exists() else None,
        "requested_changes": request["requested_changes"] if request else [],
        "comments": request["comments"] if request else "",
    }


def _what_next(phase: Phase, value: dict[str, Any]) -> list[str]:
    if value["status"] == PhaseStatus.IN_PROGRESS:
        outputs = "".join(f" -o {agent}=FILE" for agent in value["agents"]) or " -o FILE"
        return ["Save what was written:", f"haytham complete {phase.number}{outputs}"]
    if phase.review is ReviewPolicy.NONE:
        return ["What to do: haytham next"]
    return [f"Read it: haytham show {phase.number}", f"Decide about it: haytham review {phase.number}"]
