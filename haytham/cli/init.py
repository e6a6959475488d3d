"""The command `haytham init`.

`--json` prints: form "haytham.init", version 1, project (as `create_project` returns it), path.
"""

import getpass
from pathlib import Path

import click

from haytham.cli import hints, json_output, options, terminal
from haytham.cli.commands import COMMANDS
from haytham.project.project_manager import ProjectManager
from haytham.storage.history_user import user_identity

_HELP = f"""{COMMANDS["init"][1]}

IDEA says in a sentence or more what the project is about.
The project is a folder below --base-dir, with a git repository of its own."""
_EPILOG = """\b
Examples:
  haytham init "Rent out unused garden plots"
  haytham init "Rent out unused garden plots" --name Plots --mode full"""


@click.command("init", help=_HELP, epilog=_EPILOG)
@click.argument("idea", metavar="IDEA")
@click.option("--name", metavar="NAME", help="What to call it [default: its id]")
@click.option("--user", metavar="USER", help="Whose it is [default: you, as git knows you]")
@click.option("--mode", default="mvp", metavar="MODE", help="Execution mode of its sessions [default: mvp]")
@options.base_dir_option
@options.json_option
@options.help_option
def command(idea: str, name: str | None, user: str | None, mode: str, base_dir: Path, *, as_json: bool) -> None:
    """Makes a project."""
    manager = ProjectManager(base_dir)
    project = manager.create_project(user or _you(), idea, name, mode)
    path = base_dir / project["project_id"]
    if as_json:
        json_output.emit("init", {"project": project, "path": str(path)})
        return
    console = terminal.screen()
    terminal.facts(console, [("Project", project["project_id"])])
    terminal.plain(console, str(path))
    terminal.show(console)
    is_only = len(manager.project_ids()) == 1
    command = hints.runnable("haytham new", project=None if is_only else project["project_id"])
    terminal.plain(console, f"Begin a session: {command}")


def _you() -> str:
    person = user_identity()
    return person.name if person and person.name.strip() else getpass.getuser()
