import pytest

from haytham.domain import errors
from haytham.domain.errors import HaythamError, InvalidDocument, InvalidInput, Location, Problem


@pytest.mark.parametrize(
    ("kind", "builtin"),
    [
        (errors.InvalidInput, ValueError),
        (errors.InvalidDocument, ValueError),
        (errors.NotFound, FileNotFoundError),
        (errors.Locked, TimeoutError),
        (errors.StorageFailure, OSError),
    ],
)
def test_errors_are_also_the_builtin_that_the_reference_promises(kind: type, builtin: type) -> None:
    """A caller may catch Haytham's error or the builtin one."""
    assert issubclass(kind, builtin)
    assert issubclass(kind, HaythamError)


def test_error_tells_what_where_and_how_to_go_on() -> None:
    """An error on screen: the message, its place below it, the hint."""
    place = Location(path="a/checkpoint.md", line=3, section="Metadata", field="Status")
    error = InvalidInput("phase 2 has no Status.", location=place, hint='add "- Status: completed".')
    assert str(error) == (
        "phase 2 has no Status.\n"
        '  a/checkpoint.md, line 3, section "Metadata", field "Status"\n'
        'Hint: add "- Status: completed".'
    )


def test_error_without_place_and_hint_is_its_message() -> None:
    """Nothing is printed for what is not known."""
    assert str(HaythamError("no.")) == "no."


def test_broken_document_has_all_its_problems() -> None:
    """Every fault is told, the first one is also the error's own."""
    problems = [Problem(message=f"fault {n}.", location=Location(path="x.md", line=n), hint="h") for n in (1, 2)]
    error = InvalidDocument(problems)
    assert tuple(problems) == error.problems
    assert (error.message, error.location.line, error.hint) == ("fault 1.", 1, "h")
    assert str(error) == "fault 1.\n  x.md, line 1\nHint: h\nfault 2.\n  x.md, line 2\nHint: h"


def test_any_error_has_its_problems() -> None:
    """An error of any kind tells what it reports in the same way: as problems, which records can carry."""
    place = Location(path="a/checkpoint.md", line=3, section="Metadata", field="Status")
    problem = Problem(message="no.", location=place, hint="do.")
    assert errors.NotFound("no.", location=place, hint="do.").problems == (problem,)
    assert Problem.of(problem.record()) == problem
    assert list(problem.record()) == ["message", "path", "line", "section", "field", "hint"]
