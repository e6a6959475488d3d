"""A folder as a value: its files, its history and what we note about them, taken from one place, put into another.

What people wrote and nobody committed is part of it. Locks, caches, and other branches than the folder's own are not.
"""

import os
import re
import unicodedata
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from haytham.domain.errors import BrokenRepository, InvalidInput, Location
from haytham.storage import bundles, files, layout
from haytham.storage.bundles import Bundle
from haytham.storage.history import History
from haytham.storage.store import Store

_LONGEST_NAME, _LONGEST_PATH = 240, 1000
_FORBIDDEN = re.compile(r'[\\:*?"<>|]')  # what some file systems take for something else


@dataclass(frozen=True, kw_only=True, slots=True)
class FolderCopy:
    """Everything that makes up a folder with its history.

    `folders` are those that hold nothing. `written` are files of ours that wait for their commit. `acknowledged` has,
    by journal, the last entry that was.
    """

    branch: str
    head: str
    bundle: bytes
    files: Mapping[str, bytes]
    folders: tuple[str, ...]
    written: tuple[str, ...]
    acknowledged: Mapping[str, str]

    def check(self) -> Bundle:
        """Returns the history, checked; raises InvalidInput if anything could not be put into a folder."""
        for name in (*self.files, *self.folders):
            check_name(name)
        _check_apart(self.files, self.folders)
        if not {*self.written, *self.acknowledged} <= set(self.files):
            raise InvalidInput("a note is about a file that is not there.")
        return bundles.read(self.bundle, self.branch, self.head)


def take(store: Store, without: Collection[str] = ()) -> FolderCopy:
    """Returns a folder as it is, without some of its subfolders; call it under the lock."""
    head = store.history.head()
    if head is None:
        raise BrokenRepository("the folder has no history yet.", location=Location(path=str(store.folder)))
    found = dict(sorted(_walk(store.folder, "", {".git", *without})))
    contents = {name: data for name, data in found.items() if data is not None}
    for name in found:
        check_name(name, store.path(name))
    return FolderCopy(
        branch=store.history.branch,
        head=head,
        bundle=bundles.written(store.history, head),
        files=contents,
        folders=tuple(name for name, data in found.items() if data is None),
        written=tuple(sorted(store.left_behind())),
        acknowledged=_acknowledged(store, contents),
    )


def put(copy: FolderCopy, store: Store, then: Callable[[Store], None] = lambda _: None) -> bool:
    """Makes the folder of a copy, at once or not at all; False if there is one already.

    The history goes on the branch of the store; `then` may change the folder before it appears.
    """
    bundle = copy.check()

    def fill(building: Store) -> None:
        _put_history(bundle, building.history)
        for name in copy.folders:
            files.make_folder(building.path(name))
        for parent in dict.fromkeys(building.path(name).parent for name in copy.files):
            files.make_folder(parent)
        files.write({building.path(name): data for name, data in copy.files.items()})
        building.note_written({name: copy.files[name] for name in copy.written})
        _note_acknowledged(building, copy.acknowledged)
        building.history.refresh_index({})
        building.note_head(bundle.head)
        then(building)

    return store.build(fill)


def _put_history(bundle: Bundle, history: History) -> None:
    packed = history.git_folder / "objects" / "pack" / bundle.pack.name
    files.write({packed.with_suffix(".pack"): bundle.pack.data, packed.with_suffix(".idx"): bundle.pack.index})
    files.write({history.git_folder / "refs" / "heads" / history.branch: f"{bundle.head}\n".encode()})


def check_name(name: str, place: Path | None = None) -> None:
    """Raises InvalidInput if a name could lead out of its folder, into git's own, or to two places."""
    fault = "" if 0 < len(name) <= _LONGEST_PATH else "is empty or too long"
    fault = fault or next((fault for part in name.split("/") if (fault := _fault(part))), "")
    if fault:
        where = Location(path=str(place)) if place else None
        hint = "rename that file, or move it out of the folder."
        raise InvalidInput(f"the name {name[:_LONGEST_NAME]!r} {fault}.", location=where, hint=hint)


def _fault(part: str) -> str:
    seen = "".join(char for char in unicodedata.normalize("NFKC", part).casefold() if char.isprintable())
    checks = {
        "has an empty part": not part,
        "leads out of its folder": part in {".", ".."},
        "has a part that is too long": len(part.encode(errors="replace")) > _LONGEST_NAME,
        "has characters that not every file system takes": bool(_FORBIDDEN.search(part)) or not part.isprintable(),
        "leads into git's own folder": seen.rstrip(" .") == ".git" or seen.startswith("git~"),
        "is one of Haytham's own for a moment": files.TEMPORARY in part,
        "ends with a dot or a space": part[-1:] in {".", " "},
    }
    return next((fault for fault, is_so in checks.items() if is_so), "")


def _check_apart(contents: Collection[str], empty: Collection[str]) -> None:
    """Raises InvalidInput if two names would be one on some file system, or one is in the way of another."""
    folded = [unicodedata.normalize("NFC", name).casefold() for name in (*contents, *empty)]
    parents = {parent for name in folded for parent in _parents(name)}
    if len(set(folded)) != len(folded) or parents & set(folded):
        raise InvalidInput("two names would be in each other's way.", hint="rename one of the files.")


def _parents(name: str) -> Iterator[str]:
    while "/" in name:
        name = name.rpartition("/")[0]
        yield name


def _walk(folder: Path, prefix: str, without: Collection[str]) -> Iterator[tuple[str, bytes | None]]:
    """Yields the files below a folder with their bytes, and the empty folders with None; a link is refused."""
    with files.translating(), os.scandir(folder) as entries:
        found = [each for each in entries if each.name not in without and files.TEMPORARY not in each.name]
    if prefix and not found:
        yield prefix.removesuffix("/"), None
    for each in found:
        path, name = Path(each.path), f"{prefix}{each.name}"
        if each.is_dir(follow_symlinks=False):
            yield from _walk(path, f"{name}/", ())
        elif (data := files.read_bytes(path)) is not None:
            yield name, data


def _acknowledged(store: Store, names: Collection[str]) -> dict[str, str]:
    lines = {name: files.read_line(note_of(store, name)) for name in names if is_journal(name)}
    return {name: line.decode("ascii", "replace").strip() for name, line in lines.items() if line.strip()}


def _note_acknowledged(store: Store, acknowledged: Mapping[str, str]) -> None:
    for name, line in acknowledged.items():
        note = note_of(store, name)
        files.make_folder(note.parent)
        files.write_line(note, line.encode("ascii", "replace"))


def is_journal(name: str) -> bool:
    """Tells whether a file, by its name, is a journal."""
    return Path(name).parent.name == layout.JOURNAL_FOLDER and name.endswith(".md")


def note_of(store: Store, name: str) -> Path:
    """Returns where it is noted what was acknowledged of a journal: beside git's own files, by its phase's folder."""
    phase, _, file = name.replace(f"/{layout.JOURNAL_FOLDER}/", "/").rpartition("/")
    return store.history.git_folder / layout.JOURNAL_NOTES / phase / file
