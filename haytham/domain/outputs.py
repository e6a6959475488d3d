"""What an agent produced: from what an orchestrator reports to the value of the document."""

from collections.abc import Mapping, Sequence
from typing import Any

from haytham.domain import numbers, suggestions
from haytham.domain.choices import ExecutionMode, PhaseStatus, choose
from haytham.domain.errors import InvalidInput
from haytham.domain.identifiers import check_agent_name, check_text
from haytham.domain.workflow import Phase

_DOCUMENT_KEYS = (
    "agent_name",
    "output_content",
    "status",
    "duration",
    "model",
    "input_tokens",
    "output_tokens",
    "tools_used",
    "error_type",
    "error_message",
    "stack_trace",
)
_FIGURE_KEYS = ("duration", "tokens", "input_tokens", "output_tokens", "cost")
_KEYS = tuple(dict.fromkeys((*_DOCUMENT_KEYS, *_FIGURE_KEYS)))


def value(
    phase: Phase,
    executed: str,
    *,
    agent_name: object,
    output_content: object,
    status: object,
    duration: object,
    model: object,
    input_tokens: object,
    output_tokens: object,
    tools_used: object,
    error_type: object,
    error_message: object,
    stack_trace: object,
) -> dict[str, Any]:
    """Checks everything that is reported about an output; raises InvalidInput, else builds the document's value."""
    document: dict[str, Any] = {
        "metadata": {
            "agent": check_agent_name(agent_name),
            "phase": f"{phase.number} - {phase.name}",
            "executed": executed,
            "duration": numbers.optional_amount(duration, "duration"),
            "status": choose(PhaseStatus, status, "status").value,
        },
        "execution": {
            "model": _optional_text(model, "model") or None,
            "input_tokens": numbers.optional_count(input_tokens, "input_tokens"),
            "output_tokens": numbers.optional_count(output_tokens, "output_tokens"),
            "tools_used": _tools(tools_used),
        },
        "output": check_text(output_content, "output_content"),
    }
    if any(each is not None for each in (error_type, error_message, stack_trace)):
        document["error"] = _error(error_type, error_message, stack_trace)
    return document


def sequence(outputs: object) -> list[object]:
    """Returns outputs handed in together as a list; raises InvalidInput if they are none."""
    if isinstance(outputs, (str, bytes)) or not isinstance(outputs, Sequence):
        raise InvalidInput(f"outputs is {outputs!r}; a list of dicts is needed.", hint=f"keys: {', '.join(_KEYS)}.")
    return list(outputs)


def split(output: object) -> tuple[dict[str, Any], dict[str, Any]]:
    """Splits an output handed in as one dict into what its document and what the checkpoint says."""
    if not isinstance(output, Mapping):
        raise InvalidInput(f"an output is {output!r}; a dict is needed.", hint=f"keys: {', '.join(_KEYS)}.")
    for key in output:
        if key not in _KEYS:
            raise InvalidInput(f"an output has the unknown key {key!r}.", hint=suggestions.allowed(str(key), _KEYS))
    for key in ("agent_name", "output_content"):
        if key not in output:
            raise InvalidInput(f"an output has no {key!r}.", hint=f"keys: {', '.join(_KEYS)}.")
    document = {key: output.get(key) for key in _DOCUMENT_KEYS}
    document["status"] = agent_status = output.get("status", PhaseStatus.COMPLETED.value)
    name = check_agent_name(output["agent_name"])
    agent = {key: output.get(key) for key in _FIGURE_KEYS}
    return document, {"agent_name": name, "status": agent_status, "output_file": f"{name}.md", **agent}


def observed_mode(count: int) -> str:
    """Returns the execution mode of a phase whose orchestrator did not say: agents handed in together ran together."""
    return (ExecutionMode.SINGLE if count <= 1 else ExecutionMode.PARALLEL).value


def _error(error_type: object, error_message: object, stack_trace: object) -> dict[str, Any]:
    error: dict[str, Any] = {
        "type": _optional_text(error_type, "error_type"),
        "message": _optional_text(error_message, "error_message"),
    }
    if stack_trace is not None:
        error["stack_trace"] = check_text(stack_trace, "stack_trace")
    return error


def _tools(tools: object) -> list[str] | None:
    if tools is None:
        return None
    if isinstance(tools, str) or not isinstance(tools, (list, tuple)):
        raise InvalidInput(f"tools_used is {tools!r}; a list of names is needed.", hint="pass [name], even for one.")
    checked = [check_text(tool, "a tool's name") for tool in tools]
    if not all(checked):
        raise InvalidInput("tools_used contains an empty name.", hint="leave it out.")
    return checked


def _optional_text(text: object, what: str) -> str | None:
    return None if text is None else check_text(text, what)
