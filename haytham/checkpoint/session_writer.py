"""Changes one session under its lock: documents, a fresh manifest and, where it counts, a commit."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from haytham.checkpoint.session_view import SessionView
from haytham.documents.document import Document
from haytham.documents.renderer import checked, render
from haytham.domain import checkpoints, messages, progress, reviews
from haytham.domain import content as fingerprint
from haytham.domain.choices import Action, PhaseStatus, check_transition
from haytham.domain.content import Content
from haytham.domain.errors import InvalidInput
from haytham.domain.workflow import Phase
from haytham.storage import files, layout, signing
from haytham.storage.history import Person
from haytham.storage.session_store import SessionStore, name_in
from haytham.storage.store import HAYTHAM, CommitNote

Value = Mapping[str, Any]

ATTEMPT = "there is a new attempt"
CHANGED = "the outputs changed after this decision"


class SessionWriter(SessionView):
    """One change of one session. Make it under the store's lock, use it once."""

    def __init__(self, store: SessionStore, now: datetime, person: Person | None = None) -> None:
        super().__init__(store, now, person)
        self._texts: dict[int, tuple[Document, bytes]] = {}

    def save_checkpoint(self, phase: Phase, said: checkpoints.Report, outputs: Iterable[Value] = ()) -> None:
        """Records how a phase stands, together with outputs of its agents that were not saved before."""
        before = self.store.checkpoint(phase)
        status = progress.status_of(before.value if before else None)
        check_transition(status, said.status, phase.number)
        if said.status is PhaseStatus.SKIPPED:
            self.check_skip(phase)
        elif said.status is not PhaseStatus.PENDING:
            self.check_gate(phase)
            self.check_attempt(phase)
        value = checkpoints.value(
            phase,
            self._with_known_tokens(phase, checkpoints.next_attempt(said, before.value if before else None)),
            before.value["inputs"] if before and status is PhaseStatus.IN_PROGRESS else self._inputs(phase),
            self.workflow.following(phase, self.mode),
        )
        self.put_checkpoint(phase, before, value, [self._output_document(phase, each) for each in outputs])

    def put_checkpoint(
        self,
        phase: Phase,
        before: Document | None,
        value: Value,
        outputs: Sequence[Document] = (),
        *,
        recovered: bool = False,
    ) -> None:
        """Writes a checkpoint, with the form for its review if it is completed, and the manifest."""
        document = before.replaced(value) if before else Document(kind="checkpoint", value=value)
        status = PhaseStatus(value["metadata"]["status"])
        files_ = {f"{each.value['metadata']['agent']}.md": each for each in outputs}
        content = self._content_with(phase, files_)
        contents = {name_in(phase, name): each for name, each in files_.items()}
        if status is PhaseStatus.COMPLETED:  # before the checkpoint: a person may be writing in it, and then this fails
            contents |= self._form(phase, content, value["metadata"]["retry_count"])
        contents[name_in(phase, layout.CHECKPOINT_FILE)] = document
        note = messages.phase(phase, value, content.hash, recovered=recovered) if status.is_recorded else None
        self._save(contents, {phase.number: value}, note, self._outputs_of(phase) if note else ())

    def save_output(self, phase: Phase, value: Value) -> None:
        """Records what an agent produced; enters history with its phase, or at once if that is already recorded."""
        agent = value["metadata"]["agent"]
        self.check_gate(phase)
        self.check_attempt(phase)
        name = name_in(phase, f"{agent}.md")
        document = self._output_document(phase, value)
        checkpoint = self.store.checkpoint(phase)
        if checkpoint is None or not progress.status_of(checkpoint.value).is_recorded:
            self._write({name: document}, None)
            return
        execution = value["execution"]
        filled = checkpoints.with_tokens(checkpoint.value, agent, execution["input_tokens"], execution["output_tokens"])
        content = self._content_with(phase, {f"{agent}.md": document})
        contents = {name: document}
        if progress.status_of(checkpoint.value) is PhaseStatus.COMPLETED:
            contents |= self._form(phase, content, filled["metadata"]["retry_count"], CHANGED)
        contents[name_in(phase, layout.CHECKPOINT_FILE)] = checkpoint.replaced(filled)
        texts = tuple(self.store.known_texts(phase))
        self._save(contents, {phase.number: filled}, messages.output(phase, agent, content.hash), texts)

    def save_feedback(self, phase: Phase, value: Value, author: Person, *, in_the_form: bool) -> None:
        """Records what a person wrote about a phase, and what follows from their decision, as one commit of theirs.

        What they wrote `in_the_form` is in the value; anything else that stands there is somebody's draft.
        """
        before = self.store.feedback(phase)
        name = name_in(phase, layout.FEEDBACK_FILE)
        action = reviews.action_of(value)
        checkpoint = self.store.checkpoint(phase)
        changed: dict[int, Value] = {}
        contents: dict[str, Document] = {}
        if action and checkpoint and (after := self._after_decision(phase, checkpoint.value, value)):
            changed[phase.number] = after
            value = _bounded(value, after)
        note = messages.review(phase, value, str(author))
        if action and not phase.approvals.is_single:
            who = self.store.known_reviewer(phase, self.reviewer(value))
            value = {**value, "review": {**value["review"], "reviewer": str(who)}}
            own = self.store.review_name(phase, who)
            files.make_folder(self.store.path(own).parent)
            kept = self.store.review(phase, own)
            contents[own] = kept.replaced(value) if kept else Document(kind="user_feedback", value=value)
            value = self._for_the_next_reviewer(phase, value)
        # In this order a crash, or a person who is just writing in the form, leaves the decision where it can be found.
        contents[name] = before.replaced(value) if before else Document(kind="user_feedback", value=value)
        if changed and checkpoint:
            contents[name_in(phase, layout.CHECKPOINT_FILE)] = checkpoint.replaced(changed[phase.number])
        texts = tuple(self.store.known_texts(phase))
        self._save(contents, changed, note, texts, author, carried=(name,) if in_the_form else ())

    def reissue_form(self, phase: Phase, why: str) -> None:
        """Writes the form anew for content that changed, with what was decided about the old one noted in it."""
        content = self.content(phase)
        contents = self._form(phase, content, self.retries_used(phase), why, anew=True)
        self.commit_edits(self.store.edited_by_hand(self.store.known_texts(phase)), phase)
        if contents:
            self._save(contents, {}, messages.form(phase, content.hash, why))

    def commit_edits(self, names: list[str], phase: Phase | None = None) -> None:
        """Puts files that a person changed into history, as they are, in their name."""
        if names:
            self.store.commit(tuple(names), self._note(messages.edit(names, phase), self.person))

    def close(self) -> None:
        """Marks the session as completed, whatever its phases say."""
        self.identity = {**self.identity, "closed": self.identity["closed"] or self.now}
        self._save({}, {}, messages.message("Session completed", trailers={"Status": "completed"}))

    def archive(self, *, is_archived: bool) -> None:
        """Marks the session as archived, or takes the mark away."""
        others = {key: part for key, part in self.parts.items() if key != "archive"}
        self.parts = {**others, "archive": {"archived": self.now}} if is_archived else others
        word = "archived" if is_archived else "unarchived"
        self._save({}, {}, messages.message(f"Session {word}", trailers={"Archived": "yes" if is_archived else "no"}))

    def save_manifest(self, note: str | None) -> None:
        """Writes the manifest as the checkpoints say it should be."""
        self._save({}, {}, note)

    # Steps

    def _save(
        self,
        contents: Mapping[str, Document],
        changed: Mapping[int, Value],
        note: str | None,
        also_commit: tuple[str, ...] = (),
        author: Person = HAYTHAM,
        carried: tuple[str, ...] = (),
    ) -> None:
        with self.store.previewing({name: self._text(each, name) for name, each in contents.items()}):
            manifest = self.manifest.replaced(self.derived_manifest(changed))
        self._write({**contents, layout.MANIFEST_FILE: manifest}, note, also_commit, author, carried)

    def _write(
        self,
        contents: Mapping[str, Document],
        note: str | None,
        also_commit: tuple[str, ...] = (),
        author: Person = HAYTHAM,
        carried: tuple[str, ...] = (),
    ) -> None:
        data = {name: self._text(document, name) for name, document in contents.items()}
        ours = [*data, layout.WORKFLOW_FILE] if note else list(data)
        self._keep_edits([*(name for name in ours if self.store.bytes_of(name) is not None), *also_commit], carried)
        commit = self._note(note, author) if note else None
        journals = self._journals([*data, *also_commit]) if note else ()
        self.store.save(data, commit, also_commit=(*also_commit, *journals))

    def _note(self, message: str, author: Person) -> CommitNote:
        """Returns what a commit says; what the user does in their own name is signed, if their git is set up to."""
        is_own = author is not HAYTHAM and bool(author.email) and author.email == self.person.email
        return CommitNote(message=message, author=author, sign=signing.signer() if is_own else None)

    def _journals(self, names: Iterable[str]) -> tuple[str, ...]:
        """Returns the journals of the phases that these files belong to: they enter history with them."""
        folders = {name.partition("/")[0] for name in names}
        return tuple(
            name for phase in self.phases if phase.folder in folders for name in self.store.settled_journals(phase)
        )

    def _keep_edits(self, names: list[str], carried: tuple[str, ...]) -> None:
        """Puts what people wrote into history before it is replaced.

        A file that is carried over needs none of that if it is in our own form: then nothing of it goes away.
        """
        edited = self.store.edited_by_hand(list(dict.fromkeys(names)))
        lost = [name for name in edited if name not in carried or not self._is_canonical(name)]
        self.commit_edits(lost)

    def _text(self, document: Document, name: str) -> bytes:
        """Writes a document once, however often its bytes are asked for."""
        known = self._texts.get(id(document))
        if known is None:
            known = self._texts[id(document)] = (document, checked(document, name).encode())
        return known[1]

    def _is_canonical(self, name: str) -> bool:
        document = self.store.document("user_feedback", name)
        return document is not None and render(document).encode() == self.store.bytes_of(name)

    def _after_decision(self, phase: Phase, checkpoint: Value, decided: Value) -> Value | None:
        """Returns the checkpoint as a decision leaves it, or None if the decision leaves it as it is."""
        action = reviews.action_of(decided)
        if action is Action.APPROVED:  # of what was sent back: a change of mind
            is_about_it = checkpoints.is_sent_back(checkpoint) and reviews.is_about(decided, phase, self.content(phase))
            is_enough = is_about_it and not self._lacks(phase, decided)
            return checkpoints.with_status(checkpoint, PhaseStatus.COMPLETED) if is_enough else None
        if action is Action.SKIP_PHASE:
            return None if self._lacks(phase, decided) else checkpoints.with_status(checkpoint, PhaseStatus.SKIPPED)
        if action is Action.RETRY_WITH_CHANGES and checkpoint["metadata"]["retry_count"] < self.workflow.max_retries:
            return checkpoints.with_status(checkpoint, PhaseStatus.REQUIRES_RETRY)
        return checkpoints.exhausted(checkpoint)

    def _lacks(self, phase: Phase, decided: Value) -> bool:
        """Tells whether more people have to agree before this decision about a phase has an effect."""
        if phase.approvals.is_single:
            return False
        known = self._known_besides(phase, decided)
        wanted = reviews.action_of(decided) or Action.APPROVED
        return reviews.missing(phase.approvals, [*known, decided], self.instant, wanted) is not None

    def _known_besides(self, phase: Phase, decided: Value) -> list[Value]:
        """Returns what others decided about a phase, as far as it is recorded."""
        others = self.by_others(self.decisions(phase), self.reviewer(decided))
        return [each for each in others if each["review"]["timestamp"]]

    def _for_the_next_reviewer(self, phase: Phase, decided: Value) -> Value:
        """Returns the form with this decision listed in it: empty again while more approvals are missing."""
        known = self._known_besides(phase, decided)
        rows = [reviews.decision_row(each) for each in [*known, decided]]
        lacking = reviews.missing(phase.approvals, [*known, decided], self.instant)
        if lacking is None or reviews.action_of(decided) is not Action.APPROVED:
            return {**decided, "decisions": rows}
        fresh = reviews.form(phase, self.content(phase), decided["action"]["retry_count"])
        return {**fresh, "subject": decided["subject"], "decisions": rows}

    def _form(
        self, phase: Phase, content: Content, retry_count: int, why: str = ATTEMPT, *, anew: bool = False
    ) -> dict[str, Document]:
        """Returns the form to write, if there is one: the right one is left as it is, unless it is wanted anew."""
        before = self.store.feedback(phase)
        if before is not None and not anew and reviews.fits(before.value, phase, content, retry_count):
            return {}
        value = reviews.form(phase, content, retry_count, before.value if before else None, why)
        document = before.replaced(value) if before else Document(kind="user_feedback", value=value)
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

    def _output_document(self, phase: Phase, value: Value) -> Document:
        agent = value["metadata"]["agent"]
        self._check_name_is_free(phase, agent)
        before = self.store.document("agent_output", name_in(phase, f"{agent}.md"))
        return before.replaced(value) if before else Document(kind="agent_output", value=value)

    def _content_with(self, phase: Phase, written: Mapping[str, Document]) -> Content:
        data = {name: self.store.bytes_of(name_in(phase, name)) or b"" for name in self.store.output_names(phase)}
        data |= {name: self._text(document, name) for name, document in written.items()}
        return fingerprint.of(data)

    def _outputs_of(self, phase: Phase) -> tuple[str, ...]:
        names = self.store.known_texts(phase)
        own = name_in(phase, layout.FEEDBACK_FILE)
        return tuple([*names, own] if self.store.path(own).exists() else names)

    def _check_name_is_free(self, phase: Phase, agent: str) -> None:
        for name in self.store.output_names(phase):
            taken = name.removesuffix(".md")
            if taken != agent and taken.casefold() == agent.casefold():
                raise InvalidInput(
                    f"agent name {agent!r} differs only by case from {taken!r}, which has an output here."
                )


def _bounded(feedback: Value, checkpoint: Value) -> Value:
    """Says in the form that the attempts are used up, if the checkpoint says so."""
    if checkpoint["metadata"]["status"] != PhaseStatus.FAILED:
        return feedback
    return {**feedback, "action": {**feedback["action"], "action": Action.MAX_RETRIES_EXCEEDED.value}}
