"""What history had at a commit: its files, its folders, the objects that lead to it. Reads only."""

from collections.abc import Iterator, Mapping
from typing import Any

from haytham.domain.errors import BrokenRepository, InvalidInput, Location
from haytham.domain.identifiers import check_commit
from haytham.storage import git_index, git_objects
from haytham.storage.git_objects import COMMIT, TREE, GitObject
from haytham.storage.history import History

_KINDS = {1: COMMIT, 2: TREE, 3: git_objects.BLOB}


def commit_id(history: History, text: object) -> str:
    """Returns the full id of a commit of the branch, given that or its beginning; raises InvalidInput otherwise."""
    wanted = check_commit(text)
    found = [entry.id for entry in history.entries() if entry.id.startswith(wanted)]
    if len(found) != 1:
        what = "several commits begin with" if found else "no commit of this session begins with"
        raise InvalidInput(f"{what} {wanted}.", hint="haytham log shows the commits with their ids.")
    return found[0]


def files_at(history: History, commit: str | None) -> dict[str, str]:
    """Returns the files that a commit has, by path, with the ids of their contents; none without a commit."""
    if commit is None:
        return {}
    with history.opened() as repository:
        return dict(git_index.blobs(repository[commit].tree))


def folders_at(history: History, commit: str) -> dict[str, str]:
    """Returns the ids of what a commit has at the top: equal ids mean equal content below."""
    with history.opened() as repository:
        return {str(each.name): str(each.id) for each in repository[commit].tree}


def contents(history: History, ids: Mapping[str, str]) -> dict[str, bytes]:
    """Returns the bytes of files, by path, given the ids of their contents."""
    with history.opened() as repository:
        return {path: bytes(repository[oid].data) for path, oid in ids.items()}  # type: ignore[attr-defined]


def objects(history: History, commit: str) -> list[GitObject]:
    """Returns every object that a commit and its ancestors are made of; raises BrokenRepository if one is damaged."""
    with history.opened() as repository:
        try:
            return [_checked(repository, oid) for oid in dict.fromkeys(_reachable(repository, commit))]
        except (KeyError, ValueError) as error:
            raise BrokenRepository(
                f"history cannot be read: {error}.",
                location=Location(path=str(history.git_folder)),
                hint="haytham validate shows what git finds wrong.",
            ) from error


def _reachable(repository: Any, commit: str) -> Iterator[str]:
    seen: set[str] = set()
    for each in repository.walk(commit):
        yield str(each.id)
        yield from _below(repository, each.tree, seen)


def _below(repository: Any, tree: Any, seen: set[str]) -> Iterator[str]:
    if str(tree.id) in seen:
        return
    seen.add(str(tree.id))
    yield str(tree.id)
    for entry in tree:
        if entry.filemode == git_objects.FOLDER_MODE:
            yield from _below(repository, entry, seen)
        else:
            yield str(entry.id)


def _checked(repository: Any, oid: str) -> GitObject:
    kind, data = repository.read(oid)
    found = git_objects.make(_KINDS[int(kind)], data)
    if found.id != oid:
        raise ValueError(f"object {oid} does not hold what it is named by")
    return found
