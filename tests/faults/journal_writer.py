"""An agent that saves steps to its journal and says each one that was acknowledged, until it is killed."""

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from haytham import HaythamError
from haytham.journal.journal import Journal
from haytham.journal.journals import Journals

WHOLE_EVERY = 9


def opened(folder: Path, agent: str = "writer") -> Journal:
    """Opens the journal as a new process does."""
    return Journals(folder / "journal", folder / "notes", "s-1").journal(agent)


def expected(step: int, key: str = "text") -> dict[str, Any]:
    """Returns the state after a step, exactly: it has the messages since the last fresh start."""
    first = step - step % WHOLE_EVERY
    messages = [{"role": "user", "content": _text(number)} for number in range(first, step + 1)]
    return {"n": step, "messages": messages, key: 1.0 if step % 2 else True}


def write(folder: Path, say: Callable[[str], object], steps: int = 10**9) -> None:
    """Goes on from the newest step, and says the number and the id of each that is saved; an error of ours ends it."""
    journal = opened(folder)
    first = journal.state.get("n", -1) + 1
    for step in range(first, first + steps):
        if step % WHOLE_EVERY == 0:
            entry = journal.save(expected(step))
        else:
            journal.state["n"] = step
            journal.state.add_message("user", _text(step))
            journal.state["text"] = 1.0 if step % 2 else True
            entry = journal.save()
        say(f"{step} {entry.id}")


def _text(step: int) -> str:
    return f"step {step}\n## 1 · fake\r\n\n<!-- entry -->\n" + "x" * (step % 500)


def main() -> None:
    """Saves some steps, in a folder, whatever the disk says to each."""
    folder, steps = Path(sys.argv[1]), int(sys.argv[2])
    for _ in range(steps):
        try:
            write(folder, lambda line: os.write(1, f"{line}\n".encode()), 1)
        except HaythamError as error:
            os.write(1, f"{type(error).__name__}\n".encode())


if __name__ == "__main__":
    main()
