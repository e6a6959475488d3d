"""What has to go together in a document, beyond what its schema can say: the domain's rules, by kind."""

from collections.abc import Callable, Mapping
from typing import Any

from haytham.documents.schemas import Fault
from haytham.domain import reviews

_RULES: Mapping[str, Callable[[Mapping[str, Any], tuple[str, ...]], list[reviews.Contradiction]]] = {
    "user_feedback": reviews.contradictions,
}


def faults(kind: str, value: Mapping[str, Any], words: tuple[str, ...] = ()) -> list[Fault]:
    """Returns what a valid value says that cannot be meant; `words` are names that it may use."""
    found = _RULES[kind](value, words) if kind in _RULES else []
    return [Fault(path=path, message=message, hint=hint) for path, message, hint in found]
