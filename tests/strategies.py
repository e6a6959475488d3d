"""Hypothesis strategies: valid values of every kind, made from the schemas' rules and filled with hostile text.

Extras are not made up: text is injected into a rendered document at random lines and read,
so that they are what the reader itself produces.
"""

from collections.abc import Mapping
from functools import cache
from typing import Any

from hypothesis import assume
from hypothesis import strategies as st

from haytham.documents import schemas
from haytham.documents.document import Document
from haytham.documents.reader import read
from haytham.documents.renderer import render
from haytham.domain import reviews
from haytham.domain.errors import InvalidDocument

KINDS = ("project", "session_manifest", "checkpoint", "agent_output", "user_feedback")

_FORM = """# User Feedback: Concept
<!-- haytham user_feedback v1 -->

## Review Status
- Reviewed: true
- Approved: true
- Timestamp: 2026-01-31T10:00:00Z
- Reviewer: Eve
- Role: -

## User Comments
fine

## Requested Changes
- Change 1: none

## Action Taken
- Action: approved
- Retry Count: 0

## Under Review
- Phase Number: 1
- Attempt: 1

### Files

| File | Content | Since Last Review |
|------|---------|-------------------|

## Previous Review
- Decision: approved
"""

_SPACES = ("", " ", "   ", "    ", "\t", "\u00a0", "\u3000", "\n", "\n\n", "\n" * 10, "\r\n", "\r", "\r\r\n", "  \n")
_CONTROLS = ("\x00", "\ufeff", "\u2028", "\u2029", "\x0b", "\x0c", "\x85", "\x1c", "\x7f", "\x1b[31m", "\u202e")
_WORDS = (
    "word",
    "two words",
    "None",
    "none",
    "-",
    "- -",
    "N/A",
    "true",
    "0",
    "1e5",
    "nan",
    "[x]",
    "[ ]",
    "- [x] Approved",
    "null",
    '"quoted"',
    '"open',
    "'",
    "\\",
    "\\|",
    "\\n",
    "|",
    "| a | b |",
    "|---|",
    "$1",
    "$-",
    "12s",
    "a: b",
    ": b",
    "a:",
    "**bold**: x",
    "_u_",
    '{"a": 1}',
    "[1, 2]",
    "a, b",
    "{{ 7 * 7 }}",
    "{% raw %}",
    "é",
    "日本語",
    "👩\u200d💻",
    "e\u0301",
    "&amp;",
    "<b>",
    "#",
    "##",
    "`x`",
    "``` a`b",
)
_LINES = (
    "# Title",
    "## Metadata",
    "## metadata:",
    "### Files",
    "### Stack Trace",
    "#### Deep",
    "## Output",
    "## User Comments",
    "## Action Taken ##",
    "- Approved: true",
    "Approved: true",
    "* Status: completed",
    "- Change 1: x",
    "Change 2: y",
    "Error 1:",
    "1. one",
    "2) two",
    "> quote",
    "  - nested",
    "    indented",
    "\tindented",
    "```",
    "````python",
    "~~~",
    "~~~~~~",
    "~~~verbatim",
    "  ~~~verbatim",
    "~~~~verbatim",
    "<!-- haytham",
    "<!-- haytham user_feedback v1 -->",
    "<!-- haytham: hint --> more",
    "<!--",
    "-->",
    "<div>",
    "</div>",
    "<script>",
    "<![CDATA[",
    "<?php",
    "<!DOCTYPE",
    "<span>",
    "===",
    "---",
    "- - -",
    "***",
    "-",
    "=======",
    "<<<<<<< HEAD",
    ">>>>>>> theirs",
    "||||||| base",
    "Setext\n------",
    "Setext\n======",
    "| File | Content | Since Last Review |",
    "## Previous Review",
    "## Decisions So Far",
    "- Action: approved",
    "[ref]: x",
    "trailing  ",
    "trailing\\",
    _FORM,
)

PIECES = tuple(dict.fromkeys((*_LINES, *_WORDS, *_SPACES, *_CONTROLS)))

_any_text = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
_pieces = st.one_of(
    st.sampled_from(_LINES), st.sampled_from(_WORDS), st.sampled_from(_SPACES), st.sampled_from(_CONTROLS), _any_text
)
_glue = st.sampled_from(("\n", "\n", "\n", "\n\n", "", " "))


@st.composite
def prose(draw: st.DrawFn) -> str:
    """Draws free text: pieces of everything that has ever broken a format, glued together."""
    pieces = draw(st.lists(st.tuples(_pieces, _glue), max_size=6))
    return "".join(piece + glue for piece, glue in pieces[:-1]) + (pieces[-1][0] if pieces else "")


lines = st.one_of(
    st.sampled_from(_WORDS),
    _any_text,
    st.lists(
        st.one_of(st.sampled_from(_WORDS), st.sampled_from(_CONTROLS), st.sampled_from(_SPACES)), min_size=1, max_size=3
    ).map("".join),
    st.sampled_from(_LINES),
)

_instants = st.datetimes().map(lambda moment: moment.isoformat() + "Z") | st.sampled_from(
    ("2026-01-31T10:00:00Z", "2026-01-31T10:00:00.123456+05:30", "2024-02-29t23:59:59z")
)
_integers = st.integers(0, 10) | st.integers(0, 2**70)
_numbers = _integers | st.floats(0, allow_nan=False, allow_infinity=False)
_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | lines,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(lines, inner, max_size=2),
    max_leaves=4,
)


def values(kind: str) -> st.SearchStrategy[dict[str, Any]]:
    """Draws valid values of a kind, which mean something."""
    drawn = _object(schemas.schema(kind))
    return drawn.map(_agreeing) if kind == "user_feedback" else drawn


@st.composite
def documents(draw: st.DrawFn, kind: str) -> Document:
    """Draws documents of a kind; half of them with things in them that the schema does not know."""
    document = Document(kind=kind, value=draw(values(kind)))
    return draw(with_extras(document)) if draw(st.booleans()) else document


@st.composite
def with_extras(draw: st.DrawFn, document: Document) -> Document:
    """Draws what a person may have made of a document by adding to it, as far as that can be understood."""
    written = render(document).split("\n")
    for _ in range(draw(st.integers(1, 3))):
        heads = [index for index, line in enumerate(written) if line.startswith("#")]
        place = draw(st.sampled_from(heads) | st.integers(0, min(len(written), 60)))
        written.insert(place, draw(_additions))
    try:
        return read(document.kind, "\n".join(written))
    except InvalidDocument:
        assume(condition=False)
        raise


_unknown = (
    "## Notes",
    "## Notes\nmine\n\n\n\nmine too",
    "# Top",
    "### Below",
    "#### Far below\n- x: y",
    "- Ticket: 12",
    "- Ticket: 12\n  more\n  - Approved: true",
    "* no label",
    "loose",
    "loose\n- Ticket: 1\n---",
    "\n---\n",
    "\n| my | table |\n|----|-------|\n",
    "\n> quoted\n",
    "\n```\n## in a fence\n```\n",
    "\n<!-- my own comment -->\n",
    "\n<div>\n\n",
    "My Heading\n----------\ntext",
    "\n~~~verbatim\n<<<<<<< HEAD\n~~~\n",
)
_additions = st.one_of(st.sampled_from(_unknown), prose(), lines)


def _agreeing(feedback: dict[str, Any]) -> dict[str, Any]:
    """Returns a form that does not contradict itself: where it did, it says less."""
    for place, _, _ in reviews.contradictions(feedback):
        if place == ("requested_changes",):
            feedback = {**feedback, "requested_changes": []}
        elif feedback["action"]["action"] == "max_retries_exceeded" and place == ("action", "action"):
            signed = {**feedback["review"], "timestamp": "2026-01-31T10:00:00Z"}
            feedback = {**feedback, "review": signed}
        else:
            feedback = {**feedback, "review": {**feedback["review"], "approved": False, "reviewed": False}}
    return feedback


def _object(rule: Mapping[str, Any]) -> st.SearchStrategy[dict[str, Any]]:
    parts = {key: _value(each) for key, each in rule["properties"].items()}
    needed = {key: part for key, part in parts.items() if key in rule["required"]}
    return st.fixed_dictionaries(
        needed, optional={key: part for key, part in parts.items() if key not in rule["required"]}
    )


def _value(rule: Mapping[str, Any]) -> st.SearchStrategy[Any]:
    layout = rule.get("layout")
    if layout in {"prose", "tail"}:
        return prose()
    if layout == "items":
        return st.lists(prose(), min_size=rule.get("minItems", 0), max_size=3)
    if layout == "fields":
        return _object(rule)
    if layout == "table":
        return st.lists(_object(rule["items"]), min_size=rule.get("minItems", 0), max_size=3)
    if layout == "map":
        return st.dictionaries(lines, _value(rule["additionalProperties"]), max_size=3)
    return _scalar(rule)


def _scalar(rule: Mapping[str, Any]) -> st.SearchStrategy[Any]:
    if not rule:
        return _json
    if "enum" in rule:
        return st.sampled_from(rule["enum"])
    types = {rule["type"]} if isinstance(rule["type"], str) else set(rule["type"])
    name = next(iter(types - {"null"}))
    strategy = _strings(rule) if name == "string" else _typed(name, rule)
    return st.none() | strategy if "null" in types else strategy


def _typed(name: str, rule: Mapping[str, Any]) -> st.SearchStrategy[Any]:
    if name == "array":
        return st.lists(lines.filter(bool), max_size=3)
    numbers = _integers if name == "integer" else _numbers
    least = rule.get("minimum", 0)
    return st.booleans() if name == "boolean" else numbers.map(lambda number: max(number, least))


def _strings(rule: Mapping[str, Any]) -> st.SearchStrategy[str]:
    if rule.get("format") == "date-time":
        return _instants
    if "pattern" in rule:
        return _matching(rule["pattern"])
    return lines.filter(bool) if rule.get("minLength") else lines


@cache
def _matching(pattern: str) -> st.SearchStrategy[str]:
    ending = pattern.removesuffix("$") + r"\Z"  # Python's $ also matches before a last line break
    return st.from_regex(ending).filter(lambda text: text.isascii() or text.isprintable())
