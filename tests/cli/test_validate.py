"""The command `haytham validate`."""

import re
from pathlib import Path

import pytest

from tests import terminal
from tests.cli.conftest import PROGRAM, Sample, Shell, new_session, process
from tests.evidence import git


def break_feedback(sample: Sample) -> Path:
    """Puts two faults into the form of phase 1."""
    path = sample.folder / "phase_1_concept" / "user_feedback.md"
    text = path.read_text()
    assert "- Reviewed: true\n- Approved: true\n" in text
    path.write_text(text.replace("- Reviewed: true\n- Approved: true\n", "- Reviewed: maybe\n- Approved: perhaps\n"))
    return path


def test_end_to_end(sample: Sample) -> None:
    """As a process of its own it checks everything below `projects`, and finds nothing wrong with what we wrote."""
    said = process("validate", cwd=sample.base.parent)
    assert said.code == 0, said
    assert (said.out, said.err) == ("7 documents in 2 folders: no problems.\n", "")


def test_in_a_hook_of_git(sample: Sample, tmp_path: Path) -> None:
    """The variables that git sets for its hooks are about another repository, and make no problems."""
    git(tmp_path, "init", "-q", "--bare", "other")
    objects = str(tmp_path / "other" / "objects")
    surroundings = {"GIT_DIR": ".", "GIT_OBJECT_DIRECTORY": objects, "GIT_QUARANTINE_PATH": objects}
    said = process("validate", cwd=sample.base.parent, **surroundings)
    assert (said.code, said.out, said.err) == (0, "7 documents in 2 folders: no problems.\n", "")


def test_every_problem_is_told(sample: Sample, shell: Shell) -> None:
    """Two faults of one file are two problems, each with file and line; the exit code is 1."""
    path = break_feedback(sample)
    said = shell("validate", "--base-dir", sample.base)
    assert (said.code, said.err) == (1, "")
    lines = said.out.splitlines()
    first = path.read_text().splitlines().index("- Reviewed: maybe") + 1
    assert len([line for line in lines if line.startswith("Error: ")]) == 2
    assert any(line.startswith(f"  {path}, line {first}") for line in lines)
    assert any(line.startswith(f"  {path}, line {first + 1}") for line in lines)
    assert lines[-1] == "7 documents in 2 folders: 2 problems."


def test_json(sample: Sample, shell: Shell) -> None:
    """The JSON form names every folder, document and problem."""
    assert shell("validate", "--base-dir", sample.base, "--json").json["valid"] is True
    path = break_feedback(sample)
    said = shell("validate", "--base-dir", sample.base, "--session", sample.session, "--json")
    assert said.code == 1
    assert (said.json["form"], said.json["version"], said.json["valid"]) == ("haytham.validate", 1, False)
    [folder] = said.json["folders"]
    assert folder["folder"] == str(sample.folder)
    assert str(path) in folder["documents"]
    problem = folder["problems"][0]
    assert list(problem) == ["message", "path", "line", "section", "field", "hint"]
    assert problem["path"] == str(path)


def test_nothing_is_changed(sample: Sample, shell: Shell) -> None:
    """A check changes no file, not even one that recovery would heal."""
    (sample.folder / "session_manifest.md").write_text("")
    before = {path: path.read_bytes() for path in sample.base.rglob("*") if path.is_file()}
    assert shell("validate", "--base-dir", sample.base).code == 1
    assert before == {path: path.read_bytes() for path in sample.base.rglob("*") if path.is_file()}


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("workflow.toml", "name = ", "the workflow is no valid TOML"),
        ("session_manifest.md", None, "the session has no manifest"),
        ("phase_1_concept/concept_expansion.md", None, "the output concept_expansion.md of agent"),
        ("phase_1_concept/checkpoint.md", "\udcff", "the file is not UTF-8"),
    ],
)
def test_damaged_documents(name: str, text: str | None, expected: str, sample: Sample, shell: Shell) -> None:
    """A document that is missing or damaged is a problem, not an end of the check."""
    path = sample.folder / name
    if text is None:
        path.unlink()
    else:
        path.write_bytes(text.encode(errors="surrogateescape"))
    said = shell("validate", "--base-dir", sample.base)
    assert said.code == 1
    assert expected in said.out


def test_checkpoint_in_the_wrong_folder(sample: Sample, shell: Shell) -> None:
    """A checkpoint that was copied into another phase's folder is noticed."""
    source = sample.folder / "phase_1_concept" / "checkpoint.md"
    (sample.folder / "phase_3_niche_selection" / "checkpoint.md").write_text(source.read_text())
    assert "this is the checkpoint of phase 1, not 3." in shell("validate", "--base-dir", sample.base).out


def test_damaged_history(sample: Sample, shell: Shell) -> None:
    """A flipped byte in git's own objects is found by git, and told."""
    pack = max((sample.folder / ".git" / "objects" / "pack").glob("*.pack"), key=lambda path: path.stat().st_mtime)
    pack.chmod(0o644)
    data = bytearray(pack.read_bytes())
    data[len(data) // 2] ^= 0xFF
    pack.write_bytes(data)
    said = shell("validate", "--base-dir", sample.base)
    assert said.code == 1
    assert str(sample.folder / ".git") in said.out


def test_history_on_another_branch(sample: Sample, shell: Shell) -> None:
    """A session that somebody switched to another branch is reported."""
    (sample.folder / ".git" / "HEAD").write_text("ref: refs/heads/other\n")
    said = shell("validate", "--base-dir", sample.base)
    assert said.code == 1
    assert "its branch is" in said.out


def test_broken_project(sample: Sample, shell: Shell) -> None:
    """The project document is checked, too; the sessions still are."""
    new_session(sample.base, "Other")
    (sample.base / sample.project / "project.md").write_text("# Project\n")
    said = shell("validate", "--base-dir", sample.base)
    assert said.code == 1
    assert "project.md" in said.out
    assert said.out.splitlines()[-1].startswith("14 documents in 4 folders: ")


def test_hostile_content_is_neutralised(sample: Sample, shell: Shell) -> None:
    """A faulty value with an escape sequence in it is shown as text."""
    path = sample.folder / "phase_1_concept" / "user_feedback.md"
    path.write_text(path.read_text().replace("Approved: true", "Approved: \x1b[31m\u202etrue"))
    said = shell("validate", "--base-dir", sample.base)
    assert said.code == 1
    assert said.out.replace("\n", "").isprintable()


def test_missing_session(sample: Sample, shell: Shell) -> None:
    """A session that is not there cannot be valid."""
    said = shell("validate", "--base-dir", sample.base, "--project", sample.project, "--session", "nope")
    assert (said.code, said.out) == (1, "")
    assert said.err.startswith(f"Error: project '{sample.project}' has no session 'nope'.\n")


def test_without_git(sample: Sample) -> None:
    """Where the program git is missing, that is said, with what to do."""
    said = process("validate", "--base-dir", sample.base, PATH="")
    assert (said.code, said.out) == (1, "")
    assert said.err == "Error: the program git was not found.\nHint: install git, or add its folder to PATH.\n"


def test_problems_fit_a_terminal(sample: Sample) -> None:
    """In a terminal lines are broken between words; a path stays in one piece."""
    path = break_feedback(sample)
    code, written = terminal.run(*PROGRAM, "validate", "--base-dir", str(sample.base), environment={})
    lines = re.sub(r"\x1b\[[0-9;]*m", "", written.decode()).split("\r\n")
    assert code == 1
    assert [line for line in lines if len(line) > terminal.COLUMNS and " " in line.strip()] == []
    assert [line for line in lines if str(path) in line]
    assert '  line 5, section "Review Status", field "Reviewed"' in lines
