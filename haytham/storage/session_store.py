"""The documents of one session: which kind lies where, and what is in them."""

import hashlib
import re
from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

from haytham.documents import journal_marks, migrations, workflow_file
from haytham.documents.document import Document
from haytham.documents.reader import read
from haytham.domain import content, instants, reviewers
from haytham.domain.content import Content
from haytham.domain.errors import BrokenRepository, InvalidInput, Location, NotFound
from haytham.domain.reviewers import Reviewer
from haytham.domain.workflow import Phase, Workflow
from haytham.storage import files, journal_file, layout
from haytham.storage.store import RESCUED, Store

_MARK = b"<!-- haytham agent_output v"
_HEAD = 2000  # bytes; the mark is in the second line, below whatever a person may have put there


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

    def is_of_a_later_release(self) -> bool:
        """Tells whether a later release wrote the manifest: it does so with whatever else it writes."""
        data = self.bytes_of(layout.MANIFEST_FILE) or b""
        return migrations.is_newer("session_manifest", data.decode(errors="replace"))

    def check_place(self, identity: Mapping[str, Any]) -> None:
        """Raises InvalidInput if the manifest is of another session or project than the folder it lies in."""
        places = {"session": (self.folder, "session_id"), "project": (self.folder.parent.parent, "project_id")}
        for what, (folder, key) in places.items():
            if folder.absolute().name != identity[key]:
                raise InvalidInput(
                    f"the folder is {what} {folder.absolute().name!r}, but its manifest says {identity[key]!r}.",
                    location=Location(path=str(self.path(layout.MANIFEST_FILE))),
                    hint=f"if the folder was renamed or copied, name it {identity[key]!r} again: a copy can lie below "
                    "another base folder. If the manifest was edited, put the id back.",
                )

    def checkpoint(self, phase: Phase) -> Document | None:
        """Reads the checkpoint of a phase, or returns None."""
        return self.document("checkpoint", name_in(phase, layout.CHECKPOINT_FILE))

    def feedback(self, phase: Phase) -> Document | None:
        """Reads the feedback on a phase, or returns None; raises if it is there and cannot be understood."""
        return self.document("user_feedback", name_in(phase, layout.FEEDBACK_FILE), phase.approvals.roles)

    def checkpoints(self, phases: tuple[Phase, ...]) -> dict[int, Any]:
        """Reads the values of all checkpoints, None where there is none."""
        found = {phase.number: self.checkpoint(phase) for phase in phases}
        return {number: document.value if document else None for number, document in found.items()}

    def output_names(self, phase: Phase) -> list[str]:
        """Returns the names of the agent outputs in a phase's folder, sorted."""
        return [name for name in self._texts_in(phase) if self.is_output(phase, name, self._found(phase, name))]

    def own_texts(self, phase: Phase) -> list[str]:
        """Returns the names of the markdown files in a phase's folder that are a person's own, sorted."""
        return [name for name in self._texts_in(phase) if not self.is_output(phase, name, self._found(phase, name))]

    def known_texts(self, phase: Phase) -> list[str]:
        """Returns the names, inside the session, of what agents and people wrote, deleted or not."""
        gone = [name for name in self.history.names(phase.folder) if is_text(name)]
        return [name_in(phase, name) for name in sorted({*self._texts_in(phase), *gone})]

    def is_output(self, phase: Phase, name: str, data: bytes) -> bool:
        """Tells whether a file in a phase's folder is an agent's output: it says so, or the phase lists it."""
        return is_text(name) and (is_marked(data) or name in self._listed(phase))

    def _listed(self, phase: Phase) -> set[str]:
        try:
            checkpoint = self.checkpoint(phase)
        except InvalidInput:
            checkpoint = None
        return listed_outputs(self.workflow, checkpoint.value if checkpoint else None)

    def _texts_in(self, phase: Phase) -> list[str]:
        names = set(files.names_in(self.path(phase.folder)))
        for name, data in self.coming.items():
            folder, _, file = name.partition("/")
            if folder == phase.folder and "/" not in file:
                (names.discard if data is None else names.add)(file)
        return sorted(name for name in names if is_text(name))

    def _found(self, phase: Phase, name: str) -> bytes:
        return self.bytes_of(name_in(phase, name)) or b""

    def outputs(self, phase: Phase) -> dict[str, Document]:
        """Reads the outputs of a phase, by agent."""
        return {name.removesuffix(".md"): self._output(phase, name) for name in self.output_names(phase)}

    def reviews(self, phase: Phase) -> dict[str, Mapping[str, Any]]:
        """Returns what each reviewer decided about a phase that asks for several, by the name of its file.

        Nothing counts that is not in history, so this is what history has, or what is about to be committed.
        A file that somebody changed is read as well; raises InvalidDocument if it cannot be understood.
        """
        if phase.approvals.is_single:
            return {}
        names = self.review_files(phase)
        for name in names:
            self.review(phase, name)
        committed = {n: self.coming[n] if n in self.coming else self.history.read(n) for n in names}
        found = {name: self._review_of(phase, name, data) for name, data in committed.items() if data is not None}
        return {name: value for name, value in found.items() if value is not None and is_kept_in(name, value)}

    def review_files(self, phase: Phase) -> list[str]:
        """Returns the names of the files in which reviewers' decisions are, were or are about to be."""
        if phase.approvals.is_single:
            return []
        folder = name_in(phase, layout.REVIEWS_FOLDER)
        known = {f"{folder}/{name}" for name in (*files.names_in(self.path(folder)), *self.history.names(folder))}
        coming = {name for name in self.coming if name.startswith(f"{folder}/")}
        return sorted(name for name in known | coming if name.endswith(".md"))

    def review(self, phase: Phase, name: str) -> Document | None:
        """Reads one reviewer's decision as it is in the folder, or returns None."""
        return self.document("user_feedback", name, phase.approvals.roles)

    def _review_of(self, phase: Phase, name: str, data: bytes) -> Mapping[str, Any] | None:
        path = str(self.path(name))
        value = read("user_feedback", files.decoded(data, path), path, phase.approvals.roles).value
        return value if value["review"]["timestamp"] else None

    def known_reviewer(self, phase: Phase, reviewer: Reviewer) -> Reviewer:
        """Returns a reviewer who gave no address with the one that they decided under before."""
        found = [
            who for value in self.reviews(phase).values() if (who := reviewers.of(value)) and who.is_same(reviewer)
        ]
        return reviewer if reviewer.address or not found else replace(reviewer, address=found[0].address)

    def review_name(self, phase: Phase, reviewer: Reviewer) -> str:
        """Returns the name of the file that keeps one reviewer's decision: the one there is, or a new one."""
        known = [name for name, value in self.reviews(phase).items() if _is_by(value, reviewer)]
        own = [name for name in known if _digest(reviewer.keys[0]) in name]
        readable = re.sub(r"[^a-z0-9]+", "-", reviewer.keys[-1]).strip("-")[:40] or "reviewer"
        new = name_in(phase, f"{layout.REVIEWS_FOLDER}/{readable}-{_digest(reviewer.keys[0])}.md")
        return [*own, *known, new][0]

    def journal_names(self, phase: Phase) -> list[str]:
        """Returns the names of the journals of a phase's agents, with all that lies beside them."""
        folder = name_in(phase, layout.JOURNAL_FOLDER)
        return [f"{folder}/{name}" for name in files.names_in(self.path(folder))]

    def settled_journals(self, phase: Phase) -> list[str]:
        """Returns the same, after each of them became a file of its own; call it under the lock."""
        names = self.journal_names(phase)
        journal_file.settle(self.path(name) for name in names)
        return names

    def finished_part(self, name: str) -> bytes | None:
        """Returns a journal up to its last whole entry, any other file as it is."""
        data = self.bytes_of(name)
        is_journal = f"/{layout.JOURNAL_FOLDER}/" in name and name.endswith(".md")
        return journal_marks.finished_part(data) if is_journal and data is not None else data

    def content(self, phase: Phase) -> Content:
        """Returns the fingerprint of a phase's outputs as they are on disk."""
        names = self.output_names(phase)
        return content.of({name: self.bytes_of(name_in(phase, name)) or b"" for name in names})

    def files_of(self, phase: Phase) -> list[str]:
        """Returns the names of all documents of a phase that may be there."""
        own = [layout.CHECKPOINT_FILE, layout.FEEDBACK_FILE]
        return [name_in(phase, name) for name in [*own, *self._texts_in(phase)]] + self.review_files(phase)

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


def is_marked(data: bytes) -> bool:
    """Tells whether a text says of itself that it is an agent's output."""
    return _MARK in data[:_HEAD]


def listed_outputs(workflow: Workflow, checkpoint: Mapping[str, Any] | None) -> set[str]:
    """Returns the files that are outputs by their names: those of the workflow's agents, and of the checkpoint's."""
    named = checkpoint if checkpoint is not None else {"outputs": {}, "agents": {}}
    return {*named["outputs"].values(), *(f"{agent}.md" for agent in (*workflow.agents, *named["agents"]))}


def is_text(name: str) -> bool:
    """Tells whether a file in a phase's folder is a text that agents or people wrote."""
    return name.endswith(".md") and name not in layout.OWN_FILES


def is_kept_in(name: str, value: Mapping[str, Any]) -> bool:
    """Tells whether this is the file that keeps the decision of its reviewer: a copy under another name is none."""
    who = reviewers.of(value)
    return who is not None and name.removesuffix(".md").rpartition("-")[2] in {_digest(key) for key in who.keys}


def _is_by(value: Mapping[str, Any], reviewer: Reviewer) -> bool:
    who = reviewers.of(value)
    return who is not None and who.is_same(reviewer)


def _digest(key: str) -> str:
    return hashlib.sha256(key.encode()).hexdigest()[:8]


def name_in(phase: Phase, file: str) -> str:
    """Returns the name of a file of a phase inside the session's folder."""
    return f"{phase.folder}/{file}"
