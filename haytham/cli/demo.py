"""The command `haytham demo`: shows a scripted session while it runs, then what it left."""

import asyncio
import shlex
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from haytham.cli import terminal
from haytham.cli.commands import COMMANDS
from haytham.cli.demo_display import Display
from haytham.cli.options import BASE_DIR, base_dir_option, help_option
from haytham.demo import story
from haytham.demo.performance import Ending, Performance

if TYPE_CHECKING:
    from rich.console import Console
    from rich.tree import Tree

_HELP = f"""{COMMANDS["demo"][1]}

Seven agents work through the phases of the built-in workflow; their texts are part of the program.
A reviewer sends one phase back with requested changes.
Everything is in a new project below --base-dir; delete that folder to be rid of it."""
_EPILOG = """

\b
Examples:
  haytham demo
  haytham demo --fast --base-dir /tmp/try"""

_SHORT_ID = 7


@click.command("demo", help=_HELP, epilog=_EPILOG)
@base_dir_option
@click.option("--fast", is_flag=True, help="Let the agents answer at once, as when the output is no terminal")
@help_option
def command(base_dir: Path, *, fast: bool) -> None:
    """Runs the demo."""
    console = terminal.screen()
    terminal.show(console, terminal.styled(f"{story.NAME}: {story.IDEA}"))
    pace = 0.0 if fast or not terminal.is_terminal() else 1.0
    with Display(console) as display:
        performance = Performance(base_dir, display, pace=pace)
        ending = asyncio.run(performance.run())
    _show_tree(console, ending.folder)
    _show_history(console, performance, ending)
    _show_commands(console, base_dir, ending)


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
        line = terminal.styled(entry.id[:_SHORT_ID], "yellow")
        terminal.show(console, line.append(" ").append_text(terminal.styled(entry.subject)))


def _show_commands(console: "Console", base_dir: Path, ending: Ending) -> None:
    _title(console, "Look further")
    where = [] if str(base_dir) == BASE_DIR else ["--base-dir", str(base_dir)]
    ours = [program(), "{}", *where, "--project", ending.project_id]
    for name in ("status", "log", "validate"):
        terminal.plain(console, "  " + shlex.join(name if part == "{}" else part for part in ours))
    terminal.plain(console, "  " + shlex.join(["cat", ending.result["requirements_file"]]))
    terminal.plain(console, "  " + shlex.join(["cd", str(ending.folder)]))
    terminal.plain(console, "  cat session_manifest.md")
    terminal.plain(console, "  git log --stat")
    for folder in ending.sent_back:
        terminal.plain(console, "  " + shlex.join(["git", "log", "-p", f"{folder}/"]))


def _title(console: "Console", text: str) -> None:
    terminal.show(console)
    terminal.plain(console, text, "bold")


def program() -> str:
    """Returns what the user has to type to call this program again."""
    called = Path(sys.argv[0])
    found = shutil.which("haytham")
    if called.name != "haytham" or (found and Path(found).resolve() == called.resolve()):
        return "haytham"
    here = Path.cwd()
    return str(called.relative_to(here)) if called.is_relative_to(here) else str(called)
