"""The command `haytham migrate`."""

import subprocess
from pathlib import Path

import pytest

from tests.cli.conftest import Sample, Shell, process


def test_end_to_end(sample: Sample, tmp_path: Path) -> None:
    """As a process of its own it says that there is nothing to do, and writes no backup."""
    said = process("migrate", "--dry-run", cwd=tmp_path)
    assert (said.code, said.out, said.err) == (0, "Every document is of format 1.\n", "")
    assert list(tmp_path.glob("*.zip")) == []


def test_json(sample: Sample, shell: Shell) -> None:
    """The JSON form names the present format and what is older."""
    said = shell("migrate", "--base-dir", sample.base, "--json")
    assert (said.code, said.err) == (0, "")
    assert (said.json["format"], said.json["documents"], said.json["backup"]) == (1, [], None)


def test_errors(sample: Sample, shell: Shell) -> None:
    """A later format is refused, with the document and what helps."""
    manifest = sample.folder / "session_manifest.md"
    manifest.write_bytes(manifest.read_bytes().replace(b"v1 -->", b"v2 -->", 1))
    said = shell("migrate", "--base-dir", sample.base, "--project", sample.project)
    assert (said.code, said.out) == (1, "")
    assert said.err.splitlines() == [
        "Error: format 2 of session_manifest is not known; this release knows 1.",
        f"  {manifest}",
        "Hint: read it with the release of Haytham that wrote it.",
    ]


@pytest.mark.parametrize("is_committed", [True, False])
def test_a_session_of_a_later_release_is_only_read(sample: Sample, shell: Shell, *, is_committed: bool) -> None:
    """No command writes to a session whose manifest this release does not understand, and none loses a word of it."""
    manifest = sample.folder / "session_manifest.md"
    later = manifest.read_bytes().replace(b"v1 -->", b"v9 -->", 1) + b"\n## Budget Plan\n- Ceiling: 12\n"
    manifest.write_bytes(later)
    if is_committed:
        subprocess.run(["git", "commit", "-qam", "later"], cwd=sample.folder, check=True)
    before = tree(sample.base)
    for command in (
        ["status", "--session", sample.session],
        ["next"],
        ["start", "1"],
        ["approve", "1"],
        ["request-changes", "1", "-c", "more"],
        ["rollback", "1"],
        ["fork", "other"],
        ["finish", str(manifest)],
        ["archive", "--session", sample.session],
        ["repair"],
    ):
        said = shell(command[0], "--base-dir", sample.base, *command[1:])
        assert "format 9 of session_manifest is not known; this release knows 1" in said.out + said.err, command
    rule = shell("delete", "--base-dir", sample.base, "--older-than", "0", "--status", "in_progress", "--yes")
    after = tree(sample.base)
    assert {name for name in {*before, *after} if before.get(name) != after.get(name)} == set()
    assert rule.code == 0


def tree(folder: Path) -> dict[str, bytes]:
    """Returns every file below a folder but our notes beside git's own files, which may be tidied up."""
    found = (path for path in folder.rglob("*") if path.is_file() and "/.git/haytham" not in str(path))
    return {str(path): path.read_bytes() for path in found}
