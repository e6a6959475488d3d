"""The command `haytham doctor`."""

import os
from pathlib import Path

import pytest

from haytham.project import doctor
from tests.cli.conftest import Sample, Shell, process

NAMES = ["haytham", "git", "pygit2", "user.name", "folder", "file system", "room", "writing", "locks", "names"]


def test_end_to_end(tmp_path: Path) -> None:
    """As a process of its own it lists every check, is content with this machine, and leaves nothing behind."""
    said = process("doctor", cwd=tmp_path)
    assert (said.code, said.err) == (0, "")
    rows = said.out.splitlines()
    assert rows[0].split() == ["Check", "Status", "Found"]
    assert [name for name in NAMES if any(row.startswith(name) for row in rows)] == NAMES
    assert "projects is not there yet; haytham init makes it" in said.out
    assert list(tmp_path.iterdir()) == []


def test_json(sample: Sample, shell: Shell) -> None:
    """The JSON form has the checks as the library returns them."""
    before = sorted(sample.base.iterdir())
    said = shell("doctor", "--base-dir", sample.base, "--json").json
    assert said["healthy"] is True
    assert [check["name"] for check in said["checks"]] == NAMES
    assert before == sorted(sample.base.iterdir())


def test_no_name_and_no_git(tmp_path: Path) -> None:
    """Without a name in git's settings there is a warning; without git, a problem with a way out, and exit code 1."""
    nowhere = {"HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path)}
    said = process("doctor", "--json", cwd=tmp_path, **nowhere)
    found = {check["name"]: check for check in said.json["checks"]}
    assert (said.code, found["user.name"]["status"], found["user.name"]["found"]) == (0, "warning", "not set")
    said = process("doctor", "--json", cwd=tmp_path, PATH=str(tmp_path), GIT_PYTHON_REFRESH="raise")
    found = {check["name"]: check for check in said.json["checks"]}
    assert (said.code, said.json["healthy"], found["git"]["status"]) == (1, False, "problem")
    assert "install git" in found["git"]["hint"]


def test_folder_that_cannot_be(tmp_path: Path) -> None:
    """A file in the folder's place, and a folder that everybody may write in, are told."""
    (tmp_path / "file").write_text("")
    found = {check["name"]: check for check in doctor.examine(tmp_path / "file")}
    assert (found["folder"]["status"], found["folder"]["found"]) == ("problem", f"{tmp_path / 'file'} is a file")
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o777)
    found = {check["name"]: check for check in doctor.examine(shared)}
    assert (found["folder"]["status"], found["folder"]["hint"]) == ("warning", f"chmod o-w {shared}")


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="needs a folder in which nothing can be written")
def test_folder_that_cannot_be_written(shell: Shell) -> None:
    """Where nothing can be written the checks end with that problem, and the hint names the folder."""
    said = shell("doctor", "--base-dir", f"/proc/{os.getpid()}/nope")
    assert said.code == 1
    assert "writing      problem" in said.out
    assert f"make /proc/{os.getpid()} a folder that you may write in." in said.out
    assert "\nlocks" not in said.out
