"""Reading takes time in proportion to the size of the text, whatever the text is."""

import itertools
import time
from collections.abc import Callable
from functools import partial

import pytest

from haytham.documents import blocks
from haytham.documents.document import Document
from haytham.documents.reader import read
from haytham.documents.renderer import render
from haytham.domain.errors import InvalidDocument
from tests.documents import samples
from tests.trials import count

_MEGABYTE = 1_000_000
_SIZE = count(smoke=40_000, release=200_000)
_MOST = 3.0  # times longer for twice the text: linear is 2, quadratic 4
_SECONDS = 2.0  # of processor time, measured line by line for the coverage; it is half of that without
_FLOOR = 0.05  # seconds; what takes less cannot be quadratic in so many characters
_FRESH = itertools.count()
_FAMILIES: dict[str, Callable[[int], str]] = {
    "hashes": lambda n: "#" * n,
    "headings": lambda n: "# \n" * (n // 3),
    "unknown sections": lambda n: "## Xyzzy\n" * (n // 9),
    "subsections": lambda n: "### Xyzzy\n" * (n // 10),
    "spaces in a heading": lambda n: "## a" + " " * n + "b",
    "spaces then hashes": lambda n: "## a" + " " * n + "#",
    "spaces and hashes": lambda n: "## " + " #" * (n // 2) + "x",
    "pipes": lambda n: "|" * n,
    "columns": lambda n: "| Phase " * (n // 8),
    "rows": lambda n: "| a | b |\n" * (n // 10),
    "escaped pipes": lambda n: "| " + "\\|" * (n // 2),
    "less-than signs": lambda n: "<" * n,
    "lines of less-than signs": lambda n: "<\n" * (n // 2),
    "open tags": lambda n: "<a\n" * (n // 3),
    "tag of attributes": lambda n: "<a" + " b" * (n // 2),
    "tag of spaces": lambda n: "<a" + " " * n + "!",
    "tag of quotes": lambda n: "<a" + ' b="c' * (n // 6),
    "comments": lambda n: "<!-- x -->\n" * (n // 11),
    "our comments": lambda n: "<!-- haytham -->\n" * (n // 17),
    "open comments": lambda n: "<!--" * (n // 4),
    "brackets": lambda n: "[" * n,
    "nested brackets": lambda n: "[" * (n // 2) + "]" * (n // 2),
    "quotes": lambda n: ">" * n,
    "dashes": lambda n: "-" * n + "x",
    "rules": lambda n: "- " * (n // 2) + "x",
    "stars": lambda n: "*" * n,
    "backticks": lambda n: "`" * n,
    "fences": lambda n: "```\n" * (n // 4),
    "fences that are none": lambda n: "``` a`b\n" * (n // 8),
    "tildes": lambda n: "~\n" * (n // 2),
    "one line": lambda n: "x" * n,
    "spaces": lambda n: "x" + " " * n + "x",
    "blank lines": lambda n: "x" + "\n" * n + "x",
    "lines of spaces": lambda n: "x" + " \n" * (n // 2) + "x",
    "carriage returns": lambda n: "\r" * n,
    "bullets": lambda n: "- x\n" * (n // 4),
    "unknown fields": lambda n: "- Xyzzy: 1\n" * (n // 11),
    "continued field": lambda n: "- Xyzzy: 1\n" + "  more\n" * (n // 7),
    "spaces in a field": lambda n: "- Xyzzy" + " " * n + ": 1",
    "colons": lambda n: "- " + ":" * n,
    "bold": lambda n: "- **" + "a" * n,
    "digits": lambda n: "- Retry Count: " + "1" * n + "x",
    "commas": lambda n: "- Tools Used: a" + " , " * (n // 3),
    "spaces in a list": lambda n: "- Tools Used: a" + " " * n + "b",
    "quotes in a list": lambda n: "- Tools Used: " + '"a,' * (n // 3),
    "backslashes": lambda n: "- Tools Used: " + '"' + "\\" * n,
    "nested JSON": lambda n: "- Xyzzy: " + "[" * n,
    "merge markers": lambda n: "<<<<<<< a\n=======\n" * (n // 18),
    "equals signs": lambda n: "=" * n,
}
_PLACES = {
    "checkpoint": ("## Metadata\n", "## Agents in Phase\n", "## Inputs\n", "## Errors\n"),
    "agent_output": ("# Agent Output: Scout\n",),
    "project": ("## Startup Idea\n",),
}
_VALUES = {
    "checkpoint": samples.checkpoint(errors=["x"]),
    "agent_output": samples.agent_output("x"),
    "project": samples.project(preferences={"a": 1}),
}


def _seconds(action: Callable[[], object]) -> float:
    start = time.process_time()
    action()
    return time.process_time() - start


def _read(kind: str, text: str) -> None:
    fresh = f"{text}\n<!-- haytham: {next(_FRESH)} -->\n"  # a text that was read before would not be read again
    try:
        read(kind, fresh)
    except InvalidDocument:
        return


def _round_trip(document: Document) -> None:
    text = render(document)
    _read(document.kind, text)
    assert document == read(document.kind, text)


def _best(action: Callable[[], object], repeats: int = 3) -> float:
    return min(_seconds(action) for _ in range(repeats))


def _is_linear(small: Callable[[], object], large: Callable[[], object], floor: float = _FLOOR) -> bool:
    """Tells whether the larger one takes at most in proportion longer; another process may disturb a try or two."""
    return any(_best(large, repeats) <= max(_MOST * _best(small, repeats), floor) for repeats in (1, 2, 3, 4, 6, 8))


@pytest.mark.parametrize("family", _FAMILIES)
def test_pathological(family: str) -> None:
    """What has broken other parsers takes about a second at most, and half of it about half of the time."""
    for kind, headings in _PLACES.items():
        text = render(Document(kind=kind, value=_VALUES[kind]))
        for heading in headings:
            before, _, after = text.partition(heading)
            assert after
            small, large = (
                partial(_read, kind, f"{before}{heading}{_FAMILIES[family](size)}\n\n{after}")
                for size in (_SIZE // 2, _SIZE)
            )
            assert _best(large, 3) < _SECONDS
            assert _is_linear(small, large)


@pytest.mark.parametrize("family", _FAMILIES)
def test_pathological_values(family: str) -> None:
    """Writing and reading such text as prose, as an item, as a single value and as a key is linear too."""
    texts = [_FAMILIES[family](size) for size in (_SIZE // 2, _SIZE)]
    for kind, values in (
        ("project", [samples.project(startup_idea=text, preferences={"a": text}) for text in texts]),
        ("checkpoint", [samples.checkpoint(errors=[text], agents={text: "completed"}) for text in texts]),
    ):
        small, large = (partial(_round_trip, Document(kind=kind, value=value)) for value in values)
        assert _best(large, 3) < _SECONDS
        assert _is_linear(small, large)


def _body(size: int) -> str:
    """Makes a body that would cost mistune seconds, if it ever saw it."""
    line = "# a <b> `c` **d** [e](f) | g |\n"
    return line * (size // len(line))


def test_large_output() -> None:
    """10 MB of output come back byte for byte, in at most about twice the time of 5 MB."""
    documents = [
        Document(kind="agent_output", value=samples.agent_output(_body(size * _MEGABYTE) + "\r\n\x00"))
        for size in (5, 10)
    ]
    texts = [render(document) for document in documents]
    assert documents[1] == read("agent_output", texts[1])
    assert _is_linear(partial(_read, "agent_output", texts[0]), partial(_read, "agent_output", texts[1]), floor=0.1)
    assert _is_linear(lambda: render(documents[0]), lambda: render(documents[1]), floor=0.1)


def test_body_unseen() -> None:
    """The parser stops at the heading of the last section: a body adds no block, and next to no time."""
    head = render(Document(kind="agent_output", value=samples.agent_output("")))
    body = _body(10 * _MEGABYTE)

    def is_tail(level: int, title: str) -> bool:
        return (level, title) == (2, "Output")

    found = blocks.split(head + body, is_tail)
    assert blocks.split(head, is_tail) == found
    assert found.tail is not None
    seen = _best(lambda: blocks.split(body[: _MEGABYTE // 4]))
    unseen = _best(lambda: blocks.split(head + body, is_tail))
    assert unseen < seen  # forty times the text, in less than the time
