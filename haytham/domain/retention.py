"""Which entries of an agent's journal stay: rules by kind, by name, by age, by number.

The rules only judge, each entry with its reason: removing is the journal's work, so a dry run is the same call.
"""

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, fields, replace
from datetime import datetime, timedelta
from typing import Any

from haytham.domain import suggestions
from haytham.domain.errors import InvalidInput
from haytham.domain.journal_entry import Entry, EntryKind
from haytham.domain.numbers import check_count, optional_amount, optional_count


@dataclass(frozen=True, kw_only=True, slots=True)
class Retention:
    """How much of a journal stays; None stands for no bound.

    - `routine`: so many of the newest routine entries without a name. A name makes an entry a landmark, which stays
      until the journal is thinned.
    - `until_success`: a pre_operation entry stays until its operation has gone well, not longer.
    - `recovery_days`: for so long a recovery entry stays, unless it is cleared by hand before.
    - `thin_above`: if more entries than this are left, landmarks go: all but the first entry, the newest of each name
      and the `recent` newest entries.
    - `limit`: more than this are never left; the oldest go first.

    Raises InvalidInput for what is no number, and for a limit that would leave nothing.
    """

    routine: int | None = 3
    until_success: bool = True
    recovery_days: float | None = 7
    thin_above: int | None = 50
    recent: int = 20
    limit: int | None = 100

    def __post_init__(self) -> None:
        for name in ("routine", "thin_above", "limit"):
            optional_count(getattr(self, name), name)
        check_count(self.recent, "recent")
        optional_amount(self.recovery_days, "recovery_days")
        if not isinstance(self.until_success, bool):
            raise InvalidInput(f"until_success is {self.until_success!r}.", hint="use True or False.")
        if self.limit == 0:
            raise InvalidInput("limit is 0; the newest entry always stays.", hint="use 1 or more, or None.")


DEFAULT = Retention()


@dataclass(frozen=True, kw_only=True, slots=True)
class Verdict:
    """Whether an entry stays, and why, in words."""

    entry: Entry
    stays: bool
    reason: str


_DAY = timedelta(days=1)
_Said = dict[int, tuple[bool, str]]  # by position: stays, reason


def verdicts(entries: Sequence[Entry], retention: Retention, now: datetime) -> tuple[Verdict, ...]:
    """Judges the entries of one journal, oldest first.

    The order of the entries counts, not their times. The newest of all stays, because it is what one resumes from.
    """
    said = _by_kind(entries, retention, now)
    if entries:
        said[len(entries) - 1] = (True, "it is the newest of all")
    said |= _by_thinning(entries, said, retention)
    said |= _by_limit([place for place in range(len(entries)) if said[place][0]], retention)
    return tuple(
        Verdict(entry=entry, stays=said[place][0], reason=said[place][1]) for place, entry in enumerate(entries)
    )


def kept(entries: Sequence[Entry], ids: AbstractSet[str]) -> list[Entry]:
    """Returns the entries that stay; that an operation has succeeded is not forgotten with the entry that said so.

    A pre_operation entry then says so itself.
    """
    done = {entry.succeeded for entry in entries}
    return [
        replace(entry, succeeded=entry.id) if entry.kind is EntryKind.PRE_OPERATION and entry.id in done else entry
        for entry in entries
        if entry.id in ids
    ]


def retention_of(value: Mapping[str, Any]) -> Retention:
    """Builds a retention from plain data, such as a table of a file; raises InvalidInput for an unknown field."""
    known = [each.name for each in fields(Retention)]
    for name in value:
        if name not in known:
            raise InvalidInput(f"retention has no {name!r}.", hint=suggestions.allowed(str(name), known))
    return Retention(**value)


def _by_kind(entries: Sequence[Entry], retention: Retention, now: datetime) -> _Said:
    """Says what follows from kinds; a landmark is not mentioned."""
    routine = [at for at, entry in enumerate(entries) if entry.kind is EntryKind.ROUTINE and not entry.name]
    said = {} if retention.routine is None else _newest(routine, retention.routine)
    said |= _operations(entries, until_success=retention.until_success)
    return said | _recoveries(entries, retention.recovery_days, now)


def _newest(routine: Sequence[int], number: int) -> _Said:
    first = max(len(routine) - number, 0)
    return {
        at: (place >= first, f"it is {'' if place >= first else 'not '}of the last {number} routine entries")
        for place, at in enumerate(routine)
    }


def _operations(entries: Sequence[Entry], *, until_success: bool) -> _Said:
    done = {entry.succeeded for entry in entries}
    said: _Said = {}
    for place, entry in enumerate(entries):
        if entry.kind is EntryKind.PRE_OPERATION:
            is_done = entry.id in done
            words = "its operation has succeeded" if is_done else "its operation has not succeeded yet"
            said[place] = (not (is_done and until_success), words)
    return said


def _recoveries(entries: Sequence[Entry], days: float | None, now: datetime) -> _Said:
    said: _Said = {}
    for place, entry in enumerate(entries):
        if entry.kind is EntryKind.RECOVERY:
            is_old = days is not None and (now - entry.timestamp) / _DAY > days
            words = "a recovery stays until cleared" if days is None else f"a recovery stays for {days:g} days"
            said[place] = (not is_old, words)
    return said


def _by_thinning(entries: Sequence[Entry], said: _Said, retention: Retention) -> _Said:
    """Says what becomes of those that no kind has spoken for."""
    open_ = [place for place in range(len(entries)) if place not in said]
    left = [place for place in range(len(entries)) if place not in said or said[place][0]]
    if retention.thin_above is None or len(left) <= retention.thin_above:
        return dict.fromkeys(open_, (True, "there are not too many"))
    thinned = f"{len(left)} are more than {retention.thin_above}, and a newer one of its name stays"
    kept = dict.fromkeys({entries[at].name: at for at in left}.values(), (True, "it is the newest of its name"))
    kept |= dict.fromkeys(left[max(len(left) - retention.recent, 0) :], (True, f"it is of the last {retention.recent}"))
    kept |= {left[0]: (True, "it is the first")}
    return {at: kept.get(at, (False, thinned)) for at in open_}


def _by_limit(left: Sequence[int], retention: Retention) -> _Said:
    over = 0 if retention.limit is None else max(len(left) - retention.limit, 0)
    return dict.fromkeys(left[:over], (False, f"{len(left)} are more than the limit of {retention.limit}"))
