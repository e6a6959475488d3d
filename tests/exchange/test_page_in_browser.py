"""The page as those who open it have it: as the parser of browsers reads it, and in a browser."""

from collections.abc import Iterator
from pathlib import Path
from xml.etree.ElementTree import Element

import html5lib
import pytest

from haytham import CheckpointManager
from tests import browser
from tests.documents.test_markup import ATTACKS
from tests.evidence import USER, Clock
from tests.exchange.conftest import AT, fill

TAKE_OVER = "document.documentElement.dataset.taken=1"
HOSTILE = [
    *(each.replace("alert(1)", TAKE_OVER) for each in ATTACKS),
    f'"><script>{TAKE_OVER}</script><img src=x onerror={TAKE_OVER}>',
    f"<svg onload={TAKE_OVER}><animate onbegin={TAKE_OVER} attributeName=x></svg>",
    f"<math><mtext></p><svg><style><img src=x onerror={TAKE_OVER}></style></svg></mtext></math>",
    f"<table><caption><svg><title><style><img src=x onerror={TAKE_OVER}>",
    f"<noscript><p title='</noscript><img src=x onerror={TAKE_OVER}>'>",
    "<link rel=stylesheet href=https://evil.example/a.css><img srcset='https://evil.example/b 2x'>",
    "<video poster=https://evil.example/c><source src=https://evil.example/d></video>",
    "![p](https://evil.example/e.png) [f](https://evil.example/f)",
    "\x00\x1b[31mred\x1b]8;;javascript:alert(1)\x07link\x1b]8;;\x07\x9b2J\u202egnp.exe\u2066",
    "w" * 20_000,
    "`" + "c" * 20_000 + "`",
    "```\n" + "l" * 20_000 + "\n```",
    "https://a.example/" + "u" * 5_000,
    "| " + " | ".join(["cell"] * 60) + " |\n|" + "---|" * 60 + "\n| " + " | ".join(["x" * 400] * 60) + " |",
    "> " * 60 + "deep",
    "\n".join(f"{'  ' * depth}- item" for depth in range(60)),
]
ELEMENTS = {
    *("html", "head", "meta", "title", "style", "body", "header", "footer", "nav", "section", "article", "h1", "h2"),
    *("h3", "h4", "h5", "h6", "p", "span", "div", "dl", "dt", "dd", "ol", "ul", "li", "a", "code", "pre", "em", "del"),
    *("strong", "blockquote", "br", "hr", "table", "thead", "tbody", "tr", "th", "td", "details", "summary", "figure"),
    *("figcaption", "svg", "text", "rect"),
}
ATTRIBUTES = {
    *("lang", "charset", "http-equiv", "content", "name", "class", "href", "rel", "id", "open", "dir", "viewBox"),
    *("role", "aria-label", "x", "y", "width", "height", "rx"),
}

needs_browser = pytest.mark.skipif(browser.program() is None, reason="there is no Chromium on the PATH")


def hostile_page(base: Path, target: Path) -> Path:
    """Writes the page of a session in which everything that others write is hostile."""
    manager = CheckpointManager(base, clock=Clock())
    manager.create_session(*AT, f"{USER} {HOSTILE[0]}")
    output = "\n\n".join(HOSTILE)
    agent = {"agent_name": "concept_expansion", "output_content": output, "model": HOSTILE[0] + "m" * 500}
    manager.complete_phase(*AT, 1, [{**agent, "input_tokens": 10**12, "output_tokens": 1, "cost": 1e9}])
    changes = [each.replace("\n", " ") for each in HOSTILE]
    manager.save_user_feedback(
        *AT, 1, reviewed=True, approved=False, comments=output, action="retry_with_changes", requested_changes=changes
    )
    manager.save_checkpoint(*AT, 2, "failed", [], errors=HOSTILE)
    manager.export_page(*AT, target)
    return target


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A page like any other, and a hostile one."""
    folder = tmp_path_factory.mktemp("pages")
    manager = CheckpointManager(folder / "projects", clock=Clock())
    fill(manager)
    manager.export_page(*AT, folder / "usual.html")
    return {"usual": folder / "usual.html", "hostile": hostile_page(folder / "other", folder / "hostile.html")}


def parsed(path: Path) -> list[Element]:
    """Returns every element, as HTML5 says that a browser has to read it; the page has to be free of errors."""
    parser = html5lib.HTMLParser(namespaceHTMLElements=False)
    document = parser.parse(path.read_bytes(), transport_encoding="utf-8")
    assert parser.errors == []
    return list(document.iter())


@pytest.mark.parametrize("name", ["usual", "hostile"])
def test_only_harmless_elements(pages: dict[str, Path], name: str) -> None:
    """No script, no frame, no form, no handler, nothing that loads; links only to where a person may want to go."""
    found = parsed(pages[name])
    tags = {str(each.tag).rpartition("}")[2] for each in found if isinstance(each.tag, str)}
    assert tags <= ELEMENTS
    assert {str(key) for each in found for key in each.attrib} <= ATTRIBUTES
    links = [(each.tag, each.attrib["href"]) for each in found if "href" in each.attrib]
    assert {tag for tag, _ in links} == {"a"}
    assert all(href.startswith(("#phase-", "https://", "http://", "mailto:")) for _, href in links)
    assert len([each for each in found if each.tag == "style"]) == 1


def test_hostile_text_is_shown_as_text(pages: dict[str, Path]) -> None:
    """Nothing is swallowed: the words of an attack can be read, its control characters cannot act."""
    text = "".join(parsed(pages["hostile"])[0].itertext())
    assert f"<svg onload={TAKE_OVER}>" in text
    assert f"<script>{TAKE_OVER}</script>" in text
    assert "w" * 20_000 in text
    assert not {chr(code) for code in (*range(9), *range(11, 32), *range(127, 160))} & set(text)


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[browser.Page]:
    """A browser."""
    with browser.opened(tmp_path_factory.mktemp("browser")) as found:
        yield found


@needs_browser
@pytest.mark.parametrize("width", [320, 400, 1200])
@pytest.mark.parametrize("name", ["usual", "hostile"])
def test_fits_the_screen(pages: dict[str, Path], page: browser.Page, name: str, width: int) -> None:
    """On a telephone, as on a desk, nobody has to scroll sideways."""
    page.open(pages[name].as_uri(), width=width)
    assert page.value("window.innerWidth") == width
    assert page.value("document.documentElement.scrollWidth") <= width


@needs_browser
@pytest.mark.parametrize("name", ["usual", "hostile"])
def test_runs_and_loads_nothing(pages: dict[str, Path], page: browser.Page, name: str) -> None:
    """No attack got to run, nothing was asked of any network, the policy had nothing to stop, the style is applied."""
    page.open(pages[name].as_uri(), width=400)
    assert page.value("document.documentElement.dataset.taken === undefined") is True
    assert page.requests() == [pages[name].as_uri()]
    assert page.value("document.scripts.length") == 0
    assert page.value("document.styleSheets.length") == 1
    assert page.value("getComputedStyle(document.querySelector('.tiles')).display") == "grid"
    assert [each for each in page.events if each.get("method") in {"Log.entryAdded", "Runtime.exceptionThrown"}] == []


@needs_browser
def test_the_browser_would_tell(page: browser.Page, tmp_path: Path) -> None:
    """A page that does run something, load something and is too wide is seen to do so."""
    path = tmp_path / "bad.html"
    path.write_text(
        f"<!DOCTYPE html><meta name=viewport content='width=device-width'><p style='width:900px'>x"
        f"<img src=x.png onerror={TAKE_OVER}><script>{TAKE_OVER}</script>"
    )
    page.open(path.as_uri(), width=400)
    assert page.value("document.documentElement.scrollWidth") > 400
    assert page.value("document.documentElement.dataset.taken") == "1"
    assert len(page.requests()) == 2
