"""Where things are: the folders and files of projects and sessions."""

import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from haytham.domain import suggestions
from haytham.domain.errors import InvalidInput, Location, NotFound, StorageFailure
from haytham.domain.identifiers import check_id
from haytham.storage import files

PROJECT_FILE = "project.md"
MANIFEST_FILE = "session_manifest.md"
WORKFLOW_FILE = "workflow.toml"
CHECKPOINT_FILE = "checkpoint.md"
FEEDBACK_FILE = "user_feedback.md"
REVIEWS_FOLDER = "reviews"
JOURNAL_FOLDER = "journal"
JOURNAL_NOTES = "haytham.journals"  # beside git's own files
ATTRIBUTES_FILE = ".gitattributes"
ATTRIBUTES = b"# Haytham: bytes are kept as they are.\n* -text -filter -ident\n"
SESSIONS_FOLDER = "sessions"
OUTPUTS_FOLDER = "outputs"
PROJECT_BRANCH = "main"

OWN_FILES = frozenset({CHECKPOINT_FILE, FEEDBACK_FILE})


def requirements(version: int) -> str:
    """Returns the name of a kept result inside the project's folder."""
    return f"{OUTPUTS_FOLDER}/requirements_v{version}.md"


@dataclass(frozen=True, kw_only=True, slots=True)
class Layout:
    """The folders below one base folder."""

    base: Path

    def project(self, project_id: object) -> Path:
        """Returns the folder of a project, whether it exists or not."""
        return self.base / check_id(project_id, "project id")

    def sessions(self, project_id: object) -> Path:
        """Returns the folder that holds a project's sessions."""
        return self.project(project_id) / SESSIONS_FOLDER

    def session(self, project_id: object, session_id: object) -> Path:
        """Returns the folder of a session, whether it exists or not."""
        return self.sessions(project_id) / check_id(session_id, "session id")

    def existing_project(self, project_id: object) -> Path:
        """Returns the folder of a project; raises NotFound if there is none."""
        folder = self.project(project_id)
        if not folder.is_dir():
            raise NotFound(
                f"there is no project {project_id!r}.",
                location=Location(path=str(folder)),
                hint=_others("projects", self.base, project_id),
            )
        refuse_links(folder)
        return folder

    def existing_session(self, project_id: object, session_id: object) -> Path:
        """Returns the folder of a session; raises NotFound if there is none."""
        self.existing_project(project_id)
        folder = self.session(project_id, session_id)
        if not folder.is_dir():
            raise NotFound(
                f"project {project_id!r} has no session {session_id!r}.",
                location=Location(path=str(folder)),
                hint=_others("sessions", folder.parent, session_id),
            )
        refuse_links(folder.parent)
        refuse_links(folder)
        return folder

    def project_ids(self) -> list[str]:
        """Returns the ids of all projects, sorted."""
        return folder_names(self.base)

    def session_ids(self, project_id: object) -> list[str]:
        """Returns the ids of a project's sessions, sorted."""
        return folder_names(self.existing_project(project_id) / SESSIONS_FOLDER)


def base_folder(base_dir: object) -> Path:
    """Returns the base folder, made if need be; raises InvalidInput if this is no path."""
    if not isinstance(base_dir, (str, Path)):
        raise InvalidInput(f"base_dir is {base_dir!r}, which is no path.", hint="pass a str or a Path.")
    folder = Path(base_dir)
    try:
        files.make_folder(folder)
    except ValueError as error:
        raise InvalidInput(f"base_dir is {str(base_dir)!r}: {error}.", hint="choose a name without it.") from error
    return folder


def session_branch(session_id: str) -> str:
    """Returns the branch that a session's history is on."""
    return f"sessions/{session_id}"


def folder_names(folder: Path) -> list[str]:
    """Returns the names of the folders inside a folder that are ours, sorted."""
    with files.translating(), suppress(FileNotFoundError), os.scandir(folder) as entries:
        return sorted(entry.name for entry in entries if entry.is_dir(follow_symlinks=False) and entry.name[0] != ".")
    return []


def check_free(name: str, folder: Path, what: str) -> None:
    """Raises InvalidInput if a name differs from an existing one only by case: some file systems would mix them up."""
    wanted = name.casefold()
    for taken in folder_names(folder):
        if taken != name and taken.casefold() == wanted:
            raise InvalidInput(
                f"{what} {name!r} differs only by case from the existing {taken!r}.",
                hint="choose another id.",
            )


def refuse_links(*folders: Path) -> None:
    """Raises StorageFailure if any of these is a symbolic link."""
    for folder in folders:
        if folder.is_symlink():
            raise StorageFailure(
                "this is a symbolic link, which Haytham does not follow.",
                location=Location(path=str(folder)),
                hint="put the real folder there.",
            )


def _others(what: str, folder: Path, wanted: object) -> str:
    names = folder_names(folder)
    if not names:
        return f"there are no {what} here yet."
    meant = suggestions.closest(str(wanted), names)
    return f"{f'did you mean {meant}? ' if meant else ''}{what} here: {', '.join(names[:5])}."
