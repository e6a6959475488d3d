"""The commits of a history as a chain: each with its parents and the files that it has. Reads only."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from haytham.storage.history import Entry, History, entry_of

if TYPE_CHECKING:
    import pygit2

Files = Mapping[str, str]


@dataclass(frozen=True, kw_only=True, slots=True)
class Link:
    """One commit in the chain: what it says, what it follows, and the ids of its files by path."""

    entry: Entry
    parents: tuple[str, ...]
    files: Files


class HistoryChain:
    """A history, read commit by commit."""

    def __init__(self, history: History) -> None:
        self._history = history

    def links(self) -> Iterator[Link]:
        """Yields the commits of the branch with their files, newest first."""
        known: dict[str, dict[str, str]] = {}
        with self._history.opened() as repository:
            head = self._history.head()
            for commit in repository.walk(head) if head else ():
                parents = tuple(str(each) for each in commit.parent_ids)
                files = _files(commit.tree, known)
                yield Link(entry=entry_of(commit), parents=parents, files=files)

    def data(self, blob: str) -> bytes:
        """Returns the bytes of a file, given its id."""
        with self._history.opened() as repository:
            found: Any = repository[blob]
            return bytes(found.data)

    def has(self, commit: str) -> bool:
        """Tells whether a commit, by its full id, is part of the branch's history."""
        with self._history.opened() as repository:
            return commit in repository and self._leads_to(repository, commit)

    def substitutes(self) -> list[str]:
        """Returns the references by which git is told to show other objects than the ones that history names."""
        with self._history.opened() as repository:
            return sorted(str(name) for name in repository.references if str(name).startswith("refs/replace/"))

    def _leads_to(self, repository: "pygit2.Repository", commit: str) -> bool:
        head = self._history.head()
        return head is not None and (head == commit or bool(repository.descendant_of(head, commit)))


def _files(tree: Any, known: dict[str, dict[str, str]]) -> dict[str, str]:
    """Returns the ids of all files below a tree by path; a tree that several commits share is read once."""
    key = str(tree.id)
    if key not in known:
        found: dict[str, str] = {}
        for each in tree:
            if each.type_str == "tree":
                found |= {f"{each.name}/{path}": oid for path, oid in _files(each, known).items()}
            else:
                found[str(each.name)] = str(each.id)
        known[key] = found
    return known[key]
