"""The log of sessions and projects as data, and which of its entries are wanted."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path

from haytham.domain import instants
from haytham.domain.audit_records import AuthorRecord, LogRecord, SignatureRecord
from haytham.domain.choices import Action, choose
from haytham.domain.errors import InvalidInput
from haytham.domain.identifiers import check_line
from haytham.storage import signing
from haytham.storage.history import Entry

_DATE_LENGTH = len("2026-01-31")


@dataclass(frozen=True, kw_only=True, slots=True)
class Wanted:
    """Which entries are wanted; None wants all of them."""

    phase: int | None = None
    actor: str | None = None
    decision: str | None = None
    since: datetime | None = None
    until: datetime | None = None

    def has(self, entry: Entry) -> bool:
        """Tells whether an entry is wanted."""
        told = entry.trailers
        return (
            self.phase in {None, _number(told.get("Haytham-Phase"))}
            and self.decision in {None, told.get("Haytham-Decision")}
            and (self.actor is None or self.actor in str(entry.author).casefold())
            and (self.since is None or entry.time >= self.since)
            and (self.until is None or entry.time <= self.until)
        )


def wanted(phase: object, actor: object, decision: object, since: object, until: object) -> Wanted:
    """Checks what is asked for; raises InvalidInput, else returns it.

    A day without a time is the whole of it, in UTC.
    """
    if phase is not None and (isinstance(phase, bool) or not isinstance(phase, int)):
        raise InvalidInput(f"phase is {phase!r}; a number is needed.")
    return Wanted(
        phase=phase,
        actor=check_line(actor, "actor").casefold() if actor is not None else None,
        decision=choose(Action, decision, "decision").value if decision is not None else None,
        since=_instant(since, "since", time.min),
        until=_instant(until, "until", time.max),
    )


def records(entries: Iterable[Entry], session_id: str | None, folder: Path) -> list[LogRecord]:
    """Returns entries of the history of a folder as data; the user's git is asked only if any of them is signed."""
    chosen = list(entries)
    heads = [each.id for each in chosen if each.is_signed][:1]
    verdicts = signing.checked(folder, heads[0]) if heads else {}
    return [_record(each, session_id, verdicts) for each in chosen]


def _record(entry: Entry, session_id: str | None, verdicts: Mapping[str, signing.Verdict]) -> LogRecord:
    return LogRecord(
        id=entry.id,
        time=instants.text_of(entry.time),
        author=AuthorRecord(name=entry.author.name, email=entry.author.email),
        subject=entry.subject,
        body=entry.body,
        trailers=dict(entry.trailers),
        session_id=session_id,
        signature=_signature(verdicts.get(entry.id, signing.Verdict()), entry) if entry.is_signed else None,
    )


def _signature(verdict: signing.Verdict, entry: Entry) -> SignatureRecord:
    return SignatureRecord(state=verdict.state, signer=verdict.signer, identity=verdict.identity(entry.author.email))


def _number(text: str | None) -> int | None:
    return int(text) if text is not None and text.isdecimal() else -1


def _instant(value: object, what: str, of_day: time) -> datetime | None:
    if value is None:
        return None
    if isinstance(value, str) and len(value) == _DATE_LENGTH:
        try:
            return datetime.combine(date.fromisoformat(value), of_day, UTC)
        except ValueError:
            pass  # worded below
    found = instants.parse(value, what)
    return found if found.microsecond or of_day == time.min else found + timedelta(microseconds=999_999)
