"""Changes one session under its lock: documents, a fresh manifest and, where it counts, a commit."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from haytham.documents.document import Document
from haytham.documents.renderer import checked
from haytham.domain import checkpoints, instants, messages, progress, reviews
from haytham.domain.choices import PhaseStatus, check_transition
from haytham.domain.content import Content
from haytham.domain.errors import InvalidDocument, InvalidInput, NotFound
from haytham.domain.workflow import Phase, Workflow
from haytham.storage import layout
from haytham.storage.history import Person
from haytham.storage.session_store import SessionStore, name_in
from haytham.storage.store import HAYTHAM, CommitNote

Value = Mapping[str, Any]


class SessionWriter:
    """One change of one session. Make it under the store's lock, use it once."""

    def __init__(self, store: SessionStore, now: datetime) -> None:
        self.store = store
        self.now = instants.text_of(now)
        self.identity = self._identity()

    @property
    def workflow(self) -> Workflow:
        """The session's workflow."""
        return self.store.workflow

    @property
    def mode(self) -> str:
        """The session's execution mode."""
        return str(self.identity["execution_mode"])

    def phase(self, number: object) -> Phase:
        """Returns a phase of this session; raises InvalidInput if it has none of that number."""
        return self.workflow.phase(number, self.mode)

    def save_checkpoint(self, phase: Phase, said: checkpoints.Report) -> None:
        """Records how a phase stands."""
        before = self.store.checkpoint(phase)
        check_transition(progress.status_of(before.value if before else None), said.status, phase.number)
        value = checkpoints.value(
            phase,
            self._with_known_tokens(phase, said),
            self._inputs(phase),
            self.workflow.following(phase, self.mode),
        )
        self.put_checkpoint(phase, before, value)

    def put_checkpoint(self, phase: Phase, before: Document | None, value: Value, *, recovered: bool = False) -> None:
        """Writes a checkpoint, with the form for its review if it is completed, and the manifest."""
        document = before.replaced(value) if before else Document(kind="checkpoint", value=value)
        status = PhaseStatus(value["metadata"]["status"])
        content = self.store.content(phase)
        contents = {name_in(phase, layout.CHECKPOINT_FILE): document}
        if status is PhaseStatus.COMPLETED:
            contents |= self._form(phase, content, value["metadata"]["retry_count"])
        note = messages.phase(phase, value, content.hash, recovered=recovered) if status.is_recorded else None
        self._save(contents, {phase.number: value}, note, self._outputs_of(phase) if note else ())

    def save_output(self, phase: Phase, value: Value) -> None:
        """Records what an agent produced; enters history with its phase, or at once if that is already recorded."""
        agent = value["metadata"]["agent"]
        self._check_name_is_free(phase, agent)
        name = name_in(phase, f"{agent}.md")
        before = self.store.document("agent_output", name)
        document = before.replaced(value) if before else Document(kind="agent_output", value=value)
        checkpoint = self.store.checkpoint(phase)
        if checkpoint is None or not progress.status_of(checkpoint.value).is_recorded:
            self._write({name: document}, None)
            return
        execution = value["execution"]
        filled = checkpoints.with_tokens(checkpoint.value, agent, execution["input_tokens"], execution["output_tokens"])
        contents = {name: document, name_in(phase, layout.CHECKPOINT_FILE): checkpoint.replaced(filled)}
        content = self._content_with(phase, {f"{agent}.md": document})
        if progress.status_of(checkpoint.value) is PhaseStatus.COMPLETED:
            contents |= self._form(phase, content, filled["metadata"]["retry_count"])
        self._save(contents, {phase.number: filled}, messages.output(phase, agent, content.hash))

    def save_feedback(self, phase: Phase, value: Value, author: Person) -> None:
        """Records what a person decided about a phase."""
        before = self.store.feedback(phase)
        document = before.replaced(value) if before else Document(kind="user_feedback", value=value)
        contents = {name_in(phase, layout.FEEDBACK_FILE): document}
        self._save(contents, {}, messages.review(phase, value), author=author)

    def close(self) -> None:
        """Marks the session as completed, whatever its phases say."""
        self.identity = {**self.identity, "closed": self.identity["closed"] or self.now}
        self._save({}, {}, messages.message("Session completed", trailers={"Status": "completed"}))

    def save_manifest(self, note: str | None) -> None:
        """Writes the manifest as the checkpoints say it should be."""
        self._save({}, {}, note)

    def derived_manifest(self, changed: Mapping[int, Value] | None = None) -> dict[str, Any]:
        """Returns what the manifest has to say, given the checkpoints on disk and those about to be written."""
        phases = self.workflow.phases_in(self.mode)
        known = self.store.checkpoints(tuple(p for p in phases if p.number not in (changed or {})))
        return progress.manifest(self.identity, self.workflow, known | dict(changed or {}), self.now)

    # Steps

    def _save(
        self,
        contents: Mapping[str, Document],
        changed: Mapping[int, Value],
        note: str | None,
        also_commit: tuple[str, ...] = (),
        author: Person = HAYTHAM,
    ) -> None:
        manifest = self._manifest_document().replaced(self.derived_manifest(changed))
        self._write({**contents, layout.MANIFEST_FILE: manifest}, note, also_commit, author)

    def _write(
        self,
        contents: Mapping[str, Document],
        note: str | None,
        also_commit: tuple[str, ...] = (),
        author: Person = HAYTHAM,
    ) -> None:
        data = {name: checked(document, name).encode() for name, document in contents.items()}
        self._keep_edits(list(data))
        commit = CommitNote(message=note, author=author) if note else None
        self.store.save(data, commit, also_commit=also_commit)

    def _keep_edits(self, names: list[str]) -> None:
        """Puts what people wrote into history before it is replaced."""
        existing = [name for name in names if self.store.bytes_of(name) is not None]
        if edited := self.store.edited_by_hand(existing):
            self.store.commit(tuple(edited), CommitNote(message=messages.edit(edited)))

    def _identity(self) -> dict[str, Any]:
        try:
            return dict(self.store.manifest().value["metadata"])
        except (InvalidDocument, InvalidInput, NotFound):
            committed = self._committed_manifest()
            if committed is None:
                raise
            return dict(committed.value["metadata"])

    def _manifest_document(self) -> Document:
        try:
            return self.store.manifest()
        except (InvalidDocument, InvalidInput, NotFound):
            committed = self._committed_manifest()
            if committed is None:
                raise
            return committed

    def _committed_manifest(self) -> Document | None:
        from haytham.documents.reader import read

        data = self.store.history.read(layout.MANIFEST_FILE)
        return None if data is None else read("session_manifest", data.decode(), layout.MANIFEST_FILE)

    def _form(self, phase: Phase, content: Content, retry_count: int) -> dict[str, Document]:
        """Returns the form to write, if there is one: a decision about the present content is left as it is."""
        before = self.store.feedback(phase)
        if before is not None and before.value["subject"]["content"] == content.hash:
            return {}
        fresh = reviews.form(phase, content, retry_count)
        if before is not None and not reviews.is_decided(before.value):
            fresh = {**before.value, "subject": fresh["subject"], "action": fresh["action"]}
        document = before.replaced(fresh) if before else Document(kind="user_feedback", value=fresh)
        return {name_in(phase, layout.FEEDBACK_FILE): document}

    def _inputs(self, phase: Phase) -> list[dict[str, Any]]:
        """Lists the content of the completed phases before this one: what its agents could read."""
        rows = []
        for earlier in self.workflow.preceding(phase, self.mode):
            checkpoint = self.store.checkpoint(earlier)
            if checkpoint and progress.status_of(checkpoint.value) is PhaseStatus.COMPLETED:
                content = self.store.content(earlier)
                rows.append({"phase": earlier.number, "name": earlier.name, "content": content.hash})
        return rows

    def _with_known_tokens(self, phase: Phase, said: checkpoints.Report) -> checkpoints.Report:
        """Fills in the tokens that outputs saved before the checkpoint tell."""
        outputs = {name.removesuffix(".md") for name in self.store.output_names(phase)}
        for agent in said.agents:
            name = agent["agent_name"]
            if name in outputs and agent.get("input_tokens") is None and agent.get("output_tokens") is None:
                document = self.store.document("agent_output", name_in(phase, f"{name}.md"))
                if document is not None:
                    agent["input_tokens"] = document.value["execution"]["input_tokens"]
                    agent["output_tokens"] = document.value["execution"]["output_tokens"]
        return said

    def _content_with(self, phase: Phase, written: Mapping[str, Document]) -> Content:
        from haytham.domain import content

        data = {name: self.store.bytes_of(name_in(phase, name)) or b"" for name in self.store.output_names(phase)}
        data |= {name: checked(document, name).encode() for name, document in written.items()}
        return content.of(data)

    def _outputs_of(self, phase: Phase) -> tuple[str, ...]:
        names = [name_in(phase, name) for name in self.store.output_names(phase)]
        own = name_in(phase, layout.FEEDBACK_FILE)
        return tuple([*names, own] if self.store.path(own).exists() else names)

    def _check_name_is_free(self, phase: Phase, agent: str) -> None:
        for name in self.store.output_names(phase):
            taken = name.removesuffix(".md")
            if taken != agent and taken.casefold() == agent.casefold():
                raise InvalidInput(
                    f"agent name {agent!r} differs only by case from {taken!r}, which has an output here."
                )
