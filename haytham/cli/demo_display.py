"""Shows a performance while it runs: lines for what is done and, in a terminal, bars for what is going on."""

import sys
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

from haytham.cli import terminal
from haytham.cli.reporting import lines_of
from haytham.cli.styles import STYLES
from haytham.demo.performance import Watcher
from haytham.demo.story import Answer
from haytham.domain.errors import InvalidInput
from haytham.domain.records import CheckpointRecord, ReviewRecord
from haytham.domain.workflow import Phase

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress, TaskID

_NAME_WIDTH = 22
_INSTRUCTIONS = (
    'Replace the - behind "- Action:" by one of these, and save:',
    "  approved              the session goes on",
    "  retry_with_changes    another attempt; write what should be different",
    '                        under "## Requested Changes", one "- " line for each',
    "  skip_phase            this phase is left out",
)


class Display(Watcher):
    """Prints one line for each event; between `with` and its end, a terminal also shows who is at work."""

    def __init__(self, console: "Console", command: Callable[[str, str], str]) -> None:
        self._console = console
        self._command = command
        self._review_command = ""
        self._progress = _progress(console) if console.is_terminal else None
        self._running: dict[str, TaskID] = {}
        self._overall: TaskID | None = None

    def __enter__(self) -> Self:
        if self._progress:
            self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._progress:
            self._progress.stop()

    def started(self, project_id: str, session_id: str, folder: Path, phases: int) -> None:
        """Says where everything will be."""
        self._review_command = self._command("review", project_id)
        self._print("")
        self._print(f"Project  {project_id}")
        self._print(f"Session  {session_id}")
        self._print(f"Folder   {folder}")
        if self._progress:
            self._overall = self._progress.add_task("session", total=phases)

    def phase_started(self, phase: Phase, attempt: int) -> None:
        """Prints the phase as a title."""
        again = f", attempt {attempt}" if attempt > 1 else ""
        self._print("")
        self._print(f"Phase {phase.number} {phase.name}{again}", "bold")

    def agent_started(self, name: str) -> None:
        """Shows the agent at work."""
        if self._progress:
            self._running[name] = self._progress.add_task(name, total=None)

    def agent_done(self, name: str, answer: Answer) -> None:
        """Prints what the agent wrote, in figures."""
        if self._progress:
            self._progress.remove_task(self._running.pop(name))
        size = f"{len(answer.text.encode()) / 1000:.1f} KB"
        tokens = answer.input_tokens + answer.output_tokens
        self._print(f"  {name.ljust(_NAME_WIDTH)}{size:>8}{tokens:>8,} tokens  ${answer.cost:.4f}")

    def phase_done(self, phase: Phase, checkpoint: CheckpointRecord) -> None:
        """Prints that the phase is saved."""
        how = ", in parallel" if checkpoint["execution_mode"] == "parallel" else ""
        self._print(f"  {phase.folder}: {checkpoint['status']}{how}, committed", "dim")

    def waiting(self, phase: Phase, review: ReviewRecord) -> None:
        """Says in plain words what the person has to do; the bars rest meanwhile."""
        if self._progress:
            self._progress.stop()
        self._print("")
        self._print(f"Phase {phase.number} {phase.name} waits for you.", "bold yellow")
        self._print("Read what is in its folder, then decide in this file, with any editor:")
        self._print("")
        self._print(review["form"], "bold")
        self._print("")
        for line in _INSTRUCTIONS:
            self._print(line)
        self._print("Or in another terminal:")
        self._print(f"  {self._review_command}")
        self._print("Ctrl-C stops here; nothing is lost, and you can go on later.", "dim")
        self._print("")

    def misunderstood(self, phase: Phase, error: InvalidInput) -> None:  # noqa: ARG002 - the fault names the file
        """Prints what is wrong with the form; the wait goes on."""
        self._print("")
        for problem in error.problems:
            for line in lines_of(problem, terminal.columns(sys.stdout)):
                self._print(line, "red" if line.startswith("Error") else "")
        self._print("Mend it and save again; what you wrote is untouched.")

    def reviewed(self, phase: Phase, review: ReviewRecord) -> None:  # noqa: ARG002 - the title above names the phase
        """Prints the decision, with what was asked for."""
        decision = review["decision"] or "none"
        self._print(f"  review: {decision}", STYLES.get(decision, ""))
        for line in review["comments"].splitlines():
            self._print(f"    > {line}")
        for change in review["requested_changes"]:
            first, *rest = change.splitlines() or [""]
            self._print(f"    - {first}")
            for line in rest:
                self._print(f"      {line}")
        if self._progress:
            self._progress.start()

    def passed(self, phase: Phase) -> None:  # noqa: ARG002 - the bar counts them
        """Moves the bar on."""
        if self._progress and self._overall is not None:
            self._progress.advance(self._overall)

    def _print(self, text: str, style: str = "") -> None:
        self._console.print(terminal.styled(text, style), soft_wrap=True)


def _progress(console: "Console") -> "Progress":
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    return Progress(
        SpinnerColumn(),
        TextColumn("{task.description:<22}", markup=False),
        BarColumn(bar_width=24),
        TimeElapsedColumn(),
        console=console,
        transient=True,
    )
