"""A document: the value that its schema describes, with whatever else a person wrote into it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from haytham.documents import extras

Value = Mapping[str, Any]

FORMAT_VERSION = 1


@dataclass(frozen=True, kw_only=True, slots=True)
class Document:
    """What a text says, with what the schema does not know; a rewrite puts that back where it was.

    `extra_fields` has unknown fields by the key of their section.
    `extra_text` has loose text by its place: in a section ("metrics"), in a subsection ("metrics.agent_times"),
    or, for an unknown section, behind a known one ("behind metrics"); "" is the top.
    """

    kind: str
    value: Value
    extra_fields: extras.Fields = field(default_factory=dict)
    extra_text: extras.Texts = field(default_factory=dict)

    def replaced(self, value: Value) -> "Document":
        """Returns the document with another value and the same extras, even those of sections it does not have."""
        fields, texts = extras.rehomed(self.kind, value, self.extra_fields, self.extra_text)
        return Document(kind=self.kind, value=value, extra_fields=fields, extra_text=texts)


def mark(kind: str) -> str:
    """Writes the comment that tells kind and format version without showing when rendered."""
    return f"<!-- haytham {kind} v{FORMAT_VERSION} -->"
