"""What has to go together in a document, beyond what its schema can say: the domain's rules, by kind."""

from collections.abc import Callable, Mapping
from typing import Any

from haytham.documents.schemas import Fault
from haytham.domain import reviews

_RULES: Mapping[str, Callable[[Mapping[str, Any]], list[reviews.Contradiction]]] = {
    "user_feedback": reviews.contradictions,
}


def faults(kind: str, value: Mapping[str, Any]) -> list[Fault]:
    """Returns what a valid value says that cannot be meant."""
    found = _RULES[kind](value) if kind in _RULES else []
    return [Fault(path=path, message=message, hint=hint) for path, message, hint in found]
