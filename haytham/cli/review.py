"""The command `haytham review`.

The person edits the form itself: we never write to it here, so whatever the editor saved stays as it is until it is
understood, and the managers take it in.
"""

from pathlib import Path

import click

from haytham.cli import editor, hints, options, reporting, review_display, terminal
from haytham.cli.commands import COMMANDS
from haytham.cli.editor import Editor
from haytham.cli.selection import Selection, selecting
from haytham.cli.target import Target, open_session
from haytham.domain.errors import InvalidDocument, InvalidInput, Location
from haytham.domain.records import ReviewRecord
from haytham.domain.workflow import Phase

_HELP = f"""{COMMANDS["review"][1]}

{options.PHASE_HELP}
Set Action in the form, save, close the editor. If something in it cannot be
understood, every fault is named with its line and the form opens again; what
you wrote is never changed."""
_EPILOG = """\b
Examples:
  haytham review
  haytham review 2
  EDITOR=nano haytham review 2 --session session-456

\b
The editor is $VISUAL, else $EDITOR, else sensible-editor or vi.
Exit code 1 if there is no decision when the editor is closed."""

_MOST_OPENINGS = 10  # where nobody can be asked whether to go on


@click.command("review", help=_HELP, epilog=_EPILOG)
@options.phase_argument
@selecting(project="the only one", session="the only one that is not completed")
@options.json_option
@options.help_option
@click.pass_context
def command(context: click.Context, phase: int | None, selection: Selection, *, as_json: bool) -> None:
    """Lets a person review a phase in their editor."""
    target = open_session(selection)
    sitting = Sitting(target, target.phase_to_review(phase), editor.chosen())
    if not sitting.hold(as_json=as_json):
        context.exit(reporting.FAULT)


class Sitting:
    """One person with one form, until it is decided or they leave it."""

    def __init__(self, target: Target, phase: Phase, program: Editor) -> None:
        self._target = target
        self._phase = phase
        self._editor = program
        self._form = target.form(phase)
        self._fault: InvalidDocument | None = None

    def hold(self, *, as_json: bool) -> bool:
        """Opens the form until it can be understood; tells whether there is a decision then."""
        before = self._look()
        after = self._after_editing()
        if after is None:
            _say("The form is kept as it is.", self._again())
            return False
        outcome = self._outcome(before, after)
        if outcome is not None:
            _say(outcome)
        review_display.show(self._target, after, as_json=as_json)
        return _is_decided(before, after) or self._was_answered(before, after)

    def _look(self) -> ReviewRecord | None:
        """Takes in the form through the one reader; None, and the fault kept, if it cannot be understood."""
        try:
            record = self._target.manager.review(*self._target.ids, self._phase.number)
        except InvalidDocument as error:
            self._fault = error
            return None
        self._fault = None
        return record

    def _after_editing(self) -> ReviewRecord | None:
        for opening in range(1, _MOST_OPENINGS + 1):
            seen = _bytes(self._form)
            self._edit()
            if record := self._look():
                return record
            if self._fault is not None:
                reporting.tell_problems(self._fault)
            if not self._goes_on(changed=seen != _bytes(self._form), opening=opening):
                return None
        return None

    def _edit(self) -> None:
        line = self._fault.location.line if self._fault else _line_of_action(_bytes(self._form) or b"")
        code = self._editor.edit(self._form, line)
        if code:
            raise InvalidInput(
                f"the editor {self._editor.words!r} ended with code {code}.",
                location=Location(path=str(self._form)),
                hint=f"what it saved stays in the form. haytham review {self._phase.number} opens it again.",
            )

    def _goes_on(self, *, changed: bool, opening: int) -> bool:
        """Asks the person, if there is one; without one, goes on as long as the editor does something."""
        if not terminal.is_conversation():
            return changed and opening < _MOST_OPENINGS
        try:
            return click.confirm("Open it again? (n: keep the file as it is, and end)", default=True, err=True)
        except click.Abort:
            _say("")
            return False

    def _outcome(self, before: ReviewRecord | None, after: ReviewRecord) -> str | None:
        """Says what came of the editing, where the review itself does not show it."""
        if _is_decided(before, after):
            return None
        if self._was_answered(before, after):
            return f"Your decision was taken in at once: attempt {after['attempt']} is there, and waits for a review."
        if before and after["attempt"] != before["attempt"]:
            return f"Attempt {after['attempt']} was made while the editor was open; it waits for a review."
        if before and after["content"] != before["content"]:
            return "The outputs changed while the editor was open, so that the form was issued anew."
        return f"The form has no decision yet: Action is not set. What you wrote is kept.\n{self._again()}"

    def _was_answered(self, before: ReviewRecord | None, after: ReviewRecord) -> bool:
        """Tells whether an orchestrator took in the decision and made a new attempt before the editor was closed."""
        previous = after["previous"]
        if before is None or previous is None:
            return False
        return bool(after["attempt"] > before["attempt"] == previous["attempt"])

    def _again(self) -> str:
        return hints.runnable(f"haytham review {self._phase.number} opens it again.")


def _is_decided(before: ReviewRecord | None, after: ReviewRecord) -> bool:
    """Tells whether there is a decision: a whole one, or one of the several that the phase asks for."""
    return after["decision"] is not None or (before is not None and after["decisions"] != before["decisions"])


def _line_of_action(data: bytes) -> int | None:
    """Returns the line where the decision probably is, for the cursor only."""
    lines = [number for number, line in enumerate(data.split(b"\n"), 1) if line.startswith(b"- Action:")]
    return lines[-1] if lines else None


def _bytes(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except OSError:
        return None


def _say(*sentences: str) -> None:
    """Tells the person something that is no part of the result."""
    for sentence in sentences:
        click.echo(sentence, err=True)
