"""Older formats: read, and rewritten in the present one. There are none yet, so the tests make one up."""

from pathlib import Path

import pytest

from haytham import CheckpointManager
from haytham.documents import migrations
from haytham.documents.migrations import Steps
from haytham.domain.errors import InvalidDocument
from haytham.exchange import archive as archives
from haytham.exchange import migration
from haytham.storage.session_store import SessionStore
from tests.evidence import PROJECT, SESSION, Clock, git, is_sound, snapshot, subjects
from tests.exchange.conftest import AT

CHECKPOINT = "phase_1_concept/checkpoint.md"


def renamed(text: str) -> str:
    """Brings format 0, in which a status was called a state, to format 1."""
    return text.replace("checkpoint v0 -->", "checkpoint v1 -->", 1).replace("- State: ", "- Status: ", 1)


STEPS: Steps = {"checkpoint": {0: renamed}}


def made_old(session: Path) -> str:
    """Puts a checkpoint into format 0, committed; returns what it was before."""
    path = session / CHECKPOINT
    text = path.read_text(encoding="utf-8")
    old = text.replace("checkpoint v1 -->", "checkpoint v0 -->", 1).replace("- Status: ", "- State: ", 1)
    path.write_text(old, encoding="utf-8")
    git(session, "commit", "--quiet", "-m", "old format", CHECKPOINT)
    return text


def store_of(session: Path) -> SessionStore:
    """Returns the store of a session."""
    return SessionStore(session, clock=Clock(), lock_timeout=5)


def test_steps_are_taken_one_after_the_other() -> None:
    """A text goes from version to version as far as steps lead; one without steps stays as it is."""
    text = "# T\n<!-- haytham project v3 -->\n\n## A\n<!-- haytham project v9 -->\n"

    def step(text: str) -> str:
        return text.replace(f"v{(now := migrations.version_of('project', text))}", f"v{now + 1}", 1)

    assert migrations.version_of("project", text) == 3
    assert migrations.upgraded("project", text, {"project": {3: step, 4: step}}) == text.replace("v3", "v5")
    assert migrations.upgraded("project", text, {"project": {2: step}, "checkpoint": {3: step}}) == text
    assert migrations.version_of("checkpoint", text) == 1


def test_old_documents_are_rewritten_as_one_commit(manager: CheckpointManager, session: Path) -> None:
    """An old checkpoint becomes the one it would be today; its history, outputs and approval stay."""
    present = made_old(session)
    log = subjects(session)
    store = store_of(session)
    with store.locked():
        found = migration.plan(store, migration.session_documents(store), STEPS)
        assert [(each.name, each.version) for each in found] == [(CHECKPOINT, 0)]
        migration.migrate(store, found)
    assert (session / CHECKPOINT).read_text(encoding="utf-8") == present
    assert subjects(session) == [*log, "Format 1"]
    assert "State: completed" in git(session, "show", f"HEAD~:{CHECKPOINT}")
    assert is_sound(session)
    assert manager.validate_session(*AT)["problems"] == []
    assert manager.review(*AT, 1)["approved"] is True
    assert migration.plan(store_of(session), migration.session_documents(store), STEPS) == []


def test_edits_are_committed_before(session: Path) -> None:
    """What a person wrote into an old document and nobody committed is in history as they wrote it."""
    made_old(session)
    path = session / CHECKPOINT
    path.write_text(path.read_text(encoding="utf-8") + "\n## Mine\n\nkept\n", encoding="utf-8")
    edited = path.read_text(encoding="utf-8")
    store = store_of(session)
    with store.locked():
        migration.migrate(store, migration.plan(store, migration.session_documents(store), STEPS))
    assert subjects(session)[-2:] == [f"{CHECKPOINT} as edited by hand", "Format 1"]
    assert git(session, "show", f"HEAD~:{CHECKPOINT}") == edited.strip()
    assert "## Mine\n\nkept" in path.read_text(encoding="utf-8")


def test_steps_that_do_not_help_change_nothing(session: Path) -> None:
    """A step that leaves something unreadable is refused before anything is written."""
    made_old(session)
    before = snapshot(session)
    store = store_of(session)
    documents = migration.session_documents(store)
    with pytest.raises(InvalidDocument, match="Status is missing"):
        migration.plan(store, documents, {"checkpoint": {0: lambda text: text.replace("v0", "v1", 1)}})
    with pytest.raises(InvalidDocument, match="format 0 of checkpoint is not known"):
        migration.plan(store, documents)
    assert before == snapshot(session)


@pytest.mark.parametrize("version", ["0", "2", "99"])
def test_unknown_formats_are_refused_and_left_alone(
    manager: CheckpointManager, session: Path, tmp_path: Path, version: str
) -> None:
    """A format of another release is named, by reading and by migrating, and nothing is written."""
    path = session / CHECKPOINT
    path.write_text(path.read_text(encoding="utf-8").replace("v1 -->", f"v{version} -->", 1), encoding="utf-8")
    before = snapshot(tmp_path)
    message = f"format {version} of checkpoint is not known; this release knows 1."
    with pytest.raises(InvalidDocument) as caught:
        manager.migrate_project(PROJECT, tmp_path)
    assert (caught.value.message, caught.value.location.path) == (message, str(path))
    with pytest.raises(InvalidDocument) as read:
        manager.load_checkpoint(*AT, 1)
    assert message == read.value.message
    assert before == snapshot(tmp_path)


def test_nothing_to_do(manager: CheckpointManager, session: Path, tmp_path: Path) -> None:
    """A project of the present format is only looked at: no commit, no backup."""
    before = snapshot(tmp_path)
    report = manager.migrate_project(PROJECT, tmp_path / f"{SESSION}.zip")
    assert (report["documents"], report["backup"], report["format"]) == ([], None, 1)
    assert before == snapshot(tmp_path)


def test_backup_comes_before_and_a_dry_run_writes_nothing(
    manager: CheckpointManager, session: Path, tmp_path: Path
) -> None:
    """A dry run lists; then the project as it was is in a file, and the new form in the folder."""
    made_old(session)
    old, before = (session / CHECKPOINT).read_bytes(), snapshot(tmp_path)
    dry = manager._migrated(PROJECT, tmp_path, dry_run=True, known=STEPS)
    assert dry["documents"] == [{"path": str(session / CHECKPOINT), "kind": "checkpoint", "format": 0}]
    assert (dry["backup"], before) == (None, snapshot(tmp_path))
    done = manager._migrated(PROJECT, tmp_path, dry_run=False, known=STEPS)
    assert done["documents"] == dry["documents"]
    backup = archives.unpacked(Path(done["backup"] or "").read_bytes())
    assert backup.copies[f"sessions/{SESSION}"].files[CHECKPOINT] == old
    assert manager.validate_session(*AT)["problems"] == []
