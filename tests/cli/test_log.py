"""The command `haytham log`."""

import shutil
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest

from haytham.checkpoint.checkpoint_manager import CheckpointManager
from haytham.cli import log_lines
from haytham.domain.audit_records import AuthorRecord, LogRecord, SignatureRecord
from tests.cli.conftest import Sample, Shell, in_terminal, new_session, process


def test_end_to_end(sample: Sample) -> None:
    """As a process of its own it tells a session's history, newest first, with authors and decisions."""
    said = process("log", "--session", sample.session, cwd=sample.base.parent)
    assert (said.code, said.err) == (0, "")
    lines = said.out.splitlines()
    today = f"{CheckpointManager(sample.base).history(*sample.ids)[0].time:%Y-%m-%d} (UTC)"
    assert lines[0] == today
    assert [line[19:] for line in lines[1:]] == [
        "Phase 2 Market Research sent back for another attempt",
        "Haytham, requires_retry",
        "Phase 1 Concept Expansion approved",
        "Rita Reviewer, approved",
        "Phase 1 Concept Expansion completed",
        "Haytham, completed",
        f"Session {sample.session} created",
        "Haytham",
    ]


def test_ids_are_those_of_git(sample: Sample, shell: Shell) -> None:
    """The log says what git itself says."""
    said = shell("log", "--base-dir", sample.base, "--session", sample.session, "--json")
    plain = subprocess.run(
        ["git", "-C", str(sample.folder), "log", "--format=%H %an %s"], capture_output=True, text=True, check=True
    )
    entries = said.json["entries"]
    assert [f"{e['id']} {e['author']['name']} {e['subject']}" for e in entries] == plain.stdout.splitlines()


def test_json(sample: Sample, shell: Shell) -> None:
    """The JSON form holds every entry with its trailers."""
    said = shell("log", "--base-dir", sample.base, "--session", sample.session, "--json")
    assert (said.code, said.err) == (0, "")
    assert {key: said.json[key] for key in ("form", "version", "project_id", "session_id")} == {
        "form": "haytham.log",
        "version": 1,
        "project_id": sample.project,
        "session_id": sample.session,
    }
    entry = said.json["entries"][1]
    assert list(entry) == ["id", "time", "author", "subject", "body", "trailers", "session_id", "signature"]
    assert entry["author"] == {"name": "Rita Reviewer", "email": "rita@example.org"}
    assert entry["trailers"]["Haytham-Decision"] == "approved"


@pytest.mark.parametrize(
    ("state", "identity", "said"),
    [
        ("good", "author", "Rita Reviewer, signed"),
        ("good", "other", "Rita Reviewer, signed by somebody else"),
        ("good", "unchecked", "Rita Reviewer, signed, identity not checked"),
        ("bad", "unchecked", "Rita Reviewer, bad signature"),
        ("unchecked", "unchecked", "Rita Reviewer, signature not checked"),
    ],
)
def test_signatures(state: str, identity: str, said: str) -> None:
    """A signature is told with what is known about it, and whose it is."""
    entry = LogRecord(
        id="1" * 40,
        time="2026-01-31T10:00:00Z",
        author=AuthorRecord(name="Rita Reviewer", email="rita@example.org"),
        subject="Phase 1 approved",
        body="",
        trailers={},
        session_id=None,
        signature=SignatureRecord(state=state, signer="somebody", identity=identity),
    )
    *_, (_, pieces) = log_lines.lines([entry], with_session=False)
    assert "".join(text for text, _ in pieces) == said


def test_project_log_interleaves(sample: Sample, shell: Shell) -> None:
    """Without a session, the project's own history and those of its sessions are told as one, by time."""
    said = shell("log", "--base-dir", sample.base, "--json")
    entries = said.json["entries"]
    assert said.json["session_id"] is None
    assert {entry["session_id"] for entry in entries} == {None, sample.session}
    assert [entry["time"] for entry in entries] == sorted((entry["time"] for entry in entries), reverse=True)
    text = shell("log", "--base-dir", sample.base).out
    assert f"{sample.session}, Rita Reviewer, approved" in text
    assert "Project Nightdesk created" in text


def test_a_clock_that_goes_backwards_reorders_nothing(tmp_path: Path, shell: Shell) -> None:
    """Each history keeps its own order, whatever its times say."""
    hours = iter([12, 12, 12, 9, 9, 9, 9])
    manager = CheckpointManager(tmp_path, clock=lambda: datetime(2026, 1, 1, next(hours, 8), tzinfo=UTC))
    manager.create_session("p-1", "s-1", "ada")
    manager.save_checkpoint("p-1", "s-1", 1, "completed", [])
    entries = shell("log", "--base-dir", tmp_path, "--json").json["entries"]
    own = [entry["id"] for entry in entries if entry["session_id"]]
    assert own == [entry.id for entry in manager.history("p-1", "s-1")]


def test_limit(sample: Sample, shell: Shell) -> None:
    """--limit keeps the newest."""
    entries = shell("log", "--base-dir", sample.base, "--json").json["entries"]
    assert shell("log", "--base-dir", sample.base, "--json", "-n", "2").json["entries"] == entries[:2]


def test_several_projects(sample: Sample, shell: Shell) -> None:
    """With several projects and none named it asks which, with the candidates, and ends with code 1."""
    other = new_session(sample.base, "Other")
    said = shell("log", "--base-dir", sample.base)
    assert (said.code, said.out) == (1, "")
    listed = ", ".join(sorted([sample.project, other.project]))
    assert said.err == (
        "Error: there are 2 projects here, and none is named.\n"
        f"  {sample.base}\n"
        f"Hint: add --project with one of: {listed}.\n"
    )


def test_no_projects(tmp_path: Path, shell: Shell) -> None:
    """Without a project there is no history, and the hint says how to get one."""
    said = shell("log", "--base-dir", tmp_path)
    assert (said.code, said.out) == (1, "")
    assert said.err.startswith("Error: there are no projects here yet.\n")


def test_hostile_subjects_are_neutralised(sample: Sample, shell: Shell) -> None:
    """A commit that somebody made with an escape sequence in its subject is shown as text."""
    git = ["git", "-C", str(sample.folder), "-c", "user.name=Eve\u202e", "-c", "user.email=e@x"]
    subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "\x1b]0;owned\x07\x1b[2Jhello"], check=True)
    said = shell("log", "--base-dir", sample.base)
    assert "\\x1b]0;owned\\x07\\x1b[2Jhello" in said.out
    assert "Eve\\u202e" in said.out
    raw = shell("log", "--base-dir", sample.base, "--json").out
    assert raw.replace("\n", "").isprintable()


def test_80_columns(tmp_path: Path, shell: Shell) -> None:
    """Long ids are folded into the columns of a terminal; where the output goes elsewhere, a line stays one."""
    CheckpointManager(tmp_path).create_session("p" * 100, "s" * 100, "ada")
    shown = in_terminal("log", "--base-dir", str(tmp_path), NO_COLOR="1")
    assert max(len(line) for line in shown.splitlines()) == 80
    assert f"{'s' * 100}, Haytham" in shell("log", "--base-dir", tmp_path).out


def test_broken_repository(sample: Sample, shell: Shell) -> None:
    """A session without its repository is reported, with the way out."""
    shutil.rmtree(sample.folder / ".git")
    said = shell("log", "--base-dir", sample.base)
    assert (said.code, said.out) == (1, "")
    assert "Hint: the documents beside it are untouched" in said.err


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--phase", "1"], ["Phase 1 Concept Expansion approved", "Phase 1 Concept Expansion completed"]),
        (["--actor", "rita"], ["Phase 1 Concept Expansion approved"]),
        (["--actor", "RITA@example"], ["Phase 1 Concept Expansion approved"]),
        (["--decision", "approved"], ["Phase 1 Concept Expansion approved"]),
        (["--decision", "skip_phase"], []),
        (["--since", "2100-01-01"], []),
        (["--until", "2020-01-01T00:00:00Z"], []),
        (["--phase", "2", "--since", "2020-01-01"], ["Phase 2 Market Research sent back for another attempt"]),
    ],
)
def test_filters(options: list[str], expected: list[str], sample: Sample, shell: Shell) -> None:
    """Only what is asked for is told, in a session and in a project."""
    for where in (["--session", sample.session], []):
        said = shell("log", "--base-dir", sample.base, *where, *options, "--json")
        assert [entry["subject"] for entry in said.json["entries"]] == expected


def test_nothing_found(sample: Sample, shell: Shell) -> None:
    """A filter that lets nothing through says so."""
    said = shell("log", "--base-dir", sample.base, "--phase", "99")
    assert (said.code, said.out) == (0, "Nothing of that is in the history.\n")


@pytest.mark.parametrize(
    ("options", "code", "expected"),
    [
        (["--since", "yesterday"], 1, "Error: since is 'yesterday', which is no date and time.\n"),
        (["--until", "2026-13-01"], 1, "Error: until is '2026-13-01', which is no date and time.\n"),
        (["--decision", "aproved"], 2, "Error: invalid value for '--decision': 'aproved' is not one of"),
    ],
)
def test_bad_filters(options: list[str], code: int, expected: str, sample: Sample, shell: Shell) -> None:
    """What cannot be asked for is named, with what can."""
    said = shell("log", "--base-dir", sample.base, *options)
    assert (said.code, said.out) == (code, "")
    assert said.err.startswith(expected)
