"""Races between a person who edits the form and an orchestrator that writes it, in two processes.

What both of them finished must be found afterwards: the person's lines in the form, in history, or in a file that was
rescued beside it; what the orchestrator was told to be saved, in history.
"""

import os
import random
import time
from pathlib import Path

import pytest

from haytham import Conflict, GateClosed, InvalidInput, NotFound
from tests.evidence import git, is_sound
from tests.review.desk import AT, Desk
from tests.review.people import EDITORS, add_a_line
from tests.trials import count

RACES = count(smoke=6, release=145)  # for each of the editors: 42, or 1,015 in all


@pytest.mark.parametrize("editor", EDITORS)
def test_nothing_is_lost(in_memory: Path, editor: str) -> None:
    """Whichever way the editor saves, no line of the person's and no save of the orchestrator's is lost."""
    desk = Desk(in_memory / "projects")
    desk.run(1, "first")
    person = _person(desk, editor, in_memory / "lines")
    saved = _orchestrate(desk, person)
    desk.reopened().manager.recover(*AT)
    lines = (in_memory / "lines").read_text(encoding="utf-8").split()
    assert len(lines) == RACES
    kept = _kept(desk)
    assert [line for line in lines if line not in kept] == [], editor
    history = _history(desk)
    assert [each for each in saved if each not in history] == []
    assert is_sound(desk.folder)
    assert not [path for path in desk.folder.rglob("*") if "haytham-" in path.name and ".git" not in path.parts]


def _person(desk: Desk, editor: str, notes: Path) -> int:
    """Starts a person who saves again and again, and notes each line once it is saved."""
    child = os.fork()
    if child:
        return child
    try:
        done = 0
        with notes.open("w", encoding="utf-8") as file:
            while done < RACES:
                time.sleep(random.uniform(0, 0.03))  # about as long as a save of the orchestrator's takes
                line = f"line-{done}-{random.randrange(10**12)}"
                if add_a_line(desk.form(1), EDITORS[editor], line):
                    print(line, file=file, flush=True)
                    done += 1
        os._exit(0)
    finally:
        os._exit(1)


def _orchestrate(desk: Desk, person: int) -> list[str]:
    """Works until the person has ended; returns what was acknowledged."""
    saved: list[str] = []
    refused = 0
    while True:
        ended, status = os.waitpid(person, os.WNOHANG)
        text = f"saved-{random.randrange(10**12)}-end"
        try:
            if _step(desk, text):
                saved.append(text)
        except (Conflict, GateClosed, InvalidInput, NotFound):  # the person was quicker, is at it, or has to decide
            refused += 1
        if ended:
            assert status == 0
            print(f"{RACES} saves of the person's, {len(saved)} of the orchestrator's, {refused} of its calls refused")
            return saved


def _step(desk: Desk, text: str) -> bool:
    """Does something that writes; tells whether it saved the text."""
    choice = random.randrange(5)
    if choice == 0:
        desk.manager.complete_phase(*AT, 1, [{"agent_name": "writer", "output_content": text}])
    elif choice == 1:
        desk.decide(1, random.choice(["approved", "retry_with_changes"]), comments=text)
    elif choice == 2:
        desk.complete(1)
    else:
        desk.manager.load_session(*AT)
    return choice < 2


def _kept(desk: Desk) -> str:
    """Returns all text in which the person's lines may be."""
    beside = [path.read_bytes().decode(errors="replace") for path in desk.form(1).parent.glob("user_feedback.md*")]
    return _history(desk) + "\n".join(beside)


def _history(desk: Desk) -> str:
    return git(desk.folder, "log", "-p", "--text", "--format=%B")
