"""What somebody with git and an editor can do to a session that is over."""

import random
from collections.abc import Callable, Iterator
from pathlib import Path

from tests.evidence import git

IDENTITY = ("GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_AUTHOR_DATE")


def commits(folder: Path) -> list[str]:
    """Returns the ids of the commits, oldest first."""
    return git(folder, "rev-list", "--reverse", "HEAD").split()


def rewritten(folder: Path, order: list[tuple[str, str]]) -> None:
    """Makes a new history and moves the branch to it: each commit has the tree of one and the words of another."""
    parent: list[str] = []
    for tree, words in order:
        raw = git(folder, "cat-file", "commit", words)
        header, _, message = raw.partition("\n\n")
        kept = [line for line in header.split("\n") if line.startswith(("author ", "committer "))]
        tree_id = git(folder, "rev-parse", f"{tree}^{{tree}}")
        data = "\n".join([f"tree {tree_id}", *(f"parent {each}" for each in parent), *kept]) + f"\n\n{message}\n"
        made = git(folder, "hash-object", "-t", "commit", "-w", "--stdin", data=data.encode())
        parent = [made]
    git(folder, "update-ref", "HEAD", parent[0])


def dropped(folder: Path) -> Iterator[list[tuple[str, str]]]:
    """Yields every history that lacks one commit, which is not the newest one; the files stay as they came to be."""
    known = commits(folder)
    for index in range(len(known) - 1):
        yield [(each, each) for i, each in enumerate(known) if i != index]


def squashed(folder: Path) -> Iterator[list[tuple[str, str]]]:
    """Yields every history in which a commit is melted into the one before it, under that one's words."""
    known = commits(folder)
    for index in range(len(known) - 1):
        pairs = [(each, each) for each in known]
        pairs[index : index + 2] = [(known[index + 1], known[index])]
        yield pairs


def reordered(folder: Path) -> Iterator[list[tuple[str, str]]]:
    """Yields every history in which two neighbours have changed places."""
    known = commits(folder)
    for index in range(len(known) - 1):
        pairs = [(each, each) for each in known]
        pairs[index], pairs[index + 1] = pairs[index + 1], pairs[index]
        yield pairs


def retold(folder: Path) -> Iterator[list[tuple[str, str]]]:
    """Yields every history in which two neighbours have changed words."""
    known = commits(folder)
    for index in range(len(known) - 1):
        pairs = [(each, each) for each in known]
        pairs[index] = (known[index], known[index + 1])
        pairs[index + 1] = (known[index + 1], known[index])
        yield pairs


REWRITINGS: dict[str, Callable[[Path], Iterator[list[tuple[str, str]]]]] = {
    "dropped": dropped,
    "squashed": squashed,
    "reordered": reordered,
    "retold": retold,
}


def flip(path: Path, source: random.Random) -> Callable[[], None]:
    """Changes one byte of a file; returns what undoes it."""
    before, mode = path.read_bytes(), path.stat().st_mode
    data = bytearray(before)
    data[source.randrange(len(data))] ^= source.randrange(1, 256)
    path.chmod(0o644)
    path.write_bytes(data)

    def undo() -> None:
        path.write_bytes(before)
        path.chmod(mode)

    return undo
