"""Measures what a step of an agent costs in its journal, against a raw append of the same bytes.

Run it with `python benchmarks/journal.py`; `make bench` runs it too. Options: --quick (fewer steps).
"""

import argparse
import os
import shutil
import statistics
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from bench import folder, median_ms, ratio

from haytham.documents import journal_text
from haytham.documents.journal_text import Header, Written
from haytham.domain.journal_entry import Entry
from haytham.domain.state_changes import Change, Verb
from haytham.journal.journal import Journal
from haytham.journal.journals import Journals

BLOCK = 20
MESSAGE = ("The market grew by 4.2 % a year; three sources agree on that, and one does not. " * 10)[:500]
ARGUMENTS = {"query": "market size", "limit": 20}
RESULT = "1,204 hits"
START = datetime(2026, 1, 31, 10, tzinfo=UTC)


def step(journal: Journal, number: int) -> None:
    """Saves one step: a message of 500 bytes and a call of a tool more."""
    journal.state.add_message("assistant", MESSAGE)
    journal.state.add_tool_call("search", {**ARGUMENTS, "page": number}, RESULT)
    journal.save()


def added(number: int) -> int:
    """Returns the bytes that a step adds to the state, as JSON."""
    from haytham.domain.agent_state import AgentState

    state = AgentState()
    state.add_message("assistant", MESSAGE)
    state.add_tool_call("search", {**ARGUMENTS, "page": number}, RESULT)
    return sum(AgentState({"x": change.value}).size - 7 for change in state.changes)


def raw_append(descriptor: int, data: bytes) -> None:
    """Appends bytes to an open file and flushes them, and nothing else."""
    os.write(descriptor, data)
    os.fsync(descriptor)


def timed(action: Callable[[], object]) -> float:
    """Times an action once, in milliseconds."""
    return median_ms(action, 1)


def bench_steps(base: Path, steps: int) -> Journals:
    """Steps and raw appends of the same bytes, in blocks that take turns."""
    journals = Journals(base / "journal", base / "notes", "s-1")
    journal = journals.journal("writer")
    ours: list[float] = []
    plain: list[float] = []
    base.mkdir(parents=True, exist_ok=True)
    raw = os.open(base / "raw", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    for block in range(0, steps, BLOCK):
        start = journal.path.stat().st_size if block else 0
        ours += [timed(partial(step, journal, n)) for n in range(block, block + BLOCK)]
        data = b"x" * ((journal.path.stat().st_size - start) // BLOCK)
        plain += [timed(partial(raw_append, raw, data)) for _ in range(BLOCK)]
    os.close(raw)
    ratio(f"a step, of {steps:,} / raw append and fsync", statistics.median(ours), statistics.median(plain), 2)
    last, first = statistics.median(ours[-100:]), statistics.median(ours[:100])
    ratio("the last hundred steps / the first hundred", last, first, 1.2)
    total = sum(added(number) for number in range(steps))
    size = journal.path.stat().st_size
    kept = "kept" if size <= 1.5 * total else "MISSED"
    print(f"{size / total:6.2f}  size / bytes added  ({size:,} / {total:,} bytes)   bar 1.5: {kept}", flush=True)
    return journals


def bench_reading(base: Path, journals: Journals, repeat: int) -> None:
    """The latest state, any state, and forks, each by a process that has just opened the journal."""

    def fresh() -> Journal:
        return Journals(base / "journal", base / "notes", "s-1").journal("writer")

    entries = journals.journal("writer").all()
    limit("the latest state restored", [timed(lambda: fresh().resume()) for _ in range(repeat)], 20)
    chosen = [entries[place * len(entries) // repeat] for place in range(repeat)]
    limit("any state", [timed(lambda e=e: fresh().state_at(e.id)) for e in chosen], 50)  # type: ignore[misc]
    middle = entries[len(entries) // 2].id
    bench_forks(base, fresh, middle, f"{len(entries):,} steps", repeat)


def bench_forks(base: Path, fresh: Callable[[], Journal], middle: str, what: str, repeat: int) -> None:
    """Forks from the middle: by a process that has just opened the journal, by one that works on it, and elsewhere."""
    cold = [timed(lambda n=n: fresh().fork(f"cold-{n}", middle)) for n in range(repeat)]  # type: ignore[misc]
    limit(f"fork from the middle of {what}, just opened", cold, 20)
    other = Journals(base / "other", base / "other-notes", "s-2")
    cold = [timed(lambda n=n: fresh().fork_into(other, f"a-{n}", middle)) for n in range(repeat)]  # type: ignore[misc]
    limit(f"fork from the middle of {what} into another session, just opened", cold, 20)
    journal = fresh()
    journal.resume()
    warm = [timed(lambda n=n: journal.fork(f"warm-{n}", middle)) for n in range(repeat)]  # type: ignore[misc]
    limit(f"fork from the middle of {what}, at work", warm, 20)
    into = [timed(lambda n=n: journal.fork_into(other, f"b-{n}", middle)) for n in range(repeat)]  # type: ignore[misc]
    limit(f"fork from the middle of {what} into another session, at work", into, 20)


def bench_long(base: Path, steps: int, repeat: int) -> None:
    """Forks from the middle of many steps, which are not saved one by one but written at once."""
    middle = write_at_once(base / "journal" / "writer.md", steps)
    what = f"{steps:,} steps"
    bench_forks(base, lambda: Journals(base / "journal", base / "notes", "s-1").journal("writer"), middle, what, repeat)


def write_at_once(path: Path, steps: int) -> str:
    """Writes a journal as it would be after so many steps; returns the id of the entry in the middle."""
    path.parent.mkdir(parents=True)
    parts = [journal_text.header_text(Header(session="s-1", agent="writer"))]
    previous = None
    for number in range(1, steps + 1):
        entry = Entry(id=f"{number:024x}", number=number, agent="writer", timestamp=START, step=number, parent=previous)
        changes = [Change(Verb.ADD, ("messages",), {"role": "assistant", "content": MESSAGE})]
        call = {"tool_name": "search", "arguments": {**ARGUMENTS, "page": number}, "result": RESULT, "success": True}
        changes.append(Change(Verb.ADD, ("tool_calls",), call))
        written = Written(entry=entry, previous=previous, changes=changes)
        parts.append(journal_text.entry_text(written, parts[-1][-37:-5]))
        previous = entry.id
    path.write_bytes(b"".join(parts))
    return f"{steps // 2:024x}"


def count_flushes(base: Path) -> None:
    """Counts what a step asks of the disk, with strace."""
    if shutil.which("strace") is None:
        print("strace is not installed: flushes not counted")
        return
    script = (
        "import sys; sys.path.insert(0, sys.argv[2]); from journal import *\n"
        "j = Journals(Path(sys.argv[1]) / 'j', Path(sys.argv[1]) / 'n', 's').journal('writer')\n"
        "step(j, 0); os.path.exists('/marker-start')\n"
        "for number in range(100): step(j, number)\n"
    )
    log = base / "strace.log"
    watched = "trace=fsync,fdatasync,stat,newfstatat"
    command = ["strace", "-f", "-o", str(log), "-e", watched, sys.executable, "-c", script, str(base)]
    subprocess.run([*command, str(Path(__file__).parent)], check=True)
    lines = log.read_text().partition("/marker-start")[2].splitlines()
    print(f"per step: {sum('sync(' in line for line in lines) / 100:g} fsync")


def limit(what: str, times: list[float], bar: float) -> None:
    """Prints one line: the median, the slowest, the bar."""
    found = statistics.median(times)
    kept = "kept" if found <= bar else "MISSED"
    print(f"{found:6.2f} ms  {what}  (slowest {max(times):.2f} ms)   bar {bar:g} ms: {kept}", flush=True)


def bench_journal(base: Path, *, is_quick: bool) -> None:
    """Runs everything about journals."""
    base.mkdir(parents=True)
    repeat = 10 if is_quick else 30
    journals = bench_steps(base / "steps", 1000)
    bench_reading(base / "steps", journals, repeat)
    count_flushes(base)
    if not is_quick:
        bench_long(base / "long", 10_000, repeat)
        bench_long(base / "longest", 100_000, repeat)


def main() -> None:
    """Runs everything."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="without the long journals")
    is_quick = parser.parse_args().quick
    with folder() as base:
        bench_journal(base / "journal", is_quick=is_quick)


if __name__ == "__main__":
    main()
