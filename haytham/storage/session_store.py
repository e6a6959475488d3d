"""The documents of one session: which kind lies where, and what is in them."""

import hashlib
import re
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from haytham.documents import workflow_file
from haytham.documents.document import Document
from haytham.domain import content, instants
from haytham.domain.content import Content
from haytham.domain.errors import BrokenRepository, Location, NotFound
from haytham.domain.workflow import Phase, Workflow
from haytham.storage import files, layout
from haytham.storage.store import RESCUED, Store


class SessionStore(Store):
    """A session's folder."""

    def __init__(self, folder: Path, *, clock: instants.Clock, lock_timeout: float) -> None:
        branch = layout.session_branch(folder.name)
        super().__init__(folder, branch, clock=clock, lock_timeout=lock_timeout)

    @cached_property
    def workflow(self) -> Workflow:
        """The workflow that the session was created with, from its own copy."""
        path = self.path(layout.WORKFLOW_FILE)
        data = files.read_text(path)
        if data is None:
            committed = self.history.read(layout.WORKFLOW_FILE)
            if committed is None:
                raise BrokenRepository("the session's copy of its workflow is gone.", location=Location(path=str(path)))
            data = committed.decode()
        return workflow_file.read(data, str(path))

    def manifest(self) -> Document:
        """Reads the manifest; raises NotFound or InvalidDocument."""
        found = self.document("session_manifest", layout.MANIFEST_FILE)
        if found is None:
            raise NotFound("the session has no manifest.", location=Location(path=str(self.path(layout.MANIFEST_FILE))))
        return found

    def checkpoint(self, phase: Phase) -> Document | None:
        """Reads the checkpoint of a phase, or returns None."""
        return self.document("checkpoint", name_in(phase, layout.CHECKPOINT_FILE))

    def feedback(self, phase: Phase) -> Document | None:
        """Reads the feedback on a phase, or returns None; raises if it is there and cannot be understood."""
        return self.document("user_feedback", name_in(phase, layout.FEEDBACK_FILE))

    def checkpoints(self, phases: tuple[Phase, ...]) -> dict[int, Any]:
        """Reads the values of all checkpoints, None where there is none."""
        found = {phase.number: self.checkpoint(phase) for phase in phases}
        return {number: document.value if document else None for number, document in found.items()}

    def output_names(self, phase: Phase) -> list[str]:
        """Returns the names of the agent outputs in a phase's folder, sorted."""
        return [name for name in files.names_in(self.path(phase.folder)) if self.is_output(name)]

    @staticmethod
    def is_output(name: str) -> bool:
        """Tells whether a file in a phase's folder is an agent's output."""
        return name.endswith(".md") and name not in layout.OWN_FILES

    def outputs(self, phase: Phase) -> dict[str, Document]:
        """Reads the outputs of a phase, by agent."""
        return {name.removesuffix(".md"): self._output(phase, name) for name in self.output_names(phase)}

    def reviews(self, phase: Phase) -> dict[str, Mapping[str, Any]]:
        """Reads what each reviewer decided about a phase that asks for several, by reviewer."""
        folder = name_in(phase, layout.REVIEWS_FOLDER)
        names = [name for name in files.names_in(self.path(folder)) if name.endswith(".md")]
        found = (self.document("user_feedback", f"{folder}/{name}") for name in names)
        return {str(each.value["review"]["reviewer"]): each.value for each in found if each is not None}

    def review_name(self, phase: Phase, reviewer: str) -> str:
        """Returns the name of the file that keeps one reviewer's decision."""
        readable = re.sub(r"[^a-z0-9]+", "-", reviewer.casefold()).strip("-")[:40] or "reviewer"
        return name_in(
            phase, f"{layout.REVIEWS_FOLDER}/{readable}-{hashlib.sha256(reviewer.encode()).hexdigest()[:8]}.md"
        )

    def content(self, phase: Phase) -> Content:
        """Returns the fingerprint of a phase's outputs as they are on disk."""
        names = self.output_names(phase)
        return content.of({name: self.bytes_of(name_in(phase, name)) or b"" for name in names})

    def files_of(self, phase: Phase) -> list[str]:
        """Returns the names of all documents of a phase that may be there."""
        own = [layout.CHECKPOINT_FILE, layout.FEEDBACK_FILE]
        decided = [
            f"{layout.REVIEWS_FOLDER}/{name}"
            for name in files.names_in(self.path(name_in(phase, layout.REVIEWS_FOLDER)))
        ]
        return [name_in(phase, name) for name in [*own, *self.output_names(phase), *decided]]

    def rescued(self) -> list[str]:
        """Returns what was saved from under an editor's hands: versions of documents that lie beside them."""
        folders = ["", *(f"{phase.folder}/" for phase in self.workflow.phases)]
        names = (f"{folder}{name}" for folder in folders for name in files.names_in(self.path(folder)))
        return [name for name in names if RESCUED in name]

    def _output(self, phase: Phase, name: str) -> Document:
        found = self.document("agent_output", name_in(phase, name))
        if found is None:
            raise NotFound("the output vanished.", location=Location(path=str(self.path(name_in(phase, name)))))
        return found


def name_in(phase: Phase, file: str) -> str:
    """Returns the name of a file of a phase inside the session's folder."""
    return f"{phase.folder}/{file}"
