"""A program that is interrupted, as by Ctrl-C, again and again while it saves, and looks at what is left each time.

    python -m tests.journal.interrupted_worker FOLDER TRIALS

It runs apart, because a tracer of coverage does not survive an interruption. Its last line is `whole` if all went well.
"""

import itertools
import random
import signal
import sys
from pathlib import Path
from typing import Any

from haytham.journal.guard import Guard
from haytham.journal.journal import Journal
from haytham.journal.journals import Journals


def work(journal: Journal) -> None:
    """Counts, one step after the other."""
    with Guard(journal) as guard:
        for number in itertools.count():
            journal.state.append("done", len(journal.state.get("done", ())))
            guard.step("count", number, progress=True, force=True)


def interrupt(*_: Any) -> None:
    """Does what Ctrl-C does."""
    raise KeyboardInterrupt


def main(folder: Path, trials: int) -> None:
    """Interrupts the work at random moments; no step may be doubled or missing."""
    chance, reached = random.Random(5), 0
    signal.signal(signal.SIGALRM, interrupt)
    for _ in range(trials):
        try:
            signal.setitimer(signal.ITIMER_REAL, chance.uniform(0.0005, 0.006))
            work(Journals(folder / "journal", folder / "notes", "s-1").journal("writer"))
        except KeyboardInterrupt:
            pass
        left = Journals(folder / "journal", folder / "notes", "s-1").journal("writer")
        done = list(left.state.get("done", ()))
        problems = left.verify()
        if problems or done != list(range(len(done))) or len(done) < reached:
            sys.exit(f"{problems} {reached} {done}")
        reached = len(done)
    sys.stdout.write("whole\n" if reached else "nothing was done\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
