"""Sums up a journal: how many entries of which kind and name, from when to when, how large, and what that saved."""

from collections import Counter

from haytham.domain.agent_state import AgentState
from haytham.domain.records import JournalSummary
from haytham.journal.journal_log import JournalLog


def of(log: JournalLog) -> JournalSummary:
    """Returns the summary of a journal."""
    entries = log.entries()
    names = Counter(each.name for each in entries if each.name)
    first, last = (entries[0], entries[-1]) if entries else (None, None)
    whole = whole_bytes(log)
    return JournalSummary(
        total_count=len(entries),
        unique_names=len(names),
        names=dict(names),
        kinds=dict(Counter(each.kind.value for each in entries)),
        first=first.record() if first else None,
        last=last.record() if last else None,
        duration_seconds=(last.timestamp - first.timestamp).total_seconds() if first and last else 0.0,
        size_bytes=log.size,
        whole_bytes=whole,
        savings=max(0.0, 1 - log.size / whole) if whole else 0.0,
    )


def whole_bytes(log: JournalLog) -> int:
    """Returns about how many bytes the states of all entries take, each on its own, as JSON."""
    total = 0
    state = AgentState()
    for index, written in enumerate(log.all_written()):
        if written.base is not None:
            state = AgentState.restored(log.state_at(log.entry(index).id)[0])
        else:
            state.apply(written.changes)
        total += state.size
    return total
