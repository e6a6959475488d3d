"""Files that are damaged, or made to do harm: each is refused, and nothing is written."""

import io
import json
import random
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from haytham import CheckpointManager, HaythamError
from haytham.domain.errors import InvalidInput
from haytham.exchange import archive as archives
from haytham.exchange.archive import Archive
from haytham.storage import bundles, git_objects
from haytham.storage.copies import FolderCopy
from haytham.storage.git_objects import BLOB, COMMIT, TREE, GitObject
from tests.evidence import PROJECT, SESSION, Clock, snapshot
from tests.exchange.conftest import AT, fill

PLACE = f"sessions/{SESSION}"
MANIFEST = "session_manifest.md"
JOURNAL = "phase_2_market_research/journal/market_intelligence.md"
ABSENT = object()
STAMP = "A <a@b.c> 1700000000 +0000"

NAMES = [
    "../evil",
    "..",
    ".",
    "a/../../evil",
    "/etc/cron.d/evil",
    "//evil",
    "a//b",
    "./a",
    "a/.",
    "a\\..\\evil",
    "C:evil",
    "C:\\evil",
    "evil\n",
    "evil\x00.md",
    "\x1b[2Jevil",
    ".git/hooks/pre-commit",
    ".git/config",
    ".GIT/config",
    ".git./config",
    ".git /config",
    "git~1/config",
    ".g\u200cit/config",
    ".\uff47it/config",
    "phase_1_concept/.git/config",
    "phase_1_concept/../.git/config",
    "a.",
    "a ",
    "con\u202egpj.exe",
    "x" * 300,
    "/".join("x" * 100 for _ in range(20)),
    "a.haytham-tmp",
    "a\u2028b",
    "",
    "SESSION_MANIFEST.md",
    "session_manifest.md/inside",
    "phase_1_concept",
]


@dataclass(frozen=True, kw_only=True)
class Case:
    """A bad file, and what it is."""

    name: str
    data: bytes


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A file that is as it should be."""
    folder = tmp_path_factory.mktemp("good")
    manager = CheckpointManager(folder / "projects", clock=Clock())
    fill(manager)
    return Path(manager.export_session(*AT, folder)["path"]).read_bytes()


def damaged(good: bytes) -> Iterator[Case]:
    """Yields files that something happened to on their way."""
    chance = random.Random(5)
    for place in chance.sample(range(len(good)), 90):
        flipped = bytearray(good)
        flipped[place] ^= 1 << chance.randrange(8)
        yield Case(name=f"bit flipped at {place}", data=bytes(flipped))
    for length in [0, 1, 22, *chance.sample(range(len(good)), 25), len(good) - 1]:
        yield Case(name=f"cut to {length}", data=good[:length])
    for extra in (b"\0", b"PK", b"#!/bin/sh\n"):
        yield Case(name=f"{extra!r} behind", data=good + extra)
        yield Case(name=f"{extra!r} before", data=extra + good)
    yield Case(name="twice", data=good + good)


def zips(good: bytes) -> Iterator[Case]:
    """Yields zips whose entries are what they should not be."""
    entries = _entries(good)
    bundle = f"{PLACE}/history.bundle"
    for name in NAMES:
        if name:
            yield Case(name=f"added {name[:40]!r}", data=_zip([*entries, (name, b"x")]))
    yield Case(name="no contents", data=_zip(entries[1:]))
    yield Case(name="nothing", data=_zip([]))
    yield Case(name="other order", data=_zip(entries[::-1]))
    for name, data in entries[:6]:
        yield Case(name=f"{name} twice", data=_zip([*entries, (name, data)]))
        yield Case(name=f"without {name}", data=_zip([each for each in entries if each[0] != name]))
    for mode in (0o120777, 0o040755, 0o020666, 0o010666, 0o104755, 0o100755):
        yield Case(name=f"mode {mode:o}", data=_zip(entries, mode=mode))
    yield Case(name="compressed", data=_zip(entries, method=zipfile.ZIP_DEFLATED))
    bomb = [*entries, ("bomb", bytes(50_000_000))]
    yield Case(name="bomb", data=_zip(bomb, method=zipfile.ZIP_DEFLATED))
    yield Case(name="huge size", data=_declaring(good, bundle, 0x7FFFFFF0))
    yield Case(name="huge size, 4 GiB", data=_declaring(good, bundle, 0xFFFFFFFF))
    yield Case(
        name="encrypted",
        data=good.replace(b"PK\x01\x02\x14\x03\x14\x00\x00\x00", b"PK\x01\x02\x14\x03\x14\x00\x01\x00"),
    )
    yield Case(name="no zip", data=b"\x7fELF" + bytes(1000))


def contents(good: bytes) -> Iterator[Case]:
    """Yields files whose list of contents lies, signed anew."""
    (_, text), *rest = _entries(good)
    value: dict[str, Any] = json.loads(text)

    repository = value["repositories"][PLACE]

    def with_(name: str, **changes: Any) -> Case:
        told = {key: each for key, each in {**value, **changes}.items() if each is not ABSENT and key != "digest"}
        signed = {**told, "digest": archives._digest(told)}
        return Case(name=name, data=_zip([("haytham.json", (json.dumps(signed, indent=2) + "\n").encode()), *rest]))

    def inside(name: str, **changes: Any) -> Case:
        told = {key: each for key, each in {**repository, **changes}.items() if each is not ABSENT}
        return with_(name, repositories={PLACE: told})

    for key in value:
        if key != "digest":
            yield with_(f"without {key}", **{key: ABSENT})
    for key in repository:
        yield inside(f"repository without {key}", **{key: ABSENT})
    for bad in ("../x", "..", "/", "", "a/b", "con", ".git", "x" * 200, SESSION.upper(), "other"):
        yield with_(f"project {bad[:20]!r}", project_id=bad)
        yield with_(f"session {bad[:20]!r}", session_id=bad)
        yield inside(f"branch {bad[:20]!r}", branch=bad)
        yield with_(f"place {bad[:20]!r}", repositories={bad: repository})
    for name in list(repository["files"])[:8]:
        yield inside(f"hash of {name}", files={**repository["files"], name: "sha256:" + "0" * 64})
    for version in (0, 2, 99, "1", None, 10**30, True):
        yield with_(f"version {version}", version=version)
    for kind in ("project", "page", "", None):
        yield with_(f"kind {kind}", kind=kind)
    yield with_("another key", more=1)
    yield inside("another head", head="0" * 40)
    yield inside("written nowhere", written=["nothing.md"])
    for raw in (b"", b"{", b"[]", b"null", b"\xff\xfe", b"[" * 100_000, b'{"form": "haytham.export", "version": NaN}'):
        yield Case(name=f"contents {raw[:10]!r}", data=_zip([("haytham.json", raw), *rest]))


def folders(good: bytes) -> Iterator[Case]:
    """Yields files that are well formed, by someone who knows how to make them, around a bad folder."""
    archive = archives.unpacked(good)
    copy = archive.copies[PLACE]

    def with_(name: str, **changes: Any) -> Case:
        return Case(name=name, data=_packed(archive, replace(copy, **changes)))

    for name in NAMES:
        yield with_(f"file {name[:40]!r}", files={**copy.files, name: b"x"})
        yield with_(f"folder {name[:40]!r}", folders=(*copy.folders, name))
    manifest, journal = copy.files[MANIFEST], copy.files[JOURNAL]
    for what, data in {
        "empty": b"",
        "no UTF-8": b"\xff",
        "other session": manifest.replace(SESSION.encode(), b"another"),
        "other project": manifest.replace(PROJECT.encode(), b"another"),
        "newer format": manifest.replace(b"session_manifest v1", b"session_manifest v2"),
        "merge markers": b"<<<<<<< HEAD\n" + manifest,
    }.items():
        yield with_(f"manifest: {what}", files={**copy.files, MANIFEST: data})
    yield with_("no manifest", files={name: data for name, data in copy.files.items() if name != MANIFEST})
    yield with_("bad workflow", files={**copy.files, "workflow.toml": b"[["})
    yield with_("bad output", files={**copy.files, "phase_1_concept/concept_expansion.md": b"no document"})
    yield with_("bad journal", files={**copy.files, JOURNAL: journal.replace(b"landmark", b"lendmark")})
    yield with_("short journal", files={**copy.files, JOURNAL: journal[: len(journal) // 3]})
    yield with_("note of nothing", acknowledged={"phase_1/journal/x.md": "0"})
    yield with_("no history", bundle=b"")
    yield Case(
        name="two sessions", data=archives.packed(replace(archive, copies={**archive.copies, "sessions/b": copy}))
    )
    yield Case(name="no session", data=archives.packed(replace(archive, copies={})))


def histories(good: bytes) -> Iterator[Case]:
    """Yields files that are well formed around a bad history."""
    archive = archives.unpacked(good)
    copy = archive.copies[PLACE]
    header, _, pack = copy.bundle.partition(b"\n\n")
    blob = git_objects.make(BLOB, b"echo pwned")
    empty = git_objects.tree({})
    for what, mode, name in (
        ("link", 0o120000, "link"),
        ("submodule", 0o160000, "module"),
        ("git folder", 0o100644, ".git"),
        ("dots", 0o100644, ".."),
        ("path", 0o100644, "a/b"),
        ("case", 0o100644, ".GIT"),
    ):
        tree = git_objects.tree({name: (mode, blob.id)})
        yield _history(archive, f"tree with {what}", [_commit(tree.id), tree, blob])
    hook = git_objects.tree({"post-checkout": (0o100755, blob.id)})
    hooks = git_objects.tree({"hooks": (0o040000, hook.id)})
    inside = git_objects.tree({".git": (0o040000, hooks.id)})
    yield _history(archive, "hooks", [_commit(inside.id), inside, hooks, hook, blob])
    yield _history(archive, "no tree", [_commit(empty.id)])
    yield _history(archive, "no parent", [_commit(empty.id, "1" * 40), empty])
    yield _history(archive, "stowaway", [_commit(empty.id), empty, blob])
    yield _history(archive, "not our session", [_commit(empty.id), empty])
    yield _history(archive, "blob as tree", [_commit(blob.id), blob])
    yield _history(archive, "garbage tree", [_commit(git_objects.make(TREE, b"x").id), git_objects.make(TREE, b"x")])
    garbage = git_objects.make(COMMIT, b"tree x\n\n")
    yield _history(archive, "garbage commit", [garbage])
    for what, bundle in {
        "prerequisite": header + b"\n-" + b"1" * 40 + b"\n\n" + pack,
        "v3": header.replace(b"# v2", b"# v3") + b"\n\n" + pack,
        "another ref": header + b"\n" + copy.head.encode() + b" refs/heads/main\n\n" + pack,
        "no pack": header + b"\n\n",
        "half a pack": header + b"\n\n" + pack[: len(pack) // 2],
        "pack of version 3": header + b"\n\n" + _summed(pack[:4] + struct.pack(">I", 3) + pack[8:-20]),
        "too many objects": header + b"\n\n" + _summed(pack[:8] + struct.pack(">I", 1 << 31) + pack[12:-20]),
        "too few objects": header + b"\n\n" + _summed(pack[:8] + struct.pack(">I", 1) + pack[12:-20]),
        "delta": header + b"\n\n" + _raw_pack(b"\x60\x00" + zlib.compress(b"")),
        "delta by id": header + b"\n\n" + _raw_pack(b"\x70" + bytes(20) + zlib.compress(b"")),
        "bomb that says so": header + b"\n\n" + _raw_pack(_entry(1 << 40) + zlib.compress(b"x")),
        "bomb that does not": header + b"\n\n" + _raw_pack(_entry(5) + zlib.compress(bytes(50_000_000))),
        "endless size": header + b"\n\n" + _raw_pack(b"\xb0" + b"\xff" * 5000 + b"\x01" + zlib.compress(b"x")),
        "not inflatable": header + b"\n\n" + _raw_pack(_entry(5) + b"garbage"),
        "shorter than said": header + b"\n\n" + _raw_pack(_entry(50) + zlib.compress(b"short")),
        "object twice": header + b"\n\n" + _raw_pack(*[_entry(1) + zlib.compress(b"x")] * 2),
    }.items():
        yield Case(name=f"bundle: {what}", data=_packed(archive, replace(copy, bundle=bundle)))


@pytest.mark.parametrize(
    ("kind", "least"), [(damaged, 120), (zips, 50), (contents, 60), (folders, 80), (histories, 28)]
)
def test_refused_and_nothing_written(
    good: bytes, tmp_path: Path, kind: Callable[[bytes], Iterator[Case]], least: int
) -> None:
    """Each bad file is an error of the user's data, and leaves not even a folder behind."""
    manager = CheckpointManager(tmp_path / "projects", clock=Clock())
    manager.create_session("mine", "precious", "ada")
    before, count = snapshot(tmp_path), 0
    file = tmp_path / "bad.zip"
    for case in kind(good):
        count += 1
        assert case.data != good, case.name
        file.write_bytes(case.data)
        refusal = _refusal(manager, file)
        assert isinstance(refusal, InvalidInput), f"{case.name}: {refusal!r}"
        file.unlink()
        assert before == snapshot(tmp_path), case.name
    assert count >= least
    file.write_bytes(good)
    manager.import_file(file)  # the same manager takes what is good


def _refusal(manager: CheckpointManager, file: Path) -> HaythamError | None:
    try:
        manager.import_file(file)
    except HaythamError as error:
        return error
    return None


def test_file_that_is_none(tmp_path: Path, manager: CheckpointManager) -> None:
    """No file, a folder, a device: refused by name."""
    for path in (tmp_path / "nothing", tmp_path, Path("/dev/zero")):
        with pytest.raises(HaythamError, match="there is no such file"):
            manager.import_file(path)


def test_too_large_a_file_is_not_read(tmp_path: Path, manager: CheckpointManager) -> None:
    """A file that is larger than any export is refused by its size alone."""
    with (tmp_path / "huge.zip").open("wb") as file:
        file.truncate(archives.LARGEST + 1)
    with pytest.raises(InvalidInput, match=r"larger than 1,073,741,824 bytes"):
        manager.import_file(tmp_path / "huge.zip")


def test_newer_format_says_what_helps(tmp_path: Path, good: bytes, manager: CheckpointManager) -> None:
    """A file of a later release is told apart from a damaged one."""
    (_, text), *rest = _entries(good)
    (tmp_path / "x.zip").write_bytes(_zip([("haytham.json", text.replace(b'"version": 1', b'"version": 2')), *rest]))
    with pytest.raises(InvalidInput) as caught:
        manager.import_file(tmp_path / "x.zip")
    assert caught.value.message == "the file is of format 2; this release knows 1."
    assert caught.value.hint == "read it with the release of Haytham that wrote it."


def _entries(data: bytes) -> list[tuple[str, bytes]]:
    with zipfile.ZipFile(io.BytesIO(data)) as file:
        return [(each.filename, file.read(each)) for each in file.infolist()]


def _zip(entries: list[tuple[str, bytes]], *, mode: int = 0o100644, method: int = zipfile.ZIP_STORED) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", method) as file:
        for name, data in entries:
            info = zipfile.ZipInfo("x")
            info.filename, info.create_system, info.external_attr, info.compress_type = name, 3, mode << 16, method
            info.CRC, info.file_size = zlib.crc32(data), len(data)
            if name not in file.NameToInfo:
                file.writestr(info, data)
            else:
                _append(file, info, data)
    return target.getvalue()


def _append(file: zipfile.ZipFile, info: zipfile.ZipInfo, data: bytes) -> None:
    del file.NameToInfo[info.filename]  # or it would warn
    file.writestr(info, data)


def _declaring(data: bytes, name: str, size: int) -> bytes:
    """Returns a zip whose directory says that an entry is as large as that."""
    at = data.rindex(name.encode()) - 46
    return data[: at + 20] + struct.pack("<II", size, size) + data[at + 28 :]


def _packed(archive: Archive, copy: FolderCopy) -> bytes:
    return archives.packed(replace(archive, copies={PLACE: copy}))


def _commit(tree: str, *parents: str) -> GitObject:
    return git_objects.commit(tree, parents, STAMP, STAMP, "evil\n")


def _history(archive: Archive, name: str, objects: list[GitObject]) -> Case:
    copy, head = archive.copies[PLACE], objects[0].id
    bundle = bundles._header(head, copy.branch).encode() + git_objects.pack(objects).data
    return Case(name=name, data=_packed(archive, replace(copy, head=head, bundle=bundle, written=())))


def _entry(size: int) -> bytes:
    """Returns what stands before a file of that size in a pack."""
    first, size = 0x30 | size & 0x0F, size >> 4
    data = bytearray()
    while size:
        data.append(first | 0x80)
        first, size = size & 0x7F, size >> 7
    return bytes([*data, first])


def _raw_pack(*entries: bytes) -> bytes:
    return _summed(struct.pack(">4sII", b"PACK", 2, len(entries)) + b"".join(entries))


def _summed(data: bytes) -> bytes:
    return data + git_objects.digest(data)
