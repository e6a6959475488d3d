import time

from haytham.domain import suggestions


def test_names_are_compared_without_case_and_separators() -> None:
    """Spaces, hyphens, underscores and case do not make another name."""
    assert suggestions.normalised(" Execution_Mode") == suggestions.normalised("execution   mode ")


def test_closest_is_found() -> None:
    """A slip of the fingers finds the name that was meant; something else finds nothing."""
    assert suggestions.closest("compleetd", ["failed", "completed"]) == "completed"
    assert suggestions.closest("banana", ["failed", "completed"]) is None


def test_long_names_are_not_compared() -> None:
    """Comparing takes no time worth mentioning, whatever is passed in."""
    start = time.perf_counter()
    assert suggestions.closest("a" * 1_000_000, ["aaa"]) is None
    assert time.perf_counter() - start < 0.5
