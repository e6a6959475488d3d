"""The documents of one project: the project document and the results of its sessions."""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from haytham.documents.document import Document
from haytham.documents.reader import read
from haytham.documents.renderer import checked
from haytham.domain import instants, messages
from haytham.domain.errors import InvalidInput, Location, NotFound
from haytham.storage import files, layout
from haytham.storage.history import Person
from haytham.storage.store import CommitNote, Store

_REQUIREMENTS = re.compile(r"requirements_v(\d+)\.md\Z")
_IGNORE = f"/{layout.SESSIONS_FOLDER}/\n".encode()


class ProjectStore(Store):
    """A project's folder."""

    def __init__(self, folder: Path, *, clock: instants.Clock, lock_timeout: float) -> None:
        super().__init__(folder, layout.PROJECT_BRANCH, clock=clock, lock_timeout=lock_timeout)

    @contextmanager
    def locked(self) -> Iterator[bool]:
        """Holds the folder for writing; always cleared first, because a project is not recovered when it is opened."""
        with super().locked() as died:
            if not died:
                self.sweep()
            yield died

    def exists(self) -> bool:
        """Tells whether there is a project document, be it only in history because somebody deleted it."""
        return self.path(layout.PROJECT_FILE).is_file() or self.committed_project() is not None

    def create_project(self, value: Mapping[str, Any]) -> bool:
        """Makes the folder of a project with its history; False if somebody else made it first."""
        contents = {
            layout.ATTRIBUTES_FILE: layout.ATTRIBUTES,
            ".gitignore": _IGNORE,
            layout.PROJECT_FILE: checked(Document(kind="project", value=value), layout.PROJECT_FILE).encode(),
        }
        metadata = value["metadata"]
        subject = f"Project {metadata['name']} created"
        note = CommitNote(message=messages.message(subject, trailers={"Project": metadata["project_id"]}))
        return self.create(contents, note, (layout.SESSIONS_FOLDER,))

    def project(self) -> Document:
        """Reads the project document; raises NotFound or InvalidDocument.

        One that was deleted is read from history, and is there again with the next change.
        """
        found = self.document("project", layout.PROJECT_FILE) or self.committed_project()
        if found is None:
            raise NotFound("this folder is no project.", location=Location(path=str(self.path(layout.PROJECT_FILE))))
        return found

    def check(self) -> None:
        """Raises what a change would raise: for what has to be done before the project can note it."""
        self.history.check()
        self.project()

    def committed_project(self) -> Document | None:
        """Reads the project document as it was committed last; None if there is none that can be understood."""
        if not self.history.git_folder.is_dir():
            return None
        data = self.history.read(layout.PROJECT_FILE)
        with suppress(InvalidInput):
            return None if data is None else read("project", files.decoded(data, layout.PROJECT_FILE))
        return None

    def save_project(
        self,
        value: Mapping[str, Any],
        note: str,
        more: Mapping[str, bytes] | None = None,
        person: Person | None = None,
    ) -> None:
        """Writes the project document, and other files first, as one commit; call it under the lock.

        What somebody changed in it by hand is committed first: as the person's or, if they are not known, its owner's.
        """
        present = self.project()
        edited = self.edited_by_hand([layout.PROJECT_FILE])
        if edited:
            author = person or Person(name=present.value["metadata"]["user_id"], email="")
            self.commit(tuple(edited), CommitNote(message=messages.edit(edited), author=author))
        text = checked(present.replaced(value), layout.PROJECT_FILE)
        contents = {**(more or {}), layout.PROJECT_FILE: text.encode()}
        self.save(contents, CommitNote(message=note))

    def finish(self) -> None:
        """Commits what was written but not committed; what a person wrote is left alone. Call it under the lock."""
        if ours := self.left_behind():
            note = messages.message("What a crash had left uncommitted", ", ".join(ours), {"Recovered": "yes"})
            self.commit(ours, CommitNote(message=note))

    def results(self, session_id: str) -> list[str]:
        """Returns the names of the files in which results of a session were kept, oldest first."""
        told = [each.trailers for each in self.history.entries() if each.trailers.get("Haytham-Session") == session_id]
        versions = [each.get("Haytham-Requirements", "") for each in reversed(told)]
        return [layout.requirements(int(version)) for version in versions if version.isdecimal()]

    def next_requirements_version(self) -> int:
        """Returns the number that the next result of a session gets."""
        folder = self.path(layout.OUTPUTS_FOLDER)
        names = [path.name for path in folder.iterdir()] if folder.is_dir() else []
        return max((int(match[1]) for match in map(_REQUIREMENTS.match, names) if match), default=0) + 1
