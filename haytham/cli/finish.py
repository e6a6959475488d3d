"""The command `haytham finish`.

`--json` prints: form "haytham.finish", version 1, and what `complete_session` of a project returns: project_id,
session_id, status, completed, requirements_version, requirements_file, unfinished_phases, metrics.
"""

import click

from haytham.cli import hints, json_output, options, terminal
from haytham.cli.commands import COMMANDS
from haytham.cli.selection import Selection, selecting
from haytham.cli.target import Target, open_session
from haytham.cli.text_file import TextFile
from haytham.domain.errors import InvalidInput, Location
from haytham.domain.records import SessionResult

_HELP = f"""{COMMANDS["finish"][1]}

The result is kept in the project, as outputs/requirements_vN.md: the one output
of the last completed phase or, if FILE is named, that text; - is standard input.
Phases that have not run are named. While a required review is missing, the
session does not end."""
_EPILOG = """\b
Examples:
  haytham finish
  haytham finish requirements.md
  haytham finish - --session session-456 < requirements.md"""


@click.command("finish", help=_HELP, epilog=_EPILOG)
@click.argument("result", type=TextFile(), required=False, metavar="[FILE]")
@selecting(project="the only one", session="the only one that is not completed")
@options.json_option
@options.help_option
def command(result: str | None, selection: Selection, *, as_json: bool) -> None:
    """Ends a session."""
    target = open_session(selection)
    before = selection.manager.session_results(*target.ids)
    outputs = target.manager.final_outputs(*target.ids)
    text = result if result is not None else _only_output(target, outputs, before)
    ended = selection.manager.complete_session(*target.ids, text)
    if as_json:
        json_output.emit("finish", ended)
    else:
        _show(ended, next((name for name, output in outputs.items() if output == text), None), before)


def _only_output(target: Target, outputs: dict[str, str], before: list[str]) -> str:
    if before:
        raise InvalidInput(
            f"session {target.session} is completed, and its result is kept.",
            location=Location(path=before[-1]),
            hint="name a file to keep another text beside it.",
        )
    if not outputs:
        raise InvalidInput("there is no output, and no file is named.", hint="name the file to keep.")
    if len(outputs) > 1:
        what = f"there are {len(outputs)} outputs of the last completed phase, and no file is named"
        raise InvalidInput(f"{what}: {', '.join(outputs)}.", hint="name the file to keep.")
    return next(iter(outputs.values()))


def _show(ended: SessionResult, output: str | None, before: list[str]) -> None:
    left_out = ", ".join(str(number) for number in ended["unfinished_phases"])
    console = terminal.screen()
    status = terminal.joined([terminal.styled(f"{ended['session_id']}: "), terminal.word(ended["status"])], "")
    terminal.facts(
        console,
        [
            ("Session", status),
            *([("Not run", f"phases {left_out}")] if left_out else []),
            ("Result", f"the output {output}" if output else "a text that is no output of the last phase"),
            *([("Before", f"{len(before)} kept earlier, which stay")] if before else []),
        ],
    )
    terminal.plain(console, ended["requirements_file"])
    terminal.show(console)
    terminal.plain(console, hints.runnable("One page to mail: haytham export --html"))
