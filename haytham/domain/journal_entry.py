"""One entry of an agent's journal: everything about a saved state but the state itself."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from types import MappingProxyType
from typing import Any

from haytham.domain import instants
from haytham.domain.choices import choose
from haytham.domain.errors import InvalidInput
from haytham.domain.identifiers import check_line, check_text
from haytham.domain.json_data import copy_of, read_only
from haytham.domain.numbers import check_count
from haytham.domain.records import EntryRecord

_NOTHING: Mapping[str, Any] = MappingProxyType({})
_ID = re.compile(r"[0-9a-f]{24}\Z")


class EntryKind(StrEnum):
    """What a snapshot is for."""

    ROUTINE = "routine"
    PRE_OPERATION = "pre_operation"
    RECOVERY = "recovery"


class AgentStatus(StrEnum):
    """Where an agent stood when the snapshot was taken."""

    IN_PROGRESS = "in_progress"
    COMPLETED = "completed"
    FAILED = "failed"
    HALTED = "halted"

    @property
    def has_reason(self) -> bool:
        """Whether one wants to know why."""
        return self in {AgentStatus.FAILED, AgentStatus.HALTED}


@dataclass(frozen=True, kw_only=True, slots=True)
class Entry:
    """A saved state of an agent; `parent` is the id of the entry that it goes on from.

    `succeeded` is the id of a pre_operation entry whose operation has gone well since; it is the entry's own id when
    the one that said so was removed. What is in `metadata` cannot be changed.
    """

    id: str
    number: int
    agent: str
    timestamp: datetime
    step: int
    name: str = ""
    kind: EntryKind = EntryKind.ROUTINE
    status: AgentStatus = AgentStatus.IN_PROGRESS
    reason: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    parent: str | None = None
    succeeded: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "metadata", read_only(self.metadata) if self.metadata else _NOTHING)

    def record(self) -> EntryRecord:
        """Returns the entry as plain data."""
        return EntryRecord(
            id=self.id,
            number=self.number,
            agent=self.agent,
            timestamp=instants.text_of(self.timestamp),
            step=self.step,
            name=self.name,
            kind=self.kind.value,
            status=self.status.value,
            reason=self.reason,
            metadata=copy_of(self.metadata, "metadata"),
            parent=self.parent,
            succeeded=self.succeeded,
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class Note:
    """What a caller says about a state that is to be saved; checked once, here."""

    name: str = ""
    kind: EntryKind = EntryKind.ROUTINE
    status: AgentStatus = AgentStatus.IN_PROGRESS
    reason: str = ""
    step: int | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    succeeded: str | None = None


def note(
    name: object = "",
    kind: object = EntryKind.ROUTINE,
    status: object = AgentStatus.IN_PROGRESS,
    reason: object = "",
    step: object = None,
    metadata: object = None,
    succeeded: object = None,
) -> Note:
    """Checks what a caller says about a state; raises InvalidInput."""
    standing = choose(AgentStatus, status, "status")
    why = check_text(reason, "reason")
    if why and not standing.has_reason and choose(EntryKind, kind, "kind") is not EntryKind.RECOVERY:
        raise InvalidInput(
            f"status {standing.value} has the reason {why!r}.",
            hint="a reason goes with the status failed or halted, or with the kind recovery.",
        )
    data = copy_of({} if metadata is None else metadata, "metadata")
    if not isinstance(data, dict):
        raise InvalidInput(f"metadata is {metadata!r}, which is no dict.", hint="pass a dict of JSON data.")
    return Note(
        name=check_line(name, "name") if name else "",
        kind=choose(EntryKind, kind, "kind"),
        status=standing,
        reason=why,
        step=None if step is None else check_count(step, "step"),
        metadata=data,
        succeeded=None if succeeded is None else check_entry_id(succeeded),
    )


def check_entry_id(value: object) -> str:
    """Returns an entry's id; raises InvalidInput for what cannot be one."""
    if not isinstance(value, str) or not _ID.match(value):
        raise InvalidInput(f"entry id is {value!r}.", hint="an id has 24 of the characters 0-9 and a-f.")
    return value
