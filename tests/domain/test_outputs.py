from typing import Any

import pytest

from haytham.documents import workflow_file
from haytham.domain import outputs
from haytham.domain.errors import InvalidInput
from tests.evidence import label

PHASE = workflow_file.built_in()["idea_validation"].phase(1, "mvp")


def _value(**changes: Any) -> dict[str, Any]:
    said: dict[str, Any] = dict.fromkeys(
        ("duration", "model", "input_tokens", "output_tokens", "tools_used", "error_type", "error_message")
    )
    said |= {"agent_name": "a", "output_content": "text", "status": "completed", "stack_trace": None}
    return outputs.value(PHASE, "2026-01-31T10:00:00Z", **(said | changes))


def test_error_section_is_there_only_if_there_was_an_error() -> None:
    """A part of the error is enough to make the section."""
    assert "error" not in _value()
    assert _value(error_message="m")["error"] == {"type": None, "message": "m"}
    assert _value(error_type="T", stack_trace="s")["error"] == {"type": "T", "message": None, "stack_trace": "s"}


def test_empty_model_is_no_model() -> None:
    """An empty name says nothing."""
    assert _value(model="")["execution"]["model"] is None


@pytest.mark.parametrize(
    "changes",
    [
        {"agent_name": ""},
        {"agent_name": "user_feedback"},
        {"agent_name": None},
        {"output_content": None},
        {"output_content": b"text"},
        {"output_content": "\udfff"},
        {"status": "ok"},
        {"duration": -0.5},
        {"duration": float("inf")},
        {"input_tokens": -1},
        {"output_tokens": 0.5},
        {"model": b"m"},
        {"model": "\ud800"},
        {"tools_used": "file_write"},
        {"tools_used": [""]},
        {"tools_used": [None]},
        {"tools_used": 1},
        {"error_type": 1},
        {"error_message": b"m"},
        {"stack_trace": "\ud800"},
    ],
    ids=label,
)
def test_output_that_cannot_be_used_is_refused(changes: dict[str, Any]) -> None:
    """Every field of an output is checked, and the error helps."""
    with pytest.raises(InvalidInput) as caught:
        _value(**changes)
    assert caught.value.hint
