"""The form of an exported file: a zip of plain files, with a list of their hashes and a git bundle for each history.

The same contents always give the same bytes, and a file that would not be written in exactly this way is refused:
a name twice, a link, a compressed entry, a byte behind the end. So nothing in it can mean two things.
Nothing here touches the disk.
"""

import hashlib
import io
import json
import struct
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from haytham.documents import schemas
from haytham.domain.errors import InvalidInput
from haytham.storage.copies import FolderCopy

LARGEST = 1 << 30  # bytes of one file
SUFFIX = ".haytham.zip"
SESSION, PROJECT = "session", "project"

_FORM, _VERSION = "haytham.export", 1
_CONTENTS = "haytham.json"
_BUNDLE = "history.bundle"
_FILES = "files/"
_MODE = 0o100644 << 16
_UNREADABLE = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    ValueError,
    LookupError,
    EOFError,
    OSError,
    OverflowError,
    RuntimeError,  # an encrypted entry; a kind of zip that is not known, and too deep a JSON, are such too
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Archive:
    """What an exported file holds: the folders of a session, or of a project and its sessions, by their place in it."""

    kind: str
    project_id: str
    session_id: str | None
    copies: Mapping[str, FolderCopy]


def packed(archive: Archive) -> bytes:
    """Returns the bytes of a file that holds an archive."""
    entries = {
        f"{place}/{name}": data for place, copy in archive.copies.items() for name, data in _entries(copy).items()
    }
    return zipped({_CONTENTS: _contents(archive), **entries})


def unpacked(data: bytes) -> Archive:
    """Returns what a file holds; raises InvalidInput unless each byte of it is as `packed` would write it."""
    try:
        archive = _archive(_unzipped(data))
        is_same = packed(archive) == data
    except InvalidInput:
        raise
    except _UNREADABLE as error:
        raise refused(f"it cannot be read: {error}") from error
    if not is_same:
        raise refused("it is not as an export writes it")
    return archive


def zipped(entries: Mapping[str, bytes]) -> bytes:
    """Returns files as a zip that depends on nothing but them."""
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_STORED) as file:
        for name, data in entries.items():
            entry = zipfile.ZipInfo(name)  # of 1980, so that the bytes do not depend on the day
            entry.create_system, entry.external_attr = 3, _MODE
            file.writestr(entry, data)
    return target.getvalue()


def refused(why: str) -> InvalidInput:
    """Returns the error that says why a file is not imported."""
    return InvalidInput(
        f"the file is no export that can be trusted: {why}.",
        hint="nothing was written; ask for the file again, or have it exported anew.",
    )


def _archive(entries: Mapping[str, bytes]) -> Archive:
    contents = _checked_contents(entries.get(_CONTENTS))
    copies = {place: _copy(place, found, entries) for place, found in contents["repositories"].items()}
    return Archive(
        kind=contents["kind"], project_id=contents["project_id"], session_id=contents["session_id"], copies=copies
    )


def _checked_contents(data: bytes | None) -> dict[str, Any]:
    """Reads the list of contents; says so if it is of a later release, before anything else is looked at."""
    if data is None:
        raise refused(f"it has no {_CONTENTS}")
    contents = json.loads(data)
    if not isinstance(contents, dict) or contents.get("form") != _FORM:
        raise refused(f"{_CONTENTS} is not the contents of an export")
    if contents.get("version") != _VERSION:
        raise InvalidInput(
            f"the file is of format {str(contents.get('version'))[:20]}; this release knows {_VERSION}.",
            hint="read it with the release of Haytham that wrote it.",
        )
    if faults := schemas.faults("export", contents):
        raise refused(f"{_CONTENTS}: {faults[0].message.removesuffix('.')}")
    if contents["digest"] != _digest(contents):
        raise refused(f"{_CONTENTS} was changed")
    return contents


def _copy(place: str, contents: Mapping[str, Any], entries: Mapping[str, bytes]) -> FolderCopy:
    found: dict[str, bytes] = {}
    for name, digest in contents["files"].items():
        data = entries.get(f"{place}/{name}")
        if data is None or _sha256(data) != digest:
            raise refused(f"{place}/{name} is {'missing' if data is None else 'not what was exported'}")
        found[name] = data
    return FolderCopy(
        branch=contents["branch"],
        head=contents["head"],
        bundle=found.pop(_BUNDLE),
        files={name.removeprefix(_FILES): data for name, data in found.items()},
        folders=tuple(contents["folders"]),
        written=tuple(contents["written"]),
        acknowledged=contents["acknowledged"],
    )


def _contents(archive: Archive) -> bytes:
    value: dict[str, Any] = {
        "form": _FORM,
        "version": _VERSION,
        "kind": archive.kind,
        "project_id": archive.project_id,
        "session_id": archive.session_id,
        "repositories": {place: _listed(copy) for place, copy in archive.copies.items()},
    }
    return (json.dumps({**value, "digest": _digest(value)}, indent=2) + "\n").encode()


def _listed(copy: FolderCopy) -> dict[str, Any]:
    return {
        "branch": copy.branch,
        "head": copy.head,
        "files": {name: _sha256(data) for name, data in _entries(copy).items()},
        "folders": list(copy.folders),
        "written": list(copy.written),
        "acknowledged": dict(copy.acknowledged),
    }


def _entries(copy: FolderCopy) -> dict[str, bytes]:
    return {_BUNDLE: copy.bundle} | {f"{_FILES}{name}": data for name, data in copy.files.items()}


def _unzipped(data: bytes) -> dict[str, bytes]:
    """Returns the entries of a zip; none is inflated, so that together they cannot be larger than the file."""
    with zipfile.ZipFile(io.BytesIO(data)) as file:
        entries = file.infolist()
        if any(entry.compress_type != zipfile.ZIP_STORED for entry in entries):
            raise refused("something in it is compressed")
        if sum(entry.file_size for entry in entries) > len(data):
            raise refused("what is in it would be larger than the file")
        return {entry.filename: file.read(entry) for entry in entries}


def _digest(contents: Mapping[str, Any]) -> str:
    told = {key: value for key, value in contents.items() if key != "digest"}
    return _sha256(json.dumps(told).encode())


def _sha256(data: bytes) -> str:
    return f"sha256:{hashlib.sha256(data).hexdigest()}"
