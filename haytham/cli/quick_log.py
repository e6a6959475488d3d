"""Answers `haytham log --session …` about as fast as git itself.

Python takes longer to import click, rich and libgit2 than git to tell a history. So the plain case is asked of git's
own plumbing here, with a handful of modules; whatever is not plain (other options, signatures, merges, links, a line
that has to be folded, any trouble) is left to the command itself, before anything is printed. Both say the same.
"""

import os
import sys
from time import gmtime, strftime

TYPE_CHECKING = False  # as of typing, which takes a while to import
if TYPE_CHECKING:
    from typing import NoReturn

    from haytham.cli.log_lines import Pieces
    from haytham.domain.audit_records import LogRecord

_OPTIONS = {"--base-dir": "projects", "--project": "", "--session": "", "--limit": ""}
_SHORT = {"-n": "--limit"}
_COLOURS = {"bold": 1, "red": 31, "green": 32, "yellow": 33, "cyan": 36}
_DISPLAY = {"NO_COLOR", "FORCE_COLOR", "COLUMNS"}  # which rich looks at
_END_OF_TIME = 253402300800  # of datetime's: the year 10000
_INDENT = 4  # of a message, as rev-list shows it
_ENVIRONMENT = {  # as in storage/git_variables.py, whose import would take 0.3 of the 12 ms that there are
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ALLOW_PROTOCOL": "",  # for releases of git that do not know the line before
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "LC_ALL": "C",
}


class _NotPlainError(Exception):
    """This takes more than a quick look."""


def text(arguments: list[str]) -> str | None:
    """Returns what `haytham log` prints for these arguments, or None if that takes more than a quick look."""
    try:
        options, as_json = _options(arguments)
        base, session, limit = options["--base-dir"], options["--session"], options["--limit"]
        project = _project(base, options["--project"], session)
        told = _git(_git_folder(base, project, session), _question(session, limit))
        entries = [_record(each, session) for each in told.removesuffix(b"\0").split(b"\0")]
        return _json(project, session, entries) if as_json else _lines(entries)
    except (_NotPlainError, OSError, ValueError):
        return None


def _options(arguments: list[str]) -> tuple[dict[str, str], bool]:
    """Returns the options' values, and whether JSON is wanted."""
    found, rest, as_json = dict(_OPTIONS), list(arguments), False
    while rest:
        argument = rest.pop(0)
        if argument == "--json":
            as_json = True
            continue
        name, equals, value = argument.partition("=")
        name = _SHORT.get(name, name)
        if not equals and rest:
            value = rest.pop(0)
        if name not in found or not value or value[0] in "-=":
            _leave()
        found[name] = value
    return found, as_json


def _project(base: str, named: str, session: str) -> str:
    """Returns the project that has the session: the one that is named, or the only one."""
    with os.scandir(base) as entries:
        names = [each.name for each in entries if each.is_dir(follow_symlinks=False) and each.name[0] != "."]
    if named and named not in names:
        _leave()
    found = [name for name in ([named] if named else names) if os.path.lexists(f"{base}/{name}/sessions/{session}")]
    if len(found) != 1 or not _is_plain(found[0]) or not _is_plain(session):
        _leave()
    return found[0]


def _is_plain(name: str) -> bool:
    return name.isascii() and name.replace("-", "").replace("_", "").isalnum() and name[0].isalnum()


def _git_folder(base: str, project: str, session: str) -> str:
    """Returns where the session's history is; all the way there, folders have to be folders, and the user's own."""
    folder = f"{base}/{project}"
    for name in ("sessions", session, ".git"):
        folder += f"/{name}"
        if os.path.islink(folder):
            _leave()
    if os.stat(folder).st_uid != os.geteuid():
        _leave()
    return os.path.abspath(folder)


def _question(session: str, limit: str) -> list[str]:
    """Returns what git is asked: the commits of a session, newest first, each ended by a zero byte."""
    if limit and int(limit) < 1:
        _leave()
    count = [f"--max-count={int(limit)}"] if limit else []
    return ["rev-list", "--header", "--encoding=UTF-8", *count, f"refs/heads/sessions/{session}", "--"]


def _git(git_folder: str, words: list[str]) -> bytes:
    """Returns what the user's git says; its own variables may not lead it elsewhere."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    reader, writer = os.pipe()
    actions = [(os.POSIX_SPAWN_DUP2, writer, 1), (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0)]
    environment = kept | _ENVIRONMENT | {"GIT_DIR": git_folder}
    with open(reader, "rb") as answer:
        try:
            process = os.posix_spawnp("git", ["git", *words], environment, file_actions=actions)
        finally:
            os.close(writer)
        _prepare()
        told = answer.read()
    if os.waitpid(process, 0)[1] != 0:
        _leave()
    return told


def _prepare() -> None:
    """Imports what is needed when git has answered, while it is at work."""
    import haytham.cli.log_lines
    import haytham.domain.commit_text  # noqa: F401


def _record(told: bytes, session: str) -> "LogRecord":
    from haytham.domain import commit_text

    commit_id, _, data = told.partition(b"\n")
    head, gap, message = data.partition(b"\n\n")
    fields = commit_text.read(head + gap + b"\n".join(line[_INDENT:] for line in message.split(b"\n")))
    if fields["is_signed"] or len(fields["parents"]) > 1 or not 0 <= fields["seconds"] < _END_OF_TIME:
        _leave()
    return {
        "id": commit_id.decode(),
        "time": strftime("%Y-%m-%dT%H:%M:%SZ", gmtime(fields["seconds"])),
        "author": {"name": fields["name"], "email": fields["email"]},
        "subject": fields["subject"],
        "body": fields["body"],
        "trailers": fields["trailers"],
        "session_id": session,
        "signature": None,
    }


def _json(project: str, session: str, entries: "list[LogRecord]") -> str:
    from haytham.cli import json_output

    return json_output.text("log", {"project_id": project, "session_id": session, "entries": entries})


def _lines(entries: "list[LogRecord]") -> str:
    from haytham.cli import log_lines

    write = _coloured if sys.stdout.isatty() else _plain
    return "".join(write(indent, pieces) for indent, pieces in log_lines.lines(entries, with_session=False))


def _plain(indent: int, pieces: "Pieces") -> str:
    return " " * indent + "".join(piece for piece, _ in pieces) + "\n"


def _coloured(indent: int, pieces: "Pieces") -> str:
    """Colours a line that fits into the terminal, if it is a common one."""
    line, told = _plain(indent, pieces), os.environ
    if not line.isascii() or len(line) > os.get_terminal_size(1).columns or not told.keys().isdisjoint(_DISPLAY):
        _leave()
    if told.get("TERM", "dumb") in {"dumb", "unknown"}:
        _leave()
    return " " * indent + "".join(f"\x1b[{_COLOURS[s]}m{t}\x1b[0m" if s else t for t, s in pieces) + "\n"


def _leave() -> "NoReturn":
    raise _NotPlainError
