"""Markdown of unknown origin as HTML that can do nothing."""

from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from haytham.documents import markup
from tests.strategies import prose

HARMLESS = {
    *("p", "br", "hr", "em", "strong", "del", "code", "pre", "blockquote", "ul", "ol", "li", "h4", "h5", "h6"),
    *("a", "div", "table", "thead", "tbody", "tr", "th", "td"),
}
ATTACKS = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<svg/onload=alert(1)>",
    "<iframe src=javascript:alert(1)></iframe>",
    "<a href='javascript:alert(1)'>x</a>",
    "<style>*{background:url(//evil)}</style>",
    "<meta http-equiv=refresh content='0;url=//evil'>",
    "<base href=//evil>",
    "<form action=//evil><input></form>",
    "</div></article></body><script>alert(1)</script>",
    "<!--><script>alert(1)</script>-->",
    "<![CDATA[<script>alert(1)</script>]]>",
    "[x](javascript:alert(1))",
    "[x](JaVaScRiPt:alert(1))",
    "[x](java\tscript:alert(1))",
    "[x](&#106;avascript:alert(1))",
    "[x](javascript&colon;alert(1))",
    "[x](%6Aavascript:alert(1))",
    "[x](\x01javascript:alert(1))",
    "[x](data:text/html,<script>alert(1)</script>)",
    "[x](data:image/svg+xml;base64,PHN2Zz4=)",
    "[x](vbscript:x)",
    "[x](file:///etc/passwd)",
    "[x](//evil.example)",
    "[x](../../etc)",
    '[x](https://a.example/" onmouseover="alert(1))',
    "[x](https://a.example/'onclick='alert(1))",
    '[x](https://a.example "title\\" onclick=\\"alert(1)")',
    "[x][r]\n\n[r]: javascript:alert(1)",
    "<javascript:alert(1)>",
    '<https://a.example/"onclick=alert(1)>',
    "![x](javascript:alert(1))",
    "![x](https://evil.example/pixel.png)",
    '![" onerror="alert(1)](x)',
    "![<script>](https://a.example)",
    '```"><script>alert(1)</script>\nx\n```',
    "```html onclick=x\n<script>alert(1)</script>\n```",
    "`<script>alert(1)</script>`",
    "# <script>alert(1)</script>",
    "# x {onclick=alert(1)}",
    "| <script> | b |\n|---|---|\n| <img onerror=x> | [x](javascript:1) |",
    "> <script>alert(1)</script>",
    "- <script>alert(1)</script>",
    "~~<script>alert(1)</script>~~",
    "&lt;script&gt;alert(1)&lt;/script&gt;",
    "\\<script>alert(1)</script>",
    "<scr<script>ipt>alert(1)</script>",
    "<IMG SRC=\"jav&#x09;ascript:alert('XSS');\">",
    "<a\nhref=javascript:alert(1)>x</a>",
    "<details open ontoggle=alert(1)>",
]


class Seen(HTMLParser):
    """What a browser would make of a text."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: set[str] = set()
        self.attributes: list[tuple[str, str, str]] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Notes an element with its attributes."""
        self.tags.add(tag)
        self.attributes += [(tag, name, value or "") for name, value in attrs]

    def handle_comment(self, data: str) -> None:
        """Notes a comment."""
        self.tags.add(f"comment {data}")

    def handle_decl(self, decl: str) -> None:
        """Notes a declaration."""
        self.tags.add(f"declaration {decl}")

    def unknown_decl(self, data: str) -> None:
        """Notes a section of unknown kind."""
        self.tags.add(f"section {data}")

    def handle_pi(self, data: str) -> None:
        """Notes an instruction."""
        self.tags.add(f"instruction {data}")


def check(text: str) -> None:
    """Fails unless a text becomes elements that can do nothing."""
    seen = Seen(markup.html_of(text))
    assert set() == seen.tags - HARMLESS
    for tag, name, value in seen.attributes:
        expected = {"href", "rel"} if tag == "a" else {"class"} if tag in {"div", "th", "td"} else {"start"}
        assert name in expected, (tag, name, value)
        if name == "href":
            assert value.lower().startswith(("http://", "https://", "mailto:"))
            assert not set(value) & set(' \t\n\r"<>')


@pytest.mark.parametrize("attack", ATTACKS)
@pytest.mark.parametrize(
    "frame", ["{}", "text {} text", "- {}", "> {}", "**{}**", "[{}](https://a.example)", "| {} |\n|---|\n"]
)
def test_attacks_become_text(attack: str, frame: str) -> None:
    """Nothing that a stranger writes becomes an element, an attribute or an address that acts."""
    check(frame.format(attack))


@given(
    st.lists(
        st.one_of(prose(), st.sampled_from(ATTACKS), st.sampled_from(["\n\n", "`", "[", "](", ")", "|", "<", ">"]))
    )
)
def test_any_text(parts: list[str]) -> None:
    """Whatever a text is made of, it can do nothing."""
    check("".join(parts))


def test_what_is_meant_is_shown() -> None:
    """Plain markdown looks as it should; headings are below those of the page."""
    line = "a *b* **c** ~~d~~ [e](https://e.example/?a=1&b=2) <https://f.example>"
    text = f"# One\n\n{line}\n\n1. x\n\n|a|b|\n|-|-:|\n|1|2|\n"
    assert markup.html_of(text) == (
        "<h4>One</h4>\n"
        "<p>a <em>b</em> <strong>c</strong> <del>d</del> "
        '<a href="https://e.example/?a=1&amp;b=2" rel="noopener noreferrer nofollow">e</a> '
        '<a href="https://f.example" rel="noopener noreferrer nofollow">https://f.example</a></p>\n'
        "<ol>\n<li>x</li>\n</ol>\n"
        '<div class="wide"><table>\n<thead>\n<tr>\n<th>a</th>\n<th class="right">b</th>\n</tr>\n</thead>\n'
        '<tbody>\n<tr>\n<td>1</td>\n<td class="right">2</td>\n</tr>\n</tbody>\n</table></div>\n'
    )


def test_long_text_is_plain() -> None:
    """A text that would take too long is shown as it is."""
    assert markup.html_of("*" * (markup.LONGEST + 1)).startswith("<pre>***")
