"""What tests look at: folders as values, real git, a clock that is told what to say."""

import os
import subprocess
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from haytham import HaythamError

START = datetime(2026, 1, 31, 10, 0, 0, tzinfo=UTC)
PROJECT, SESSION, USER = "project-123", "session-456", "user-789"
VOLATILE = {"haytham.lock", "haytham.held", "haytham.seal"}  # who writes just now, what was just replaced, a cache


class Clock:
    """Tells a time that goes on by a fixed step with each question; a step may be zero or negative."""

    def __init__(self, start: datetime = START, step: float = 1.0) -> None:
        self.present = start
        self.step = timedelta(seconds=step)

    def __call__(self) -> datetime:
        """Returns the present, and goes on."""
        now = self.present
        self.present += self.step
        return now


class Ids:
    """Makes ids that count: 000000000001, 000000000002 and so on."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self) -> str:
        """Returns the next id."""
        self.count += 1
        return f"{self.count:012d}"


def git_environment(**more: str) -> dict[str, str]:
    """Returns an environment in which git knows nothing of this machine's settings."""
    plain = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    return plain | {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "LC_ALL": "C"} | more


def git(folder: Path, *arguments: str, data: bytes | None = None) -> str:
    """Runs the real git in a folder; returns what it prints."""
    identity = dict.fromkeys(("GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME"), "Somebody")
    identity |= dict.fromkeys(("GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"), "somebody@example.org")
    done = subprocess.run(
        ["git", *arguments], cwd=folder, env=git_environment(**identity), input=data, capture_output=True, check=False
    )
    assert done.returncode == 0, f"git {arguments}: {done.stderr.decode()}"
    return done.stdout.decode().strip()


def subjects(folder: Path) -> list[str]:
    """Returns the subjects of the commits of a folder, oldest first."""
    return git(folder, "log", "--reverse", "--format=%s").splitlines()


def is_sound(folder: Path) -> bool:
    """Tells whether git finds nothing to complain about."""
    return git(folder, "fsck", "--strict", "--full", "--no-dangling") == ""


def snapshot(folder: Path) -> dict[str, bytes | str]:
    """Returns everything below a folder: bytes of files, targets of links, "" for folders."""
    found: dict[str, bytes | str] = {}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if VOLATILE & set(path.parts):
            continue
        if path.is_symlink():
            found[name] = f"-> {path.readlink()}"
        else:
            found[name] = path.read_bytes() if path.is_file() else ""
    return found


def label(value: object) -> str:
    """Names a hostile value for the list of tests."""
    if isinstance(value, int) and abs(value) > 10**30:
        return "huge"
    return ascii(value)[:40]


def refused(folder: Path, kind: type[Exception], call: Callable[[], object]) -> HaythamError:
    """Returns the error with which a call is refused, after making sure that it changed nothing."""
    before = snapshot(folder)
    with pytest.raises(kind) as caught:
        call()
    assert before == snapshot(folder)
    assert isinstance(caught.value, HaythamError)
    return caught.value
