"""The command `haytham migrate`."""

from pathlib import Path

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
