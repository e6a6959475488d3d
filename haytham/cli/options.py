"""The options that commands share."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem

from haytham.storage import layout

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]

BASE_DIR = "projects"

base_dir_option: Decorator = click.option(
    "--base-dir",
    type=click.Path(path_type=Path),
    default=BASE_DIR,
    metavar="DIR",
    help=f"Folder that holds the projects [default: {BASE_DIR}]",
)
help_option: Decorator = click.help_option("-h", "--help", help="Show this message and exit")
json_option: Decorator = click.option("--json", "as_json", is_flag=True, help="Print JSON, for programs (docs/cli.md)")


def project_option(default: str) -> Decorator:
    """Returns the option --project, whose help says what is taken without it."""
    return click.option("--project", metavar="ID", shell_complete=_project_ids, help=f"Project [default: {default}]")


def session_option(default: str) -> Decorator:
    """Returns the option --session, whose help says what is taken without it."""
    return click.option("--session", metavar="ID", shell_complete=_session_ids, help=f"Session [default: {default}]")


def _project_ids(context: click.Context, _: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Offers the projects that a shell may complete to."""
    return _beginning(incomplete, layout.folder_names(_base(context)))


def _session_ids(context: click.Context, _: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Offers the sessions of the project that is named or, without one, of all."""
    base, named = _base(context), context.params.get("project")
    projects = [str(named)] if named else layout.folder_names(base)
    return _beginning(
        incomplete, [name for each in projects for name in layout.folder_names(base / each / layout.SESSIONS_FOLDER)]
    )


def _base(context: click.Context) -> Path:
    return Path(context.params.get("base_dir") or BASE_DIR)


def _beginning(incomplete: str, names: list[str]) -> list[CompletionItem]:
    return [CompletionItem(name) for name in names if name.startswith(incomplete)]


mode_option: Decorator = click.option(
    "--mode", metavar="MODE", help="Execution mode, as the workflow names them [default: the project's]"
)

PHASE_HELP = """PHASE is its number; without it, the phase at which the session waits for a
review or, if it waits at none, the only one that is open."""

phase_argument: Decorator = click.argument("phase", type=int, required=False, metavar="[PHASE]")
comment_option: Decorator = click.option(
    "-m", "--comment", "comments", metavar="TEXT", multiple=True, help="Comment; several become paragraphs"
)
reviewer_option: Decorator = click.option(
    "--reviewer", metavar="'NAME <MAIL>'", help="Who decides [default: you, as git knows you]"
)
content_option: Decorator = click.option(
    "--content", metavar="HASH", help="Decide only about this content, as a review shows it [default: the present one]"
)
role_option: Decorator = click.option("--role", metavar="ROLE", help="In which role, where a phase asks for roles")
point_phase_option: Decorator = click.option("--phase", type=int, metavar="N", help="Last phase to keep")
point_commit_option: Decorator = click.option("--commit", metavar="ID", help="Commit, as haytham log shows it")
dry_run_option: Decorator = click.option("--dry-run", is_flag=True, help="Only list what would happen")


def numbers(values: list[int], nothing: str) -> str:
    """Writes numbers of phases in one line."""
    return ", ".join(str(each) for each in values) or nothing
