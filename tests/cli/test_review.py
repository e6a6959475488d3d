"""The command `haytham review`, with real editors: small programs in $EDITOR."""

import fcntl
import os
import pty
import select
import struct
import subprocess
import termios
import time
from pathlib import Path

import pytest

from haytham.checkpoint.checkpoint_manager import CheckpointManager
from tests.cli.conftest import PROGRAM, Said, Sample, Shell, process
from tests.cli.waiting import CHANGES_HINT, attempt, decides, editor, form, openings, waiting_session

RENAMES = (
    "beside = path.with_name('.user_feedback.md.swp')\n"
    "beside.write_text(text.replace('- Action: -', '- Action: approved'))\n"
    "beside.rename(path)"
)
BREAKS = (
    "path.write_text(text.replace('- Action: -', '- Action: aproved').replace('Approved: false', 'Approved: perhaps'))"
)
MENDS = "path.write_text(text.replace('aproved', 'approved').replace('perhaps', 'true'))"


@pytest.fixture
def waiting(tmp_path: Path) -> Sample:
    """A session whose phase 1 waits for a required review."""
    return waiting_session(tmp_path / "projects")


def review(sample: Sample, words: str, *arguments: str) -> Said:
    """Runs the command as a process of its own, with an editor."""
    return process("review", *arguments, "--base-dir", sample.base, VISUAL="", EDITOR=words)


def test_in_place(waiting: Sample, tmp_path: Path) -> None:
    """An editor that truncates and writes: the decision is taken in, committed and shown."""
    said = review(waiting, editor(tmp_path, decides("approved")))
    assert (said.code, said.err) == (0, "")
    lines = said.out.splitlines()
    assert lines[0] == "Phase 1 Concept Expansion"
    assert lines[1].startswith("Decision  approved by ")
    manager = CheckpointManager(waiting.base)
    content = manager.review(*waiting.ids, 1)["content"]
    assert lines[-4:-2] == [f"Content {content}", f"Form    {form(waiting)}"]
    assert manager.get_approved_phases(*waiting.ids) == [1]
    assert manager.history(*waiting.ids)[0].trailers["Haytham-Decision"] == "approved"


def test_beside_and_rename(waiting: Sample, tmp_path: Path) -> None:
    """An editor that writes beside the form and renames."""
    said = review(waiting, editor(tmp_path, RENAMES), "1")
    assert (said.code, said.err) == (0, "")
    assert CheckpointManager(waiting.base).get_approved_phases(*waiting.ids) == [1]


def test_requested_changes_are_shown(waiting: Sample, tmp_path: Path) -> None:
    """What was asked for, of several lines too, and the comment are shown as they were written."""
    step = (
        "text = text.replace('- Action: -', '- Action: retry_with_changes')\n"
        f"hint = {CHANGES_HINT!r}\n"
        "path.write_text(text.replace(hint, hint + '- one\\n  and more\\n- two\\n'))"
    )
    said = review(waiting, editor(tmp_path, step))
    assert (said.code, said.err) == (0, "")
    assert "Decision  retry_with_changes by " in said.out
    assert "Changes   1. one\n          and more\n          2. two\n" in said.out
    assert CheckpointManager(waiting.base).load_session(*waiting.ids)["phase_statuses"][1] == "requires_retry"


def test_faults_are_named_and_the_form_opens_again(waiting: Sample, tmp_path: Path) -> None:
    """Every fault is told with its line, and the second opening shows the very bytes of the first."""
    keeps = f"(path.parent / 'seen').write_text(text)\n{MENDS}"
    said = review(waiting, editor(tmp_path, BREAKS, keeps))
    assert said.code == 0
    assert openings(tmp_path) == 2
    seen = (form(waiting).parent / "seen").read_text()
    lines = seen.splitlines()
    for fault in ("- Approved: perhaps", "- Action: aproved"):
        assert f"  {form(waiting)}, line {lines.index(fault) + 1}, " in said.err
    assert 'did you mean "approved"?' in said.err
    assert "Decision  approved by " in said.out


def test_a_faulty_form_is_never_changed(waiting: Sample, tmp_path: Path) -> None:
    """An editor that breaks the form and then does nothing: the form is kept to the byte, and the code is 1."""
    said = review(waiting, editor(tmp_path, BREAKS))
    assert (said.code, said.out) == (1, "")
    assert openings(tmp_path) == 2
    assert "- Action: aproved\n" in form(waiting).read_text()
    again = f"haytham review 1 --base-dir {waiting.base} opens it again.\n"
    assert said.err.endswith(f"The form is kept as it is.\n{again}")


def test_an_editor_that_never_ends(waiting: Sample, tmp_path: Path) -> None:
    """Where nobody can be asked, an editor that breaks the form again and again is not opened forever."""
    words = editor(tmp_path, *(["path.write_text(text + '\\n## Action Taken\\n- Action: x\\n')"] * 20))
    assert review(waiting, words).code == 1
    assert openings(tmp_path) == 10


def test_nothing_was_done(waiting: Sample, tmp_path: Path) -> None:
    """An editor that does nothing: no decision, said so, code 1, nothing changed."""
    before = form(waiting).read_bytes()
    said = review(waiting, editor(tmp_path))
    assert said.code == 1
    assert said.err == (
        "The form has no decision yet: Action is not set. What you wrote is kept.\n"
        f"haytham review 1 --base-dir {waiting.base} opens it again.\n"
    )
    assert "Decision  none yet\n" in said.out
    assert form(waiting).read_bytes() == before


def test_a_draft_is_kept(waiting: Sample, tmp_path: Path) -> None:
    """A comment without a decision stays in the form."""
    step = "path.write_text(text.replace('as you wrote it -->', 'as you wrote it -->\\nnot yet sure'))"
    said = review(waiting, editor(tmp_path, step))
    assert said.code == 1
    assert "Comments  not yet sure\n" in said.out
    assert "\nnot yet sure\n" in form(waiting).read_text()


def test_an_editor_that_fails(waiting: Sample, tmp_path: Path) -> None:
    """An editor that ends with an error: said so, code 1, what it saved is kept."""
    said = review(waiting, editor(tmp_path, "path.write_text(text + 'a note\\n')\nsys.exit(3)"))
    assert (said.code, said.out) == (1, "")
    assert " ended with code 3.\n" in said.err
    assert f"  {form(waiting)}\nHint: what it saved stays in the form. " in said.err
    assert form(waiting).read_text().endswith("a note\n")


def test_an_editor_that_is_not_there(waiting: Sample) -> None:
    """A wrong $EDITOR is named, with what to do."""
    said = review(waiting, "no-such-editor")
    assert (said.code, said.out) == (1, "")
    assert "Error: the editor 'no-such-editor' cannot be started.\n" in said.err


def test_which_editor(waiting: Sample, tmp_path: Path) -> None:
    """$VISUAL comes before $EDITOR; without both it is sensible-editor, then vi, by PATH."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("mine", "sensible-editor", "vi"):
        (folder / name).write_text(f"#!/bin/sh\necho {name} > {tmp_path}/used\n")
        (folder / name).chmod(0o755)
    used = tmp_path / "used"
    for visual, words, expected in (
        ("mine", "vi", "mine"),
        ("", "mine -x 'a b'", "mine"),
        ("", "", "sensible-editor"),
    ):
        process("review", "--base-dir", waiting.base, VISUAL=visual, EDITOR=words, PATH=str(folder))
        assert used.read_text() == f"{expected}\n"
    (folder / "sensible-editor").unlink()
    process("review", "--base-dir", waiting.base, VISUAL="", EDITOR="", PATH=str(folder))
    assert used.read_text() == "vi\n"
    (folder / "vi").unlink()
    said = process("review", "--base-dir", waiting.base, VISUAL="", EDITOR="", PATH=str(folder))
    assert (said.code, said.out) == (1, "")
    assert said.err.startswith("Error: no editor was found.\n")


def test_the_line_of_the_fault(waiting: Sample, tmp_path: Path) -> None:
    """An editor that knows `+LINE` is opened at the decision, or at the first fault."""
    program = tmp_path / "vim"
    program.write_text(f'#!/bin/sh\necho "$@" >> {tmp_path}/arguments\n')
    program.chmod(0o755)
    path = form(waiting)
    line = path.read_text().splitlines().index("- Action: -") + 1
    assert review(waiting, str(program)).code == 1
    assert (tmp_path / "arguments").read_text() == f"+{line} {path}\n"
    (tmp_path / "arguments").unlink()
    path.write_text("\n" + path.read_text().replace("- Action: -", "- Action: aproved"))
    line = path.read_text().splitlines().index("- Action: aproved") + 1
    assert review(waiting, str(program)).code == 1
    assert (tmp_path / "arguments").read_text().splitlines() == [f"+{line} {path}"]


def test_json(waiting: Sample, tmp_path: Path) -> None:
    """The JSON form holds the review as the manager returns it; what an editor prints does not get into it."""
    said = review(waiting, editor(tmp_path, decides("skip_phase") + "\nprint('noise')"), "--json")
    assert (said.code, said.err) == (0, "noise\n")
    assert list(said.json) == ["form", "version", "project_id", "session_id", "review"]
    assert (said.json["form"], said.json["version"]) == ("haytham.review", 1)
    assert said.json["review"] == CheckpointManager(waiting.base).review(*waiting.ids, 1)
    assert said.json["review"]["decision"] == "skip_phase"


def test_content_that_changed_meanwhile(waiting: Sample, tmp_path: Path) -> None:
    """An approval of outputs that changed while the editor was open does not count, and that is said."""
    step = "output = path.with_name('writer.md')\noutput.write_text(output.read_text() + 'more\\n')\n"
    said = review(waiting, editor(tmp_path, step + decides("approved")))
    assert said.code == 1
    assert said.err == "The outputs changed while the editor was open, so that the form was issued anew.\n"
    assert "void because the outputs had changed before this decision was saved" in " ".join(said.out.split())
    assert CheckpointManager(waiting.base).get_approved_phases(*waiting.ids) == []


def test_an_orchestrator_was_faster(waiting: Sample, tmp_path: Path) -> None:
    """A decision that was taken in, and answered, while the editor was open is not called missing."""
    step = (
        decides("retry_with_changes")
        + f"\nsys.path.insert(0, {str(Path.cwd())!r})\n"
        + "from tests.cli.waiting import Sample, attempt\n"
        + f"attempt(Sample(base=Path({str(waiting.base)!r}), project='p-1', session='s-1'), 1, 'second\\n')"
    )
    said = review(waiting, editor(tmp_path, step))
    assert said.code == 0
    assert said.err == "Your decision was taken in at once: attempt 2 is there, and waits for a review.\n"
    assert "Phase 1 Concept Expansion, attempt 2\nDecision  none yet\n" in said.out


def test_no_guess_between_two_phases(tmp_path: Path, shell: Shell) -> None:
    """Two open phases are listed; none is picked, and no editor is opened."""
    sample = waiting_session(tmp_path, review="optional")
    attempt(sample, 2, "text\n")
    said = shell("review", "--base-dir", tmp_path)
    assert (said.code, said.out) == (1, "")
    assert said.err == (
        "Error: 2 phases wait for a review.\n"
        "Hint: name one: 1 Concept Expansion (optional), 2 Market Research (optional).\n"
    )


def test_a_required_review_comes_first(tmp_path: Path) -> None:
    """The phase at which the session waits is meant, not one whose review is optional."""
    manager = CheckpointManager(tmp_path / "base")
    sample = Sample(base=tmp_path / "base", project="p-1", session="s-1")
    manager.create_session(*sample.ids, "ada", review={2: "required"})
    attempt(sample, 1, "text\n")
    attempt(sample, 2, "text\n")
    assert review(sample, editor(tmp_path, decides("approved"))).out.startswith("Phase 2 Market Research\n")


def test_nothing_waits(waiting: Sample, shell: Shell) -> None:
    """Without an open phase that is said; a phase that has not run has no form."""
    CheckpointManager(waiting.base).save_user_feedback(*waiting.ids, 1, reviewed=True, approved=True)
    said = shell("review", "--base-dir", waiting.base)
    assert (said.code, said.out) == (1, "")
    assert said.err.startswith("Error: no phase of session s-1 waits for a review.\n")
    said = shell("review", "3", "--base-dir", waiting.base)
    assert said.code == 1
    assert said.err.startswith("Error: phase 3 Niche Selection has no feedback form yet.\n")
    said = shell("review", "9", "--base-dir", waiting.base)
    assert (said.code, said.err) == (1, "Error: this session has no phase 9.\nHint: its phases: 1, 2, 3, 6, 7.\n")
    said = shell("review", "two", "--base-dir", waiting.base)
    assert said.code == 2


def test_no_guess_between_two_sessions(waiting: Sample, shell: Shell) -> None:
    """Two sessions that are not completed are listed; a completed one is not in the way."""
    other = waiting_session(waiting.base, "s-2")
    said = shell("review", "--base-dir", waiting.base)
    assert (said.code, said.out) == (1, "")
    assert said.err.startswith("Error: 2 sessions are not completed, and none is named.\n")
    assert "s-1" in said.err
    assert "s-2" in said.err
    manager = CheckpointManager(waiting.base)
    manager.save_user_feedback(*other.ids, 1, reviewed=True, approved=True)
    manager.complete_session(*other.ids)
    assert shell("approve", "--base-dir", waiting.base, "--json").json["session_id"] == "s-1"


def test_a_decision_can_be_changed(waiting: Sample, tmp_path: Path) -> None:
    """A decided phase can be opened again by its number; leaving it as it is, is fine."""
    CheckpointManager(waiting.base).save_user_feedback(*waiting.ids, 1, reviewed=True, approved=True)
    assert review(waiting, editor(tmp_path), "1").code == 0
    step = (
        "text = text.replace('Action: approved', 'Action: skip_phase')\n"
        "path.write_text(text.replace('Approved: true', 'Approved: false'))"
    )
    (tmp_path / "openings").unlink()
    said = review(waiting, editor(tmp_path, step), "1")
    assert (said.code, said.err) == (0, "")
    assert "Decision  skip_phase by " in said.out


class Terminal:
    """The command in a terminal of 80 columns, with a person at the keys."""

    def __init__(self, sample: Sample, words: str) -> None:
        self._leader, follower = pty.openpty()
        fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 80, 0, 0))
        environment = os.environ | {"VISUAL": "", "EDITOR": words, "TERM": "xterm-256color"}
        self._running = subprocess.Popen(
            [*PROGRAM, "review", "--base-dir", str(sample.base)],
            stdin=follower,
            stdout=follower,
            stderr=follower,
            env=environment,
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),  # noqa: PLW1509 - so that keys become signals
        )
        os.close(follower)
        self.text = ""

    def until(self, text: str) -> None:
        """Reads until a text is on the screen."""
        end = time.monotonic() + 30
        while text not in self.text:
            assert time.monotonic() < end, self.text
            if select.select([self._leader], [], [], 0.1)[0]:
                self.text += os.read(self._leader, 65536).decode()

    def type(self, keys: str) -> None:
        """Presses keys."""
        os.write(self._leader, keys.encode())

    def end(self) -> int:
        """Waits for the end and returns the exit code."""
        while True:
            try:
                chunk = os.read(self._leader, 65536)
            except OSError:
                break
            self.text += chunk.decode()
        os.close(self._leader)
        return self._running.wait()


@pytest.mark.parametrize(("keys", "code", "opened"), [("\n", 0, 2), ("y\n", 0, 2), ("n\n", 1, 1), ("\x04", 1, 1)])
def test_the_person_is_asked(keys: str, code: int, opened: int, waiting: Sample, tmp_path: Path) -> None:
    """In a terminal it asks before it opens a faulty form again; no, or the end of input, keeps the file."""
    terminal = Terminal(waiting, editor(tmp_path, BREAKS, MENDS))
    terminal.until("Open it again?")
    terminal.type(keys)
    assert terminal.end() == code
    assert openings(tmp_path) == opened
    assert ("- Action: aproved\n" in form(waiting).read_text()) is (code == 1)
    assert ("The form is kept as it is." in terminal.text) is (code == 1)


def test_interrupt_belongs_to_the_editor(waiting: Sample, tmp_path: Path) -> None:
    """Ctrl-C while the editor is open neither ends us nor the editor's own use of it."""
    step = (
        "import signal, time\n"
        "got = []\n"
        "signal.signal(signal.SIGINT, lambda *_: got.append(1))\n"
        "print('ready', flush=True)\n"
        "while not got:\n    time.sleep(0.01)\n" + decides("approved")
    )
    terminal = Terminal(waiting, editor(tmp_path, step))
    terminal.until("ready")
    terminal.type("\x03")
    assert terminal.end() == 0
    assert "approved" in terminal.text
