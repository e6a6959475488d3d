"""Small valid values, for tests that are about one thing in them."""

from typing import Any

HASH = "sha256:" + 64 * "a"
INSTANT = "2026-01-31T10:00:00Z"


def agent_output(output: str, **changes: Any) -> dict[str, Any]:
    """Makes the value of an agent's output."""
    return {
        "metadata": {
            "agent": "scout",
            "phase": "1 - Concept",
            "executed": INSTANT,
            "duration": 1.5,
            "status": "completed",
        },
        "execution": {"model": "m", "input_tokens": 1, "output_tokens": 2, "tools_used": ["a", "b c"]},
        "output": output,
        **changes,
    }


def checkpoint(**changes: Any) -> dict[str, Any]:
    """Makes the value of a checkpoint with two agents."""
    names = ("market_intelligence", "competitor_analysis")
    figures = {"duration": 12.5, "tokens": 300, "input_tokens": 100, "output_tokens": 200, "cost": 0.003}
    return {
        "metadata": {
            "phase_number": 2,
            "phase_name": "Market Research",
            "status": "completed",
            "started": INSTANT,
            "completed": INSTANT,
            "duration": 25.0,
            "retry_count": 0,
            "execution_mode": "parallel",
        },
        "agents": dict.fromkeys(names, "completed"),
        "inputs": [{"phase": 1, "name": "concept_expansion.md", "content": HASH}],
        "outputs": {name: f"{name}.md" for name in names},
        "metrics": {
            "total_tokens": 600,
            "input_tokens": 200,
            "output_tokens": 400,
            "cost": 0.006,
            "agent_times": [{"agent": name, **figures} for name in names],
        },
        "next_phase": {"phase": 3, "name": "Niche Selection"},
        **changes,
    }


def project(**changes: Any) -> dict[str, Any]:
    """Makes the value of a project."""
    return {
        "metadata": {
            "project_id": "p-1",
            "name": "Bakery",
            "user_id": "ada",
            "execution_mode": "mvp",
            "created": INSTANT,
            "last_updated": INSTANT,
            "status": "active",
            "current_session": None,
            "requirements_version": 0,
        },
        "startup_idea": "Bread by bicycle.",
        "preferences": {},
        **changes,
    }
