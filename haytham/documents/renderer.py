"""Writes a document as text: the gateway to jinja2.

Templates come from the package only; values are printed, never compiled.
"""

from functools import cache
from typing import TYPE_CHECKING

from haytham import resources
from haytham.documents import prose, scalars, schemas, tables
from haytham.documents.document import Document, mark
from haytham.documents.reader import read
from haytham.domain.errors import InternalError, InvalidInput

if TYPE_CHECKING:
    from jinja2 import Environment


def render(document: Document) -> str:
    """Writes a document; the same document always gives the same text."""
    template = _environment().get_template(f"{document.kind}.md.j2")
    return template.render(document.value, mark=mark(document.kind), extra=lambda anchor: _extras(document, anchor))


def checked(document: Document, what: str) -> str:
    """Writes a document that is valid and reads back as the same; anything else is refused.

    Raises InvalidInput if the value does not fit its schema, InternalError if the text would not say the same.
    """
    try:
        text = render(document)
        again = read(document.kind, text)
    except Exception as error:
        if faults := schemas.faults(document.kind, document.value):
            raise InvalidInput(f"{what}: {faults[0].message}", hint=faults[0].hint) from error
        raise InternalError(f"{what} would not be readable: {error}") from error
    if again != document:
        raise InternalError(f"{what} would read back as something else.")
    return text


@cache
def _environment() -> "Environment":
    from jinja2 import DictLoader, StrictUndefined
    from jinja2.sandbox import SandboxedEnvironment

    suffix = ".md.j2"
    names = [name for name in resources.names("templates") if name.endswith(suffix)]
    environment = SandboxedEnvironment(
        loader=DictLoader({name: resources.text("templates", name) for name in names}),
        undefined=StrictUndefined,
        keep_trailing_newline=True,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=False,
    )
    environment.filters.update(
        shown=scalars.shown,
        shown_any=scalars.shown_any,
        key=scalars.shown_key,
        cell=lambda value: tables.cell(scalars.shown(value)),
        prose=_section_text,
        item=prose.shown_item,
    )
    return environment


def _section_text(text: str) -> str:
    return f"{prose.shown(text)}\n" if text else ""


def _extras(document: Document, anchor: str) -> str:
    lines = "".join(f"{line}\n" for line in document.extra_fields.get(anchor, ()))
    text = document.extra_text.get(anchor)
    return f"{lines}\n{text}\n" if text else lines
