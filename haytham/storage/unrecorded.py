"""What would be lost with a folder although its branch does not have it: files, staged versions, other commits.

Reads only. Left out is what Haytham wrote by itself and will commit or sweep, and the journals of agents.
"""

import hashlib
import os
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from haytham.domain.errors import HaythamError
from haytham.storage import copies, files, git_index
from haytham.storage.history import History, blob_id
from haytham.storage.store import Store

_TORN = re.compile(r"\.torn-\d+\Z")
_ELSEWHERE = "refs/remotes/"  # what another repository has
_EMPTY = blob_id(b"")  # git add --intent-to-add


@dataclass(frozen=True, kw_only=True, slots=True)
class Unrecorded:
    """Files by their names inside the folder, staged or not; refs that lead to commits which the branch does not."""

    files: list[str]
    refs: list[str]


def of(store: Store) -> Unrecorded:
    """Returns what is in no history of a folder; raises HaythamError if that cannot be told."""
    with store.history.kept_open():
        store.read_anew()
        names = dict(_walk(store.folder))
        written = [name for name in _edited(store, names) if not _is_an_agents(store, name)]
        return Unrecorded(files=sorted({*written, *_staged(store)}), refs=_refs(store.history))


def fingerprint(store: Store) -> str:
    """Returns what tells whether anything in a folder changed: its files, its history, its refs; of any folder."""
    told = hashlib.sha256()
    for name, is_link in _walk(store.folder):
        told.update(f"{name!r} {is_link} {_print_of(store.path(name), is_link=is_link)}\n".encode())
    with suppress(HaythamError), store.history.opened() as repository:
        names = ["HEAD", *sorted(str(each) for each in repository.references)]
        told.update(repr([(name, str(repository.lookup_reference(name).target)) for name in names]).encode())
    return told.hexdigest()


def _print_of(path: Path, *, is_link: bool) -> str:
    """Returns what tells the content of a file from any other; its size and time for one that cannot be read."""
    with suppress(HaythamError, FileNotFoundError):
        data = os.fsencode(path.readlink()) if is_link else files.read_bytes(path)
        return "gone" if data is None else blob_id(data)
    with suppress(FileNotFoundError):
        found = path.lstat()
        return f"{found.st_size} {found.st_mtime_ns}"
    return "gone"


def _walk(folder: Path, prefix: str = "") -> Iterator[tuple[str, bool]]:
    """Yields the names of all that is below a folder but its history, each with whether it is a link."""
    with files.translating(), os.scandir(folder) as entries:
        found = sorted(entries, key=lambda each: each.name)
    for each in found:
        if each.is_dir(follow_symlinks=False):
            if prefix or each.name != ".git":
                yield from _walk(Path(each.path), f"{prefix}{each.name}/")
        elif files.TEMPORARY not in each.name:
            yield f"{prefix}{each.name}", each.is_symlink()


def _edited(store: Store, names: dict[str, bool]) -> list[str]:
    links = [name for name, is_link in names.items() if is_link]
    committed = store.history.blob_ids(links)
    changed = [name for name in links if committed.get(name) != blob_id(os.fsencode(store.path(name).readlink()))]
    return [*changed, *store.edited_by_hand([name for name, is_link in names.items() if not is_link])]


def _is_an_agents(store: Store, name: str) -> bool:
    """Tells whether a file is a journal that was written by an agent, or a piece that a crash tore off one."""
    journal = _TORN.sub("", name)
    return copies.is_journal(journal) and copies.note_of(store, journal).is_file()


def _staged(store: Store) -> Iterator[str]:
    """Yields the files that somebody staged as they are in no commit, nor in the folder."""
    indexed = git_index.ids(store.history.git_folder)
    committed = store.history.blob_ids(indexed)
    with store.history.opened() as repository:
        for name, oid in indexed.items():
            if oid in {committed.get(name), _EMPTY} or store.history.was_committed(repository, name, oid):
                continue
            data = None if store.path(name).is_symlink() else store.bytes_of(name)
            if data is None or oid != blob_id(data):
                yield name


def _refs(history: History) -> list[str]:
    with history.opened() as repository:
        own = f"refs/heads/{history.branch}"
        names = [str(each) for each in repository.references if each != own and not str(each).startswith(_ELSEWHERE)]
        found = [*names, *(["HEAD"] if repository.head_is_detached else [])]
        head = repository.references.get(own)
        return sorted(name for name in found if not _is_behind(repository, name, head.target if head else None))


def _is_behind(repository: Any, name: str, head: Any) -> bool:
    """Tells whether a ref leads to a commit that the branch has as well."""
    commit = repository.lookup_reference(name).resolve().target
    found = repository[commit]
    while found.type_str == "tag":
        found = found.get_object()
    if found.type_str != "commit" or head is None:
        return False
    return bool(found.id == head or repository.descendant_of(head, found.id))
