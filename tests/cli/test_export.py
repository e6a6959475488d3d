"""The commands `haytham export` and `haytham import`."""

import hashlib
from pathlib import Path

from haytham.checkpoint.checkpoint_manager import CheckpointManager
from tests.cli.conftest import Sample, Shell, process
from tests.evidence import snapshot, subjects


def test_end_to_end(sample: Sample, tmp_path: Path) -> None:
    """As processes of their own: a session leaves one folder and arrives in another, and both tell where."""
    said = process("export", cwd=tmp_path)
    name = f"{sample.session}.haytham.zip"
    data = (tmp_path / name).read_bytes()
    assert (said.code, said.err) == (0, "")
    assert said.out.splitlines() == [
        f"Session {sample.session}: 7 files",
        name,
        f"Size     {len(data):,} bytes",
        f"SHA-256  {hashlib.sha256(data).hexdigest()}",
    ]
    arrived = process("import", name, "--base-dir", "elsewhere", cwd=tmp_path)
    folder = f"elsewhere/{sample.project}/sessions/{sample.session}"
    assert (arrived.code, arrived.err) == (0, "")
    assert arrived.out.splitlines() == [f"Session {sample.session} imported", folder]
    assert subjects(sample.folder) == subjects(tmp_path / folder)


def test_json(sample: Sample, shell: Shell, tmp_path: Path) -> None:
    """Both forms name what there is now, and the import also what it was called."""
    said = shell("export", "--base-dir", sample.base, tmp_path / "x.zip", "--json")
    assert (said.code, said.err) == (0, "")
    assert (said.json["kind"], said.json["session_id"], said.json["uncommitted"]) == ("session", sample.session, [])
    assert said.json["size"] == (tmp_path / "x.zip").stat().st_size
    arrived = shell("import", tmp_path / "x.zip", "--base-dir", sample.base, "--as", "second", "--json")
    assert (arrived.code, arrived.err) == (0, "")
    assert (arrived.json["session_id"], arrived.json["original_session_id"]) == ("second", sample.session)
    assert CheckpointManager(sample.base).session_ids(sample.project) == ["second", sample.session]


def test_text_tells_edits_and_names(sample: Sample, shell: Shell, tmp_path: Path) -> None:
    """An edit that nobody committed is named when it leaves; another id is told when it arrives."""
    (sample.folder / "mine.txt").write_text("mine", encoding="utf-8")
    said = shell("export", "--base-dir", sample.base, tmp_path / "x.zip")
    assert "Edited   mine.txt (not committed, included as it is)" in said.out
    arrived = shell("import", tmp_path / "x.zip", "--base-dir", sample.base, "--project", "p-2", "--as", "second")
    assert arrived.out.splitlines()[0] == f"Session second imported (exported as {sample.session})"


def test_whole_project(sample: Sample, shell: Shell, tmp_path: Path) -> None:
    """A project leaves and arrives with its sessions."""
    said = shell("export", "--base-dir", sample.base, "--whole-project", tmp_path)
    assert said.out.splitlines()[0] == f"Project {sample.project}: 10 files, 1 session"
    arrived = shell("import", tmp_path / f"{sample.project}.haytham.zip", "--base-dir", tmp_path / "b", "--json")
    assert (arrived.json["kind"], arrived.json["sessions"]) == ("project", [sample.session])
    wrong = shell("export", "--base-dir", sample.base, "--whole-project", "--session", sample.session)
    assert (wrong.code, wrong.err.splitlines()[0]) == (2, "Error: --whole-project and --session exclude each other.")


def test_errors(sample: Sample, shell: Shell, tmp_path: Path) -> None:
    """What exists is not overwritten, and what does not verify is refused, each with a way out."""
    file = tmp_path / "x.zip"
    shell("export", "--base-dir", sample.base, file)
    again = shell("export", "--base-dir", sample.base, file)
    assert (again.code, again.out) == (1, "")
    assert again.err.splitlines() == [
        "Error: there is such a file already.",
        f"  {file}",
        "Hint: nothing was overwritten; choose another name.",
    ]
    there = shell("import", file, "--base-dir", sample.base)
    assert (there.code, there.out) == (1, "")
    assert there.err.splitlines()[-1] == "Hint: nothing was overwritten; choose another id with --as."
    file.write_bytes(file.read_bytes()[:-1])
    broken = shell("import", file, "--base-dir", tmp_path / "b")
    assert (broken.code, broken.out) == (1, "")
    assert broken.err.startswith("Error: the file is no export that can be trusted: ")
    assert not (tmp_path / "b").exists()


def test_folders_that_were_made_for_nothing(shell: Shell, tmp_path: Path) -> None:
    """A refused import takes away again what it made for it, and only that."""
    (tmp_path / "x.zip").write_bytes(b"no zip")
    (tmp_path / "mine").mkdir()
    for place in ("mine", "mine/a/b"):
        assert shell("import", tmp_path / "x.zip", "--base-dir", tmp_path / place).code == 1
    assert snapshot(tmp_path) == {"mine": "", "x.zip": b"no zip"}


def test_page(sample: Sample, shell: Shell, tmp_path: Path) -> None:
    """With --html, one page is written; it is told in text and in JSON, and a project has none."""
    said = shell("export", "--base-dir", sample.base, "--html", tmp_path)
    file = tmp_path / f"{sample.session}.html"
    assert said.out.splitlines()[:2] == [f"Page {sample.session}: 1 output", str(file)]
    assert file.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    again = shell("export", "--base-dir", sample.base, "--html", tmp_path / "x.html", "--json")
    assert (again.json["kind"], again.json["files"]) == ("page", 1)
    wrong = shell("export", "--base-dir", sample.base, "--html", "--whole-project")
    assert (wrong.code, wrong.err.splitlines()[0]) == (2, "Error: --whole-project and --html exclude each other.")
