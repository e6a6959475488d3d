"""The command `haytham demo`: shows a scripted session while it runs, then what it left."""

import asyncio
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import click

from haytham.cli import hints, terminal
from haytham.cli.commands import COMMANDS
from haytham.cli.demo_display import Display
from haytham.cli.options import base_dir_option, help_option
from haytham.cli.selection import Selection
from haytham.cli.target import Target, newest_session
from haytham.demo import story
from haytham.demo.performance import Ending, Performance
from haytham.domain import staleness
from haytham.domain.choices import ReviewPolicy
from haytham.domain.errors import InvalidInput

if TYPE_CHECKING:
    from rich.console import Console
    from rich.tree import Tree

_HELP = f"""{COMMANDS["demo"][1]}

Seven agents work through the phases of the built-in workflow; their texts are part of the program.
A reviewer sends one phase back with requested changes; with --review, the reviewer is you.
Everything is in a new project below --base-dir; delete that folder to be rid of it."""
_EPILOG = """

\b
Examples:
  haytham demo
  haytham demo --review
  haytham demo --fast --base-dir /tmp/try
  haytham demo --project project-123"""

_SHORT_ID = 7


@click.command("demo", help=_HELP, epilog=_EPILOG)
@base_dir_option
@click.option("--fast", is_flag=True, help="Let the agents answer at once, as when the output is no terminal")
@click.option("--review", is_flag=True, help="Stop at two phases and wait for your decision")
@click.option("--project", metavar="ID", help="Go on with a demo that was interrupted [default: a new one]")
@help_option
def command(base_dir: Path, project: str | None, *, fast: bool, review: bool) -> None:
    """Runs the demo."""
    console = terminal.screen()
    terminal.show(console, terminal.styled(f"{story.NAME}: {story.IDEA}"))
    pace = 0.0 if fast or not terminal.is_terminal() else 1.0
    target = _interrupted(base_dir, project) if project is not None else None
    gates = _gates(target) if target else story.GATES if review else ()
    with Display(console, _command) as display:
        performance = Performance(base_dir, display, gates=gates, pace=pace)
        ids = target.ids if target else performance.create()
        try:
            ending = asyncio.run(performance.run(*ids))
        except KeyboardInterrupt:
            interrupted = True
        else:
            interrupted = False
    if interrupted:
        _show_way_on(console, performance, ids)
        raise KeyboardInterrupt
    _show_tree(console, ending.folder)
    _show_history(console, performance, ending)
    _show_commands(console, ending)


def _interrupted(base_dir: Path, project: str) -> Target:
    """Returns the session of an earlier demo; raises InvalidInput if that project is something else, or is over."""
    target = newest_session(Selection(base_dir=base_dir, project=project, session=None))
    state = target.manager.load_session(*target.ids)
    if (state["user_id"], state["workflow_type"], state["execution_mode"]) != (story.USER, story.WORKFLOW, story.MODE):
        raise InvalidInput(f"project {project!r} is not one of the demo's.", hint="haytham demo makes a new one.")
    is_waiting = any(phase.review is ReviewPolicy.REQUIRED for phase in target.waiting())
    if not state["can_resume"] and not is_waiting:
        raise InvalidInput(f"the demo in project {project!r} is over.", hint="haytham demo makes a new one.")
    return target


def _gates(target: Target) -> list[int]:
    return [phase.number for phase in target.phases() if phase.review is ReviewPolicy.REQUIRED]


def _show_way_on(console: "Console", performance: Performance, ids: tuple[str, str]) -> None:
    _title(console, "Stopped; what was done is saved")
    steps = performance.sessions.resume(*ids)
    if steps and steps[0]["action"] == staleness.REVIEW:
        terminal.plain(console, f"Decide about phase {steps[0]['phase_num']}, now or later:")
        terminal.plain(console, f"  {_command('review', ids[0])}")
    terminal.plain(console, "Go on with the demo:")
    terminal.plain(console, f"  {_command('demo', ids[0])}")


def _show_tree(console: "Console", folder: Path) -> None:
    _title(console, "The session is a folder")
    terminal.show(console, _tree(folder, str(folder)))


def _tree(folder: Path, label: str) -> "Tree":
    from rich.tree import Tree

    tree = Tree(terminal.styled(label))
    for path in sorted(folder.iterdir()):
        if path.name.startswith("."):
            continue
        if path.is_dir():
            tree.add(_tree(path, f"{path.name}/"))
        else:
            tree.add(terminal.styled(path.name))
    return tree


def _show_history(console: "Console", performance: Performance, ending: Ending) -> None:
    _title(console, "Its history is git (git log --oneline)")
    for entry in performance.sessions.history(ending.project_id, ending.session_id):
        parts = [terminal.styled(entry.id[:_SHORT_ID], "yellow"), terminal.styled(entry.subject)]
        terminal.show(console, terminal.joined(parts, " "))


def _show_commands(console: "Console", ending: Ending) -> None:
    _title(console, "Look further")
    sent_back = [f"diff {phase.number}" for phase in ending.sent_back]
    for name in ("status", "log", "validate", *sent_back):
        terminal.plain(console, f"  {_command(name, ending.project_id)}")
    terminal.plain(console, "  " + shlex.join(["cat", ending.result["requirements_file"]]))
    terminal.plain(console, "  " + shlex.join(["cd", str(ending.folder)]))
    terminal.plain(console, "  cat session_manifest.md")
    terminal.plain(console, "  git log --stat")
    for phase in ending.sent_back:
        terminal.plain(console, "  " + shlex.join(["git", "log", "-p", f"{phase.folder}/"]))


def _command(name: str, project_id: str) -> str:
    return hints.runnable(f"haytham {name}", project=project_id)


def _title(console: "Console", text: str) -> None:
    terminal.show(console)
    terminal.plain(console, text, "bold")
