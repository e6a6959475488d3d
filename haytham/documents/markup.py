"""Shows markdown of unknown origin as HTML that can do nothing: with `blocks`, the gateway to mistune.

Raw HTML is shown as text. Links lead to http, https and mailto only, pictures become links, and headings are smaller
than those of the page around them.
"""

import re
from functools import cache
from html import escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mistune import Markdown

LONGEST = 200_000  # characters; longer texts are shown as they are, because mistune takes about 1 ms per 1,000
_LINK = re.compile(r"(?:https?://|mailto:)[^\s\x00-\x20\x7f-\x9f<>\"]+\Z", re.IGNORECASE)
_LOWEST = 6
_DEEPER = 3


def html_of(text: str) -> str:
    """Returns a text as HTML."""
    if len(text) > LONGEST:
        return f"<pre>{escape(text)}</pre>\n"
    return str(_markdown()(text))


def _anchor(text: str, url: str) -> str:
    """Returns a link, or the text with its address where that leads to anything else than a page or a mailbox."""
    if not _LINK.match(url):
        return f"{text} <code>{escape(url)}</code>"
    return f'<a href="{escape(url)}" rel="noopener noreferrer nofollow">{text}</a>'


@cache
def _markdown() -> "Markdown":
    from mistune import HTMLRenderer, create_markdown

    class Harmless(HTMLRenderer):
        """Writes elements without attributes but for the addresses of links and the sides of cells."""

        def link(self, text: str, url: str, title: str | None = None) -> str:
            del title
            return _anchor(text, url)

        def image(self, text: str, url: str, title: str | None = None) -> str:
            del title
            return _anchor(f"[{text or 'picture'}]", url)

        def heading(self, text: str, level: int, **attrs: Any) -> str:
            del attrs
            tag = f"h{min(level + _DEEPER, _LOWEST)}"
            return f"<{tag}>{text}</{tag}>\n"

        def block_code(self, code: str, info: str | None = None) -> str:
            del info
            return f"<pre>{escape(code)}</pre>\n"

        def table(self, text: str) -> str:
            return f'<div class="wide"><table>\n{text}</table></div>\n'

        def table_cell(self, text: str, align: str | None = None, head: bool = False) -> str:
            tag = "th" if head else "td"
            side = ' class="right"' if align == "right" else ""
            return f"<{tag}{side}>{text}</{tag}>\n"

    return create_markdown(renderer=Harmless(escape=True), plugins=["table", "strikethrough"])
