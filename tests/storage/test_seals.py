"""A seal is believed only while nothing changed: each kind of change, made for real."""

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from haytham.storage import seals

BOOT = b"this one"
TOLD = {"stale": [[2, "it read phase 1"]]}
CALM = 0.03  # seconds; longer than the clock of a file system takes for a step


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with files, a subfolder and a `.git`, left alone for a moment."""
    for name in ("manifest.md", "phase/output.md", ".git/HEAD", ".git/ref"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(b"first")
    time.sleep(CALM)
    return tmp_path


def _seal(folder: Path) -> Path:
    seal = folder / ".git" / "seal"
    seals.put(seal, seals.look(folder, ["HEAD", "ref", "packed-refs"]), TOLD, BOOT)
    return seal


def _told(folder: Path, boot: bytes = BOOT) -> object:
    return seals.told(folder / ".git" / "seal", folder, boot)


def _edit_unseen(path: Path) -> None:
    """Writes other bytes of the same length in place, and sets the time of change back."""
    before = path.stat()
    path.write_bytes(b"other")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def _replace(path: Path) -> None:
    path.with_name("new").write_bytes(path.read_bytes())
    path.with_name("new").replace(path)


def _become_link(path: Path) -> None:
    path.rename(path.with_name(".git") / "moved")
    path.symlink_to(path.with_name(".git") / "moved")


CHANGES: dict[str, Callable[[Path], object]] = {
    "edited": lambda folder: (folder / "manifest.md").write_bytes(b"second, longer"),
    "edited unseen": lambda folder: _edit_unseen(folder / "phase/output.md"),
    "replaced by the same": lambda folder: _replace(folder / "manifest.md"),
    "removed": lambda folder: (folder / "phase/output.md").unlink(),
    "added": lambda folder: (folder / "phase/another.md").write_bytes(b""),
    "added at the top": lambda folder: (folder / "another.md").write_bytes(b""),
    "a folder added": lambda folder: (folder / "phase/reviews").mkdir(),
    "a folder removed": lambda folder: (folder / "phase").rename(folder / ".git" / "phase"),
    "protected": lambda folder: (folder / "manifest.md").chmod(0o600),
    "become a link": lambda folder: _become_link(folder / "manifest.md"),
    "branch moved": lambda folder: _replace(folder / ".git/ref"),
    "refs packed": lambda folder: (folder / ".git/packed-refs").write_bytes(b""),
    "HEAD gone": lambda folder: (folder / ".git/HEAD").unlink(),
}


def test_what_was_told_is_told_again(folder: Path) -> None:
    """Nothing changed: what was kept comes back, as often as asked; what lies in `.git` unnamed does not count."""
    assert _told(folder) is None
    _seal(folder)
    assert TOLD == _told(folder)
    (folder / ".git" / "anything").write_bytes(b"")
    assert TOLD == _told(folder)


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES.keys())
def test_any_change_breaks_the_seal(folder: Path, change: Callable[[Path], object]) -> None:
    """After any change to what was looked at nothing is told, until somebody has looked again."""
    _seal(folder)
    assert TOLD == _told(folder)
    change(folder)
    assert _told(folder) is None
    time.sleep(CALM)
    _seal(folder)
    assert TOLD == _told(folder)


def test_a_change_between_the_look_and_the_seal_breaks_it(folder: Path) -> None:
    """What was read after the look may be older than the file is now; then the seal is worth nothing."""
    found = seals.look(folder, ["HEAD"])
    (folder / "manifest.md").write_bytes(b"other")
    seals.put(folder / ".git" / "seal", found, TOLD, BOOT)
    assert _told(folder) is None


def test_what_was_just_changed_is_not_sealed(folder: Path) -> None:
    """A further change in the same moment could bear the same time; so there is no seal before that moment is over."""
    (folder / "manifest.md").write_bytes(b"just now")
    assert not _seal(folder).exists()
    time.sleep(CALM)
    assert _seal(folder).exists()


def test_another_start_of_the_machine_believes_nothing(folder: Path) -> None:
    """After a power cut times may be right and bytes gone; and where starts cannot be told apart nothing is kept."""
    _seal(folder)
    assert TOLD == _told(folder)
    assert _told(folder, b"another") is None
    (folder / ".git" / "seal").unlink()
    seals.put(folder / ".git" / "seal", seals.look(folder, []), TOLD, b"")
    assert not (folder / ".git" / "seal").exists()


def test_a_torn_seal_is_not_believed(folder: Path) -> None:
    """Cut off anywhere, or with one byte changed, a seal tells nothing and raises nothing."""
    whole = _seal(folder).read_bytes()
    for length in range(len(whole) - 1):
        (folder / ".git" / "seal").write_bytes(whole[:length])
        assert _told(folder) is None
    for place in range(len(whole) - 1):
        (folder / ".git" / "seal").write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        assert _told(folder) is None


def test_a_shorter_seal_over_a_longer_one_is_read(folder: Path) -> None:
    """The file is written in place; what a longer line left behind it does not count."""
    seal = folder / ".git" / "seal"
    seals.put(seal, seals.look(folder, []), {"long": "x" * 5000}, BOOT)
    _seal(folder)
    assert TOLD == _told(folder)


def test_a_seal_that_cannot_be_written_or_read_is_done_without(folder: Path) -> None:
    """No seal is no error: it is a cache."""
    (folder / ".git" / "seal").mkdir()
    time.sleep(CALM)
    _seal(folder)
    assert _told(folder) is None


def test_a_folder_that_is_gone_is_not_sealed(folder: Path) -> None:
    """What cannot be looked at is not sealed."""
    assert not seals.look(folder / "nowhere", []).is_calm
    assert seals.look(folder, []).is_calm


def test_this_start_of_the_machine_is_known() -> None:
    """The system names its start, always by the same name."""
    assert seals.this_boot() == seals.this_boot() != b""
