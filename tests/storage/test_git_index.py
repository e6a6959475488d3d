"""Git's index, read and written as bytes: git itself is asked what it finds in it."""

from pathlib import Path

import pytest

from haytham.storage import git_index
from haytham.storage.history import blob_id
from tests.evidence import git

OURS = b"ours\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A repository with a commit of three files, one of them in a folder, one with a name beyond ASCII."""
    git(tmp_path, "init", "-q")
    for name in ("a.md", "phase/über.md", "z.md"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(name.encode())
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "first")
    return tmp_path


def _refresh(folder: Path, changes: dict[str, bytes | None]) -> None:
    git_index.refresh(folder / ".git", changes, lambda: None)
    assert [] == [path for path in (folder / ".git").iterdir() if "haytham" in path.name or path.suffix == ".lock"]


def _staged(folder: Path) -> dict[str, str]:
    """Returns what git finds in the index: mode, id and stage by name."""
    lines = git(folder, "ls-files", "--stage", "-z").split("\0")
    return {line.partition("\t")[2]: line.partition("\t")[0] for line in lines if line}


def _plain(data: bytes) -> str:
    return f"100644 {blob_id(data)} 0"


def test_files_are_added_changed_and_removed(folder: Path) -> None:
    """The named files are as they are said to be; all others keep what git noted of them."""
    before = _staged(folder)
    details = git(folder, "ls-files", "--debug", "--", "phase")
    _refresh(folder, {"a.md": OURS, "z.md": None, "new/file.md": OURS, "gone.md": None})
    expected = {"a.md": _plain(OURS), "new/file.md": _plain(OURS), "phase/über.md": before["phase/über.md"]}
    assert expected == _staged(folder)
    assert details == git(folder, "ls-files", "--debug", "--", "phase")


def test_git_looks_at_the_bytes_of_what_we_enter(folder: Path) -> None:
    """An entry of ours says nothing of the file's times, so a person's later edit is never overlooked."""
    (folder / "a.md").write_bytes(OURS)
    _refresh(folder, {"a.md": OURS})
    assert git(folder, "diff-files", "--name-only", "--ignore-submodules") in {"", "a.md"}
    git(folder, "update-index", "-q", "--refresh")
    assert git(folder, "diff-files", "--name-only") == ""
    _refresh(folder, {"a.md": OURS})
    (folder / "a.md").write_bytes(b"edit\n")
    assert git(folder, "status", "--porcelain").split() == ["MM", "a.md"]


@pytest.mark.parametrize("version", [2, 3, 4])
def test_every_version_is_understood(folder: Path, version: int) -> None:
    """What git wrote in any of its versions is kept, names that share their beginning included."""
    for number in range(200):
        (folder / f"phase/{'long' * (number % 40)}{number}.md").write_bytes(str(number).encode())
    git(folder, "add", ".")
    git(folder, "update-index", "--index-version", str(version))
    if version > 2:  # version 2 cannot say this
        git(folder, "update-index", "--skip-worktree", "z.md")
    flags = git(folder, "ls-files", "-t")
    before = _staged(folder)
    _refresh(folder, {"a.md": OURS})
    assert before | {"a.md": _plain(OURS)} == _staged(folder)
    assert flags == git(folder, "ls-files", "-t")
    assert {name: line.split()[1] for name, line in _staged(folder).items()} == git_index.ids(folder / ".git")


def test_a_conflict_of_ours_is_over_and_one_of_others_stays(folder: Path) -> None:
    """A file that is committed has no sides any more; those of other files are left alone."""
    ids = [blob_id(b"a.md")] * 3
    sides = "".join(f"100644 {oid} {stage}\t{name}\n" for name in ("a.md", "z.md") for stage, oid in enumerate(ids, 1))
    git(folder, "rm", "-q", "--cached", "a.md", "z.md")
    git(folder, "update-index", "--index-info", data=sides.encode())
    assert git(folder, "ls-files", "--unmerged").count("\t") == 6
    _refresh(folder, {"a.md": OURS})
    assert [line.split()[3] for line in git(folder, "ls-files", "--unmerged").splitlines()] == ["z.md"] * 3
    assert _plain(OURS) == _staged(folder)["a.md"]


def test_a_file_makes_room_for_a_folder_of_its_name(folder: Path) -> None:
    """An index cannot hold a file and a folder of one name."""
    _refresh(folder, {"a.md/inside.md": OURS})
    assert "a.md" not in _staged(folder)
    assert _plain(OURS) == _staged(folder)["a.md/inside.md"]


def test_a_name_longer_than_its_length_field(folder: Path) -> None:
    """Names beyond 4,095 bytes are written and read back."""
    name = "/".join(["x" * 250] * 20)
    _refresh(folder, {name: OURS})
    _refresh(folder, {"a.md": OURS})
    assert _plain(OURS) == _staged(folder)[name]
    assert blob_id(OURS) == git_index.ids(folder / ".git")[name]


def test_an_index_in_parts_is_left_alone(folder: Path) -> None:
    """What must be understood and is not leaves the index to git; nothing is raised."""
    git(folder, "update-index", "--split-index")
    git(folder, "update-index", "--index-version", "2")
    before = (folder / ".git/index").read_bytes()
    _refresh(folder, {"a.md": OURS})
    assert before == (folder / ".git/index").read_bytes()
    assert git_index.ids(folder / ".git") == {}


@pytest.mark.parametrize("version", [0, 1, 5])
def test_an_unknown_version_is_left_alone(folder: Path, version: int) -> None:
    """A version of the future leaves the index to git; the sum may have been left out."""
    content = bytearray((folder / ".git/index").read_bytes())
    content[4:8], content[-20:] = version.to_bytes(4), bytes(20)
    (folder / ".git/index").write_bytes(content)
    _refresh(folder, {"a.md": OURS})
    assert content == (folder / ".git/index").read_bytes()
    assert git_index.ids(folder / ".git") == {}


def test_a_count_that_lies_is_no_reason_to_fail(folder: Path) -> None:
    """An index without a sum can be cut anywhere; it is left alone, or it is built anew where it is not one at all."""
    whole = (folder / ".git/index").read_bytes()[:-20]
    for length in range(0, len(whole), 7):
        (folder / ".git/index").write_bytes(whole[:length] + bytes(20))
        git_index.ids(folder / ".git")
        _refresh(folder, {"a.md": OURS})
