"""Writes pages of HTML from the package's templates, every value escaped.

A page is one file that loads nothing and runs nothing: its one style sheet is inside, named by its hash in a policy
that forbids everything else.
"""

import base64
import hashlib
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from haytham import resources
from haytham.documents import markup, renderer

if TYPE_CHECKING:
    from jinja2 import Environment

_CONTROLS = dict.fromkeys((*range(9), 11, 12, *range(14, 32), *range(127, 160)), 65533)


def rendered(name: str, value: Mapping[str, Any]) -> str:
    """Returns a page; the same value always gives the same text."""
    style = resources.text("templates", f"{name}.css")
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    text = _environment().get_template(f"{name}.html.j2").render(value, style=style, policy=policy)
    return text.replace("\r\n", "\n").replace("\r", "\n").translate(_CONTROLS)


@cache
def _environment() -> "Environment":
    from markupsafe import Markup

    made = renderer.environment(".html.j2", autoescape=True)
    made.filters["markdown"] = lambda text: Markup(markup.html_of(text))  # noqa: S704 - markup escapes it
    made.filters["trusted"] = Markup
    return made
