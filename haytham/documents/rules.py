"""A kind's schema, prepared for reading: what may stand where, by the names that people write."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from haytham.documents import schemas
from haytham.documents.schemas import Schema
from haytham.domain import suggestions

TAIL = "tail"


@dataclass(frozen=True, kw_only=True, slots=True)
class Rule:
    """One section, field or column; `layout` is "" for a single value."""

    key: str
    title: str
    layout: str
    schema: Schema
    children: Mapping[str, "Rule"]
    by_form: Mapping[str, "Rule"]

    def named(self, title: str) -> "Rule | None":
        """Returns the child that a title names, in any case and spacing."""
        return self.by_form.get(title) or self.by_form.get(_form(title))

    def meant(self, title: str) -> "Rule | None":
        """Returns the child that a wrong title resembles."""
        titles = {child.title: child for child in self.children.values()}
        closest = suggestions.closest(_form(title), titles)
        return titles[closest] if closest else None


@cache
def rule(kind: str) -> Rule:
    """Returns the rule of a whole kind."""
    return _rule(kind, schemas.schema(kind))


def tail(root: Rule) -> Rule | None:
    """Returns the section whose text runs to the end of the document, if the kind has one."""
    return next((child for child in root.children.values() if child.layout == TAIL), None)


def _rule(key: str, schema: Schema) -> Rule:
    # A table's rows are described by "items", a group's fields by the schema itself.
    described = schema["items"] if schema.get("layout") == "table" else schema
    children = {name: _rule(name, each) for name, each in described.get("properties", {}).items()}
    return Rule(
        key=key,
        title=schema.get("title", key),
        layout=schema.get("layout", ""),
        schema=schema,
        children=children,
        by_form={form: child for child in children.values() for form in (child.title, _form(child.title))},
    )


def _form(title: str) -> str:
    return suggestions.normalised(title.strip("*_: "))
