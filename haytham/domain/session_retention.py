"""Which sessions of a project go when it is tidied up: by status, age, size, and how many stay."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from haytham.domain import instants, numbers
from haytham.domain.choices import SessionStatus, choose
from haytham.domain.errors import InvalidInput

ARCHIVE, DELETE = "archive", "delete"

_SECONDS_PER_DAY = 86_400


@dataclass(frozen=True, kw_only=True, slots=True)
class Candidate:
    """A session as retention sees it."""

    session_id: str
    status: str
    last_updated: str
    bytes: int


@dataclass(frozen=True, kw_only=True, slots=True)
class SessionRetention:
    """A rule; a session goes if all of it applies. `keep` of the newest stay, whatever else is said."""

    statuses: tuple[str, ...]
    older_than_days: float | None
    larger_than: int | None
    keep: int | None


def rule(statuses: object, older_than_days: object, larger_than: object, keep: object) -> SessionRetention:
    """Checks what a rule is made from; raises InvalidInput. Without statuses only completed sessions go."""
    if statuses is None and older_than_days is None and larger_than is None and keep is None:
        raise InvalidInput("nothing says which sessions go.", hint="give a status, an age, a size or how many stay.")
    if statuses is not None and (isinstance(statuses, str) or not isinstance(statuses, Sequence)):
        raise InvalidInput(f"statuses is {statuses!r}; a list is needed.", hint='pass ["completed"], even for one.')
    named = statuses or (SessionStatus.COMPLETED.value,)
    return SessionRetention(
        statuses=tuple(choose(SessionStatus, each, "status").value for each in named),
        older_than_days=numbers.optional_amount(older_than_days, "older_than_days"),
        larger_than=numbers.optional_count(larger_than, "larger_than"),
        keep=numbers.optional_count(keep, "keep"),
    )


def chosen(candidates: Sequence[Candidate], wanted: SessionRetention, now: datetime) -> dict[str, str]:
    """Returns why each session goes, by its id, oldest change first; those that are not named stay."""
    newest_first = sorted(candidates, key=_age, reverse=True)
    found = {each.session_id: _reason(each, wanted, now) for each in newest_first[wanted.keep or 0 :]}
    return {name: reason for name, reason in reversed(found.items()) if reason}


def _reason(candidate: Candidate, wanted: SessionRetention, now: datetime) -> str:
    """Words what applies; nothing if any part of the rule does not."""
    days = (now - _changed(candidate)).total_seconds() / _SECONDS_PER_DAY
    reasons = [candidate.status if candidate.status in wanted.statuses else ""]
    if wanted.older_than_days is not None:
        reasons.append(f"unchanged for {days:.1f} days" if days > wanted.older_than_days else "")
    if wanted.larger_than is not None:
        reasons.append(f"{candidate.bytes:,} bytes" if candidate.bytes > wanted.larger_than else "")
    if wanted.keep is not None:
        reasons.append(f"not one of the newest {wanted.keep}")
    return ", ".join(reasons) if all(reasons) else ""


def _changed(candidate: Candidate) -> datetime:
    return instants.parse(candidate.last_updated, "last_updated")


def _age(candidate: Candidate) -> tuple[float, str]:
    return _changed(candidate).timestamp(), candidate.session_id
