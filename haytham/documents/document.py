"""A document: the value that its schema describes, with whatever else a person wrote into it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

Value = Mapping[str, Any]

FORMAT_VERSION = 1


@dataclass(frozen=True, kw_only=True, slots=True)
class Document:
    """What a text says.

    `extra_fields` and `extra_text` hold what the schema does not know, by the section that it stands in or behind
    ("" is the top); a rewrite puts it back there.
    """

    kind: str
    value: Value
    extra_fields: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    extra_text: Mapping[str, str] = field(default_factory=dict)

    def replaced(self, value: Value) -> "Document":
        """Returns the document with another value and the same extras."""
        return Document(kind=self.kind, value=value, extra_fields=self.extra_fields, extra_text=self.extra_text)


def mark(kind: str) -> str:
    """Writes the comment that tells kind and format version without showing when rendered."""
    return f"<!-- haytham {kind} v{FORMAT_VERSION} -->"
