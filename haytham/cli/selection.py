"""Finds the project and the session that a command is about; never guesses between two."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import wraps
from pathlib import Path

from haytham.cli import hints, options
from haytham.domain import suggestions
from haytham.domain.errors import HaythamError, InvalidInput, Location, NotFound
from haytham.domain.records import SessionSummary
from haytham.project.project_manager import ProjectManager

_SHOWN = 5


@dataclass(frozen=True, kw_only=True, slots=True)
class Selection:
    """What the options named, or left out."""

    base_dir: Path
    project: str | None
    session: str | None

    @property
    def manager(self) -> ProjectManager:
        """The manager of the projects; raises NotFound if there is no folder for it."""
        return ProjectManager(self._existing_base())

    def projects(self) -> list[str]:
        """Returns the ids of the projects meant: the named one, the one that has the named session, or all."""
        manager = self.manager
        if self.project is not None:
            manager.sessions.session_ids(self.project)  # raises NotFound
            return [self.project]
        found = manager.project_ids()
        if self.session is None:
            return found
        sessions = {each: manager.sessions.session_ids(each) for each in found}
        return [self._only(sessions)]

    def one_project(self) -> str:
        """Returns the id of the project meant; raises if there is none, or more than one."""
        found = self.projects()
        if not found:
            raise NotFound(
                "there are no projects here yet.",
                location=Location(path=str(self.base_dir)),
                hint="haytham init makes one; --base-dir names another folder.",
            )
        if len(found) > 1:
            raise self._ambiguous(f"there are {len(found)} projects here", found)
        return found[0]

    def _only(self, sessions: Mapping[str, Sequence[str]]) -> str:
        """Returns the project that has the session that is named, given the sessions of all."""
        projects = [each for each, ids in sessions.items() if self.session in ids]
        if not projects:
            known = [each for ids in sessions.values() for each in ids]
            meant = suggestions.closest(str(self.session), known)
            raise NotFound(
                f"no project here has a session {self.session!r}.",
                location=Location(path=str(self.base_dir)),
                hint=f"did you mean {meant}?" if meant else "haytham status lists the sessions.",
            )
        if len(projects) > 1:
            raise self._ambiguous(f"{len(projects)} projects have a session {self.session!r}", projects)
        return projects[0]

    def _ambiguous(self, what: str, projects: Sequence[str]) -> InvalidInput:
        return InvalidInput(
            f"{what}, and none is named.",
            location=Location(path=str(self.base_dir)),
            hint=f"add --project with one of: {listing(projects)}.",
        )

    def _existing_base(self) -> Path:
        if not self.base_dir.is_dir():
            raise NotFound(
                "there is no such folder.",
                location=Location(path=str(self.base_dir)),
                hint="haytham init makes one; --base-dir names another folder.",
            )
        return self.base_dir


def selecting(*, project: str, session: str | None = None) -> options.Decorator:
    """Adds --base-dir, --project and --session to a command, and hands them to it as `selection`.

    The two texts say what is taken without the option; a command about no session has no --session.
    """

    def decorate(function: Callable[..., None]) -> Callable[..., None]:
        @options.base_dir_option
        @options.project_option(project)
        @wraps(function)
        def command(base_dir: Path, project: str | None, session: str | None = None, **further: object) -> None:
            selection = Selection(base_dir=base_dir, project=project, session=session)
            try:
                function(selection=selection, **further)
            except HaythamError as error:  # here it is still known what the command was about
                error.problems = tuple(replace(each, hint=hints.runnable(each.hint)) for each in error.problems)
                raise

        return command if session is None else options.session_option(session)(command)

    return decorate


def newest(sessions: Sequence[SessionSummary]) -> str | None:
    """Returns the session created last, or None; raises if that cannot be told.

    `sessions` are newest first, as `list_sessions` returns them. Archived ones count only if there are no others.
    """
    if not sessions:
        return None
    sessions = [each for each in sessions if not each["archived"]] or sessions
    unreadable = [each["session_id"] for each in sessions if not each["created"]]
    first = [each["session_id"] for each in sessions if each["created"] == sessions[0]["created"]]
    candidates = list(dict.fromkeys([*first, *unreadable]))
    if len(candidates) > 1:
        raise InvalidInput(
            "which session is the newest cannot be told.", hint=f"add --session with one of: {listing(candidates)}."
        )
    return candidates[0]


def listing(names: Sequence[str]) -> str:
    """Returns names in one line: the first few, and how many more there are."""
    more = len(names) - _SHOWN
    return ", ".join(names[:_SHOWN]) + (f" and {more} more" if more > 0 else "")
