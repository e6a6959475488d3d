"""What is longer than the screen is shown through a pager."""

from pathlib import Path

import pytest

from tests import terminal
from tests.cli.conftest import PROGRAM, Sample, process
from tests.cli.waiting import attempt, waiting_session

PAGER = "sed 's/^/> /'"


@pytest.fixture
def long(tmp_path: Path) -> Sample:
    """A session with an output that is longer than the screen."""
    sample = waiting_session(tmp_path / "projects", review="none")
    attempt(sample, 2, "".join(f"line {number}\n" for number in range(terminal.ROWS)))
    return sample


def _seen(sample: Sample, *words: str, pager: str = PAGER, **environment: str) -> list[str]:
    command = (*PROGRAM, *words, "--base-dir", str(sample.base))
    code, written = terminal.run(*command, environment={"HAYTHAM_PAGER": pager, **environment})
    assert code == 0
    return written.decode().splitlines()


def test_long_output_goes_through_the_pager(long: Sample) -> None:
    """A long text is handed to the pager with its colours, and nothing of it is lost."""
    lines = _seen(long, "show", "2")
    assert lines[-1] == f"> line {terminal.ROWS - 1}"
    assert all(line.startswith("> ") for line in lines)
    assert any("\x1b[32mcompleted" in line for line in lines)


@pytest.mark.parametrize(
    ("words", "pager"),
    [(["show", "1"], PAGER), (["show", "2", "--no-pager"], PAGER), (["show", "2"], "cat"), (["show", "2"], "")],
)
def test_where_no_pager_is_wanted(long: Sample, words: list[str], pager: str) -> None:
    """What fits the screen is printed as it is, and so is everything if the person says so."""
    assert not any(line.startswith("> ") for line in _seen(long, *words, pager=pager))


def test_a_pager_that_cannot_be_started(long: Sample) -> None:
    """The text is printed nevertheless."""
    assert _seen(long, "show", "2", pager="no-such-pager")[-1] == f"line {terminal.ROWS - 1}"


def test_the_usual_variable(long: Sample) -> None:
    """PAGER is used where HAYTHAM_PAGER is not set, which goes first."""
    words = (*PROGRAM, "show", "2", "--base-dir", str(long.base))
    code, written = terminal.run("env", "-u", "HAYTHAM_PAGER", *words, environment={"PAGER": PAGER})
    assert (code, written.decode().splitlines()[-1]) == (0, f"> line {terminal.ROWS - 1}")


def test_not_a_terminal(long: Sample) -> None:
    """Where nobody looks, no pager is started."""
    said = process("show", "2", "--base-dir", long.base, HAYTHAM_PAGER=PAGER)
    assert (said.code, said.out.splitlines()[-1]) == (0, f"line {terminal.ROWS - 1}")


def test_a_quick_log_is_paged_too(long: Sample) -> None:
    """The log of one session that does not fit goes through the pager, although it is answered without this command."""
    assert not any(line.startswith("> ") for line in _seen(long, "log", "--session", long.session))
    for number in range(terminal.ROWS // 2):
        attempt(long, 3, f"{number}\n")
    assert all(line.startswith("> ") for line in _seen(long, "log", "--session", long.session))
