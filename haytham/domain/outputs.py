"""What an agent produced: from what an orchestrator reports to the value of the document."""

from typing import Any

from haytham.domain import numbers
from haytham.domain.choices import PhaseStatus, choose
from haytham.domain.errors import InvalidInput
from haytham.domain.identifiers import check_agent_name, check_text
from haytham.domain.workflow import Phase


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
