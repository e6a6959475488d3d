"""A file whose session does not verify is refused, by an import and by an export, and nothing is written."""

from collections.abc import Callable
from pathlib import Path

import pytest

from haytham import CheckpointManager, ProjectManager
from haytham.domain.errors import InvalidDocument
from haytham.domain.headway import Headway
from haytham.exchange import archive as archives
from haytham.exchange import collection
from haytham.storage.project_store import ProjectStore
from haytham.storage.session_store import SessionStore
from tests.audit import tampering
from tests.evidence import PROJECT, SESSION, Clock, git, snapshot
from tests.exchange.conftest import AT

OUTPUT = "phase_1_concept/concept_expansion.md"
FORM = "phase_1_concept/user_feedback.md"


def packed(session: Path, file: Path) -> Path:
    """Writes the export of a session as somebody would who leaves out every check."""
    store = SessionStore(session, clock=Clock(), lock_timeout=5)
    file.write_bytes(archives.packed(collection.session(PROJECT, store, Headway(1)).archive))
    return file


def changed(path: Path, old: str, new: str) -> None:
    """Edits a document."""
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def refusal(manager: CheckpointManager, file: Path) -> InvalidDocument:
    """Returns why a file is not imported, after making sure that nothing was written."""
    before = snapshot(file.parent)
    with pytest.raises(InvalidDocument) as caught:
        manager.import_file(file)
    assert before == snapshot(file.parent)
    return caught.value


def test_honest_session_goes_through(session: Path, other: CheckpointManager, tmp_path: Path) -> None:
    """What nobody tampered with is imported, and verifies where it arrives."""
    other.import_file(packed(session, tmp_path / "x.zip"))
    assert other.verify_session(*AT)["findings"] == []


def test_uncommitted_edits_go_through(session: Path, other: CheckpointManager, tmp_path: Path) -> None:
    """What nobody committed yet is part of the file; verification names it there too."""
    changed(session / "phase_2_market_research" / "market_intelligence.md", "Second", "Third")
    other.import_file(packed(session, tmp_path / "x.zip"))
    assert [each["kind"] for each in other.verify_session(*AT)["findings"]] == ["edited"]


@pytest.mark.parametrize("how", tampering.REWRITINGS)
def test_rewritten_history(session: Path, other: CheckpointManager, tmp_path: Path, how: str) -> None:
    """A commit dropped, melted into another, moved or given other words: refused."""
    head = git(session, "rev-parse", "HEAD")
    for order in list(tampering.REWRITINGS[how](session)):
        tampering.rewritten(session, order)
        refusal(other, packed(session, tmp_path / "x.zip"))
        git(session, "update-ref", "HEAD", head)
    other.import_file(packed(session, tmp_path / "x.zip"))


def _edited_output(session: Path) -> None:
    changed(session / OUTPUT, "night", "day")


def _edited_and_committed(session: Path) -> None:
    changed(session / OUTPUT, "night", "day")
    git(session, "commit", "-q", "-a", "-m", "a small change")


def _edited_form(session: Path) -> None:
    changed(session / FORM, "good", "bad")
    git(session, "commit", "-q", "-a", "-m", "a small change")


def _other_attempt(session: Path) -> None:
    changed(session / "phase_2_market_research" / "checkpoint.md", "- Retry Count: 1", "- Retry Count: 0")
    git(session, "commit", "-q", "-a", "--amend", "-C", "HEAD")


@pytest.mark.parametrize(
    ("tamper", "said"),
    [
        (_edited_output, "was approved by"),
        (_edited_and_committed, "was approved by"),
        (_edited_form, "it was edited afterwards"),
        (_other_attempt, "its checkpoint says otherwise"),
    ],
)
def test_edited_after_the_approval(
    session: Path, other: CheckpointManager, tmp_path: Path, tamper: Callable[[Path], None], said: str
) -> None:
    """An approval of something else, a form or a result that was changed afterwards: refused, in plain words."""
    tamper(session)
    error = refusal(other, packed(session, tmp_path / "x.zip"))
    assert any(said in problem.message for problem in error.problems), [each.message for each in error.problems]
    assert all(problem.location.path.startswith(PROJECT) for problem in error.problems)


def test_export_voids_what_was_approved_of_something_else(
    manager: CheckpointManager, session: Path, other: CheckpointManager, tmp_path: Path
) -> None:
    """An export takes in what people did, as every look does: the approval is void, and the file goes through."""
    _edited_output(session)
    other.import_file(manager.export_session(*AT, tmp_path)["path"])
    assert other.review(*AT, 1)["approved"] is False


def test_export_refuses_a_rewritten_history(manager: CheckpointManager, session: Path, tmp_path: Path) -> None:
    """The sender is told, where it can still be looked into."""
    tampering.rewritten(session, next(tampering.squashed(session)))
    with pytest.raises(InvalidDocument):
        manager.export_session(*AT, tmp_path)
    assert list(tmp_path.glob("*.zip")) == []


def test_project_contradicts_a_cut_session(base: Path, other: CheckpointManager, tmp_path: Path) -> None:
    """In a file of a whole project, history has to lead to what the project recorded."""
    projects = ProjectManager(base, clock=Clock())
    made = projects.create_project("ada", "an idea")["project_id"]
    session_id = projects.start_session(made)["session_id"]
    projects.sessions.complete_phase(made, session_id, 1, [{"agent_name": "a", "output_content": "x"}])
    projects.complete_session(made, session_id, "requirements")
    folder = base / made / "sessions" / session_id
    git(folder, "reset", "-q", "--hard", "HEAD~1")
    own = ProjectStore(base / made, clock=Clock(), lock_timeout=5)
    cut = SessionStore(folder, clock=Clock(), lock_timeout=5)
    file = tmp_path / "x.zip"
    file.write_bytes(archives.packed(collection.project(made, own, [cut], Headway(1)).archive))
    assert "history was cut or replaced" in str(refusal(other, file))


def test_an_older_copy_after_a_deletion(manager: CheckpointManager, session: Path, tmp_path: Path) -> None:
    """What the project recorded about a session that is gone does not speak against the one that arrives later."""
    path = manager.export_session(*AT, tmp_path)["path"]
    manager.complete_phase(*AT, 3, [{"agent_name": "decision_agent", "output_content": "go"}])
    manager.delete_session(*AT)
    manager.import_file(path)
    assert manager.verify_session(*AT)["findings"] == []
    head = git(session, "rev-parse", "HEAD")
    assert head in git(manager.base_dir / PROJECT, "log", "-1", "--format=%B")
    git(session, "reset", "-q", "--hard", "HEAD~1")
    (session / ".git" / "haytham.head").unlink()
    said = [each["message"] for each in manager.verify_session(*AT)["findings"]]
    assert [each for each in said if f"commit {head[:7]}, the newest one by commit" in each]


def test_arrival_is_noted_as_the_newest_commit(session: Path, other: CheckpointManager, tmp_path: Path) -> None:
    """A session that was cut right after it arrived contradicts the note beside it."""
    folder = Path(other.import_file(packed(session, tmp_path / "x.zip"))["path"])
    assert (folder / ".git" / "haytham.head").read_text().strip() == git(session, "rev-parse", "HEAD")
    assert SESSION == folder.name
