"""Writes a document as text: the gateway to jinja2.

Templates come from the package only; values are printed, never compiled.
"""

from functools import cache
from typing import TYPE_CHECKING

from haytham import resources
from haytham.documents import extras, prose, scalars, schemas, tables, writable
from haytham.documents.document import Document, mark
from haytham.documents.reader import read
from haytham.domain.errors import InternalError, InvalidInput

if TYPE_CHECKING:
    from jinja2 import Environment


def render(document: Document) -> str:
    """Writes a document; the same document always gives the same text."""
    template = _environment().get_template(f"{document.kind}.md.j2")

    def inside(place: str) -> str:
        lines = "".join(f"{line}\n" for line in document.extra_fields.get(place, ()))
        return lines + _apart(document.extra_text.get(place))

    def behind(key: str) -> str:
        return _apart(document.extra_text.get(extras.behind(key)))

    def extra(key: str) -> str:
        return inside(key) + behind(key)

    return template.render(document.value, mark=mark(document.kind), inside=inside, behind=behind, extra=extra)


def checked(document: Document, what: str) -> str:
    """Writes a document that is valid and reads back as the same; anything else is refused.

    Raises InvalidInput if the value does not fit its schema or no document can hold it,
    InternalError if the text would not say the same.
    """
    try:
        text = render(document)
        text.encode()
        again = read(document.kind, text)
    except Exception as error:
        _refuse_value(document, what, error)
        raise InternalError(f"{what} would not be readable: {error}") from error
    if again != document or "\\ud" in text:  # perhaps half a character, escaped
        _refuse_value(document, what, None)
    if again != document:
        raise InternalError(f"{what} would read back as something else.")
    return text


def _refuse_value(document: Document, what: str, cause: Exception | None) -> None:
    """Raises InvalidInput if the value is to blame."""
    if (place := writable.flaw(document.value)) is not None:
        hint = "texts must be whole Unicode characters, numbers finite, keys texts, lists real lists."
        raise InvalidInput(f"{what}: {place} cannot be written in a document.", hint=hint) from cause
    if faults := schemas.faults(document.kind, document.value):
        raise InvalidInput(f"{what}: {faults[0].message}", hint=faults[0].hint) from cause


def environment(suffix: str, *, autoescape: bool) -> "Environment":
    """Returns an environment with the package's templates of one suffix, strict and closed."""
    from jinja2 import DictLoader, StrictUndefined
    from jinja2.sandbox import SandboxedEnvironment

    names = [name for name in resources.names("templates") if name.endswith(suffix)]
    return SandboxedEnvironment(
        loader=DictLoader({name: resources.text("templates", name) for name in names}),
        undefined=StrictUndefined,
        keep_trailing_newline=True,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=autoescape,
    )


@cache
def _environment() -> "Environment":
    made = environment(".md.j2", autoescape=False)
    made.filters.update(
        shown=scalars.shown,
        shown_any=scalars.shown_any,
        key=scalars.shown_key,
        cell=lambda value: tables.cell(scalars.shown(value)),
        prose=_section_text,
        item=prose.shown_item,
    )
    return made


def _section_text(text: str) -> str:
    return f"{prose.shown(text)}\n" if text else ""


def _apart(text: str | None) -> str:
    return f"\n{text}\n" if text else ""
