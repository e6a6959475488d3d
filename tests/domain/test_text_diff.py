"""What changed between two texts."""

from haytham.domain import text_diff


def test_equal_texts_differ_in_nothing() -> None:
    """Two equal texts give an empty diff."""
    assert text_diff.unified("a\nb", "a\nb", "x", "y") == ""


def test_a_missing_last_line_break_is_told() -> None:
    """A last line without its break is marked, as git does, and a form feed breaks no line."""
    assert text_diff.unified("a\x0cb\n", "a\x0cc", "x", "y") == (
        "--- x\n+++ y\n@@ -1 +1 @@\n-a\x0cb\n+a\x0cc\n\\ No newline at end of file\n"
    )
