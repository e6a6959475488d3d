"""The documents of one project: the project document and the results of its sessions."""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from haytham.documents.document import Document
from haytham.documents.renderer import checked
from haytham.domain import instants, messages
from haytham.domain.errors import Location, NotFound
from haytham.storage import layout
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
        """Tells whether there is a project document."""
        return self.path(layout.PROJECT_FILE).is_file()

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
        """Reads the project document; raises NotFound or InvalidDocument."""
        found = self.document("project", layout.PROJECT_FILE)
        if found is None:
            raise NotFound("this folder is no project.", location=Location(path=str(self.path(layout.PROJECT_FILE))))
        return found

    def save_project(self, value: Mapping[str, Any], note: str, more: Mapping[str, bytes] | None = None) -> None:
        """Writes the project document, and other files first, as one commit; call it under the lock."""
        present = self.project()
        edited = self.edited_by_hand([layout.PROJECT_FILE])
        if edited:
            self.commit(tuple(edited), CommitNote(message=messages.edit(edited)))
        text = checked(present.replaced(value), layout.PROJECT_FILE)
        contents = {**(more or {}), layout.PROJECT_FILE: text.encode()}
        self.save(contents, CommitNote(message=note))

    def finish(self) -> None:
        """Commits what was written but not committed; what a person wrote is left alone. Call it under the lock."""
        if ours := self.left_behind():
            note = messages.message("What a crash had left uncommitted", ", ".join(ours), {"Recovered": "yes"})
            self.commit(ours, CommitNote(message=note))

    def next_requirements_version(self) -> int:
        """Returns the number that the next result of a session gets."""
        folder = self.path(layout.OUTPUTS_FOLDER)
        names = [path.name for path in folder.iterdir()] if folder.is_dir() else []
        return max((int(match[1]) for match in map(_REQUIREMENTS.match, names) if match), default=0) + 1
