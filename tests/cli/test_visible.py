"""Text of unknown origin on a terminal."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from haytham.cli.visible import visible, visible_lines


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ""),
        ("Größe, 日本語, ελληνικά, 🚲", "Größe, 日本語, ελληνικά, 🚲"),
        ("\x1b[31mred\x1b[0m", "\\x1b[31mred\\x1b[0m"),
        ("\x1b]8;;http://x\x07link", "\\x1b]8;;http://x\\x07link"),
        ("a\nb\r\tc\x7f\x9b", "a\\nb\\r\\tc\\x7f\\x9b"),
        ("user\u202egnp.exe", "user\\u202egnp.exe"),
        ("\u2066x\u2069\u200f\u061c\ufeff", "\\u2066x\\u2069\\u200f\\u061c\\ufeff"),
        ("\u2028\U000e0041\udc80", "\\u2028\\U000e0041\\udc80"),
        ("क्\u200dष, 👩\u200d🚒", "क्\u200dष, 👩\u200d🚒"),
    ],
)
def test_escapes(text: str, expected: str) -> None:
    """Escape sequences, control, bidi, tag and separator characters are shown as numbers; letters stay."""
    assert visible(text) == expected


@given(st.text())
def test_nothing_that_steers_is_left(text: str) -> None:
    """Whatever the text is, no control or reordering character is in what is shown."""
    categories = {unicodedata.category(char) for char in visible(text) if char not in "\u200c\u200d"}
    assert categories & {"Cc", "Cf", "Cs", "Zl", "Zp"} == set()


@given(st.text(st.characters(min_codepoint=0x20, max_codepoint=0x7E)))
def test_plain_text_is_unchanged(text: str) -> None:
    """Plain text is shown as it is."""
    assert visible(text) == text


def test_lines_stay_lines() -> None:
    """A text of several lines keeps them."""
    assert visible_lines("a\n\x1bb\n") == "a\n\\x1bb\n"
