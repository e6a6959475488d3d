"""The command `haytham import`.

`--json` prints: form "haytham.import", version 1, kind, project_id, session_id (null for a project), path, sessions,
original_project_id, original_session_id.
"""

from pathlib import Path

import click

from haytham.checkpoint.checkpoint_manager import CheckpointManager
from haytham.cli import json_output, options, progress, terminal
from haytham.cli.commands import COMMANDS
from haytham.domain.exchange_records import ImportRecord
from haytham.storage import folders

_HELP = f"""{COMMANDS["import"][1]}

Everything is checked first: each hash, and all that haytham verify looks at. A
file that does not verify is refused, and nothing is written. What exists is
never overwritten; --as gives the newcomer another id, as one commit on top."""
_EPILOG = """\b
Examples:
  haytham import session-456.haytham.zip
  haytham import session-456.haytham.zip --as session-457
  haytham import session-456.haytham.zip --project project-9 --json"""


@click.command("import", help=_HELP, epilog=_EPILOG)
@click.argument("file", type=click.Path(path_type=Path))
@options.base_dir_option
@options.project_option("the one that the session came from")
@click.option("--as", "as_id", metavar="ID", help="Id of the new session or project [default: the one it had]")
@options.json_option
@options.help_option
def command(file: Path, base_dir: Path, project: str | None, as_id: str | None, *, as_json: bool) -> None:
    """Makes a session or a project from an exported file."""
    with folders.vanishing(base_dir), progress.shown("Importing", as_json=as_json) as told:
        record = CheckpointManager(base_dir).import_file(file, project_id=project, as_id=as_id, on_progress=told)
    if as_json:
        json_output.emit("import", {**record})
    else:
        _show(record)


def _show(record: ImportRecord) -> None:
    console = terminal.screen()
    what = record["session_id"] or record["project_id"]
    was = record["original_session_id"] or record["original_project_id"]
    origin = f" (exported as {was})" if was != what else ""
    terminal.plain(console, f"{record['kind'].capitalize()} {what} imported{origin}", "green")
    terminal.plain(console, record["path"])
