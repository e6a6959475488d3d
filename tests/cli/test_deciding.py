"""The commands `haytham approve`, `haytham request-changes` and `haytham skip`."""

import subprocess
from pathlib import Path

import pytest

from haytham.checkpoint.checkpoint_manager import CheckpointManager
from haytham.cli import reporting
from haytham.domain.errors import GateClosed, ReviewTimeout
from tests.cli.conftest import PROGRAM, Sample, Shell, in_terminal, process
from tests.cli.waiting import attempt, form, waiting_session

BY_RITA = ("--reviewer", "Rita Reviewer <rita@example.org>")
WORKFLOW = """\
name = "two_eyes"
title = "Two eyes"
default_mode = "all"
[modes]
all = [1]
[[phases]]
number = 1
name = "Contract"
folder = "phase_1_contract"
agents = ["writer"]
review = "required"
approvals = { minimum = 2, roles = ["legal"] }
"""


@pytest.fixture
def waiting(tmp_path: Path) -> Sample:
    """A session whose phase 1 waits for a required review."""
    return waiting_session(tmp_path / "projects")


def test_approve_end_to_end(waiting: Sample) -> None:
    """As a process of its own it approves the phase that waits, with the comment, and says so."""
    said = process("approve", "-m", "good", "-m", "and short", *BY_RITA, cwd=waiting.base.parent)
    assert (said.code, said.err) == (0, "")
    lines = said.out.splitlines()
    assert lines[0] == "Phase 1 Concept Expansion"
    assert lines[1].startswith("Decision  approved by Rita Reviewer, 20")
    assert lines[2:] == [
        "Comments  good",
        "",
        "          and short",
        "Review    required",
        f"Content {CheckpointManager(waiting.base).review(*waiting.ids, 1)['content']}",
        "Form    projects/p-1/sessions/s-1/phase_1_concept/user_feedback.md",
        "",
        "What to do: haytham next",
    ]
    manager = CheckpointManager(waiting.base)
    assert manager.get_approved_phases(*waiting.ids) == [1]
    assert manager.load_feedback(*waiting.ids, 1)["comments"] == "good\n\nand short"
    newest = manager.history(*waiting.ids)[0]
    assert (newest.author.name, newest.author.email) == ("Rita Reviewer", "rita@example.org")


def test_approve_json(waiting: Sample, shell: Shell) -> None:
    """The JSON form holds the review as the manager returns it."""
    said = shell("approve", "1", "--base-dir", waiting.base, "--json")
    assert (said.code, said.err) == (0, "")
    assert list(said.json) == ["form", "version", "project_id", "session_id", "review"]
    assert said.json["review"] == CheckpointManager(waiting.base).review(*waiting.ids, 1)
    assert said.json["review"]["approved"] is True


def test_approve_opens_the_gate(waiting: Sample) -> None:
    """Before, the next phase may not start; behind it, it may."""
    with pytest.raises(GateClosed):
        attempt(waiting, 2, "text\n")
    assert process("approve", "--base-dir", waiting.base).code == 0
    attempt(waiting, 2, "text\n")


def test_request_changes_end_to_end(waiting: Sample) -> None:
    """Changes of several lines, one of them from standard input, reach the next attempt exactly."""
    arguments = ["request-changes", "-c", "one\n\n  deeper", "-c", "-", "-c", "- Action: approved", "-m", "almost"]
    done = subprocess.run(
        [*PROGRAM, *arguments], cwd=waiting.base.parent, input="from a file,\nof two lines\n", text=True,
        capture_output=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert "Decision  retry_with_changes by " in done.stdout
    assert "          2. from a file,\n          of two lines\n" in done.stdout
    request = CheckpointManager(waiting.base).retry_request(*waiting.ids, 1)
    assert request is not None
    assert request["requested_changes"] == ["one\n\n  deeper", "from a file,\nof two lines", "- Action: approved"]
    assert (request["comments"], request["attempt"]) == ("almost", 2)
    assert request["previous_outputs"] == {"writer": "the first text\n"}


def test_request_changes_json(waiting: Sample, shell: Shell) -> None:
    """The JSON form holds the changes."""
    said = shell("request-changes", "1", "-c", "one", "--base-dir", waiting.base, "--json")
    assert (said.code, said.err) == (0, "")
    assert (said.json["form"], said.json["review"]["requested_changes"]) == ("haytham.review", ["one"])


@pytest.mark.parametrize(
    ("arguments", "code", "expected"),
    [
        ([], 2, "Error: missing option '-c' / '--change'.\nHint: see: haytham request-changes --help\n"),
        (["-c", " "], 1, "Error: a requested change is empty.\nHint: say what should be different.\n"),
        (["-c", "-", "-c", "-"], 2, "Error: standard input can hold one change only.\n"),
    ],
)
def test_request_changes_errors(arguments: list[str], code: int, expected: str, waiting: Sample, shell: Shell) -> None:
    """Without a change, or with an empty one, nothing is saved."""
    before = form(waiting).read_bytes()
    said = shell("request-changes", *arguments, "--base-dir", waiting.base)
    assert (said.code, said.out) == (code, "")
    assert said.err.startswith(expected)
    assert form(waiting).read_bytes() == before


def test_request_changes_that_is_no_text(waiting: Sample) -> None:
    """Bytes on standard input that are not UTF-8 are refused."""
    command = [*PROGRAM, "request-changes", "-c", "-", "--base-dir", str(waiting.base)]
    done = subprocess.run(command, input=b"\xff", capture_output=True, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith(b"Error: the change on standard input is not UTF-8.\n")


def test_skip_end_to_end(waiting: Sample) -> None:
    """A skipped phase is skipped, and the session goes on behind it."""
    said = process("skip", "-m", "given", cwd=waiting.base.parent)
    assert (said.code, said.err) == (0, "")
    assert "Decision  skip_phase by " in said.out
    assert CheckpointManager(waiting.base).load_session(*waiting.ids)["phase_statuses"][1] == "skipped"
    attempt(waiting, 2, "text\n")


def test_skip_json(waiting: Sample, shell: Shell) -> None:
    """The JSON form holds the decision."""
    assert shell("skip", "--base-dir", waiting.base, "--json").json["review"]["decision"] == "skip_phase"


@pytest.mark.parametrize("command", [["approve"], ["skip"], ["request-changes", "-c", "x"]])
def test_a_phase_that_has_not_run(command: list[str], waiting: Sample, shell: Shell) -> None:
    """Nothing can be decided about a phase without a form."""
    said = shell(*command, "3", "--base-dir", waiting.base)
    assert (said.code, said.out) == (1, "")
    assert said.err.startswith("Error: phase 3 Niche Selection has no feedback form yet.\n")


@pytest.mark.parametrize("command", [["approve"], ["skip"], ["request-changes", "-c", "x"]])
def test_a_form_that_cannot_be_understood(command: list[str], waiting: Sample, shell: Shell) -> None:
    """A form with a fault is reported with its line and left as it is."""
    path = form(waiting)
    path.write_text(path.read_text().replace("- Action: -", "- Action: aproved"))
    before = path.read_bytes()
    said = shell(*command, "--base-dir", waiting.base)
    assert (said.code, said.out) == (1, "")
    assert f"  {path}, line " in said.err
    assert path.read_bytes() == before


def draft(sample: Sample, *, comment: str = "", change: str = "") -> bytes:
    """Puts a draft into the form, without a decision."""
    path = form(sample)
    text = path.read_text()
    if comment:
        text = text.replace("as you wrote it -->\n", f"as you wrote it -->\n{comment}\n")
    if change:
        text = text.replace("to the next attempt -->\n", f"to the next attempt -->\n- {change}\n")
    path.write_text(text)
    return path.read_bytes()


def test_a_draft_counts(waiting: Sample, shell: Shell) -> None:
    """Comments and changes that stand in the form undecided go with the decision."""
    draft(waiting, comment="from the form", change="first")
    said = shell("request-changes", "-c", "second", "--base-dir", waiting.base, "--json")
    assert said.code == 0
    assert said.json["review"]["comments"].strip() == "from the form"
    assert said.json["review"]["requested_changes"] == ["first", "second"]


@pytest.mark.parametrize(
    ("command", "what"),
    [
        (["approve"], "requested changes"),
        (["skip"], "requested changes"),
        (["approve", "-m", "mine"], "comments"),
        (["request-changes", "-c", "x", "-m", "mine"], "comments"),
    ],
)
def test_a_draft_is_not_replaced(command: list[str], what: str, waiting: Sample, shell: Shell) -> None:
    """What a decision on the command line would drop from the form is named, and nothing is saved."""
    before = draft(waiting, comment="theirs", change="first")
    said = shell(*command, "--base-dir", waiting.base)
    assert (said.code, said.out) == (1, "")
    assert said.err == (
        f"Error: somebody wrote {what} into the form of phase 1 and has not decided yet.\n"
        f"  {form(waiting)}\n"
        f"Hint: haytham review 1 --base-dir {waiting.base} opens the form, so that you can decide there.\n"
    )
    assert form(waiting).read_bytes() == before


def test_several_reviewers(tmp_path: Path, shell: Shell) -> None:
    """Where two approvals and a role are asked for, the first one is not enough, and what is missing is said."""
    (tmp_path / "workflow.toml").write_text(WORKFLOW)
    base = tmp_path / "base"
    sample = Sample(base=base, project="p-1", session="s-1")
    CheckpointManager(base, workflows=[tmp_path / "workflow.toml"]).create_session(
        *sample.ids, "ada", "two_eyes", "all"
    )
    attempt(sample, 1, "text\n")
    first = shell("approve", "--base-dir", base, *BY_RITA)
    assert (first.code, first.err) == (0, "")
    assert "Decision  not enough yet\nMissing   an approval in the role legal\n" in first.out
    wrong = shell("approve", "--base-dir", base, "--reviewer", "Leo", "--role", "leagl")
    assert wrong.code == 1
    assert wrong.err.startswith("Error: role is 'leagl', which phase 1 does not ask for.\n")
    second = shell("approve", "--base-dir", base, "--reviewer", "Leo", "--role", "legal")
    assert "Decision  approved by Leo, " in second.out
    assert "approved by Leo (legal)\n" in second.out
    assert shell("status", "--base-dir", base, "--json").json["session"]["phases"][0]["review"] == "approved"


@pytest.mark.parametrize("command", ["approve", "skip", "request-changes"])
def test_decision_about_other_content_is_refused(waiting: Sample, shell: Shell, command: str) -> None:
    """Whoever names the content that they read does not decide about another one."""
    words: list[str | Path] = [
        command,
        "--base-dir",
        waiting.base,
        *(["-c", "better"] if command == "request-changes" else []),
    ]
    before = form(waiting).read_bytes()
    refused = shell(*words, "--content", f"sha256:{'0' * 64}")
    assert (refused.code, form(waiting).read_bytes()) == (1, before)
    assert refused.err.startswith("Error: phase 1 Concept Expansion changed since it was read.\n")
    read = CheckpointManager(waiting.base).review(*waiting.ids, 1)["content"]
    done = shell(*words, "--content", read)
    assert (done.code, done.err) == (0, "")
    assert f"\nContent {read}\n" in done.out


def test_hostile_words_are_neutralised(waiting: Sample, shell: Shell) -> None:
    """An escape sequence in a comment or a change is shown as text."""
    said = shell("request-changes", "-c", "\x1b[31mred", "-m", "a\u202eb", "--base-dir", waiting.base)
    assert said.code == 0
    assert said.out.replace("\n", "").isprintable()
    assert "1. \\x1b[31mred" in said.out


@pytest.mark.parametrize("error", [GateClosed("a review is missing."), ReviewTimeout("nobody has decided yet.")])
def test_exit_codes(error: Exception, capsys: pytest.CaptureFixture[str]) -> None:
    """A closed gate and a review that did not come are the user's matter: code 1, no traceback."""

    def run() -> int:
        raise error

    assert reporting.guarded(run) == 1
    assert capsys.readouterr().err == f"Error: {error}\n"


def test_only_the_decision_is_coloured(waiting: Sample) -> None:
    """In a terminal the word that decides is green; who decided, and when, is not."""
    written = in_terminal("approve", "--base-dir", str(waiting.base), "--reviewer", "Rita")
    assert "\x1b[32mapproved\x1b[0m by Rita, 20" in written
