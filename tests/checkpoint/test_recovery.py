"""What a crash leaves between any two steps of a save, made for real: finished or named when the session is opened."""

import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from haytham import BrokenRepository, CheckpointManager, Conflict
from haytham.storage.session_store import SessionStore
from tests.evidence import PROJECT, SESSION, USER, Clock, git, is_sound, snapshot, subjects

AT = (PROJECT, SESSION)
AGENTS = [{"agent_name": name, "status": "completed"} for name in ("market_intelligence", "competitor_analysis")]
MANIFEST = "session_manifest.md"
PHASE = "phase_2_market_research"
CHECKPOINT, FEEDBACK = f"{PHASE}/checkpoint.md", f"{PHASE}/user_feedback.md"
STEPS = (CHECKPOINT, FEEDBACK, MANIFEST)  # the order in which a completed phase is written
OLD = time.time() - 3600


def _again(folder: Path) -> CheckpointManager:
    """Returns a manager of another process, so to say: one that has not opened the session yet."""
    return CheckpointManager(folder.parents[2], clock=Clock(), lock_timeout=5)


def _store(folder: Path) -> SessionStore:
    return SessionStore(folder, clock=Clock(), lock_timeout=5)


@pytest.fixture
def before(manager: CheckpointManager, folder: Path) -> Path:
    """The folder of a session just before phase 2 is completed: its outputs are saved."""
    for agent in AGENTS:
        manager.save_agent_output(*AT, 2, agent["agent_name"], f"What {agent['agent_name']} found")
    return folder


@pytest.fixture
def after(before: Path, tmp_path: Path) -> Path:
    """A copy of that session in which phase 2 was completed."""
    shutil.copytree(before.parents[2], tmp_path / "after", symlinks=True)
    folder = tmp_path / "after" / before.relative_to(before.parents[2])
    _again(folder).save_checkpoint(*AT, 2, "completed", AGENTS, duration=2.5)
    return folder


def _write(folder: Path, source: Path, names: tuple[str, ...]) -> None:
    """Writes documents as a save does, and dies before the commit."""
    store = _store(folder)
    with store.locked():
        store.save({name: (source / name).read_bytes() for name in names})


def _settled(folder: Path) -> None:
    """Asserts that opening the session once more changes nothing, and that git is content."""
    seen = snapshot(folder)
    report = _again(folder).recover(*AT)
    assert (report["finished"], report["removed"]) == ([], [])
    assert seen == snapshot(folder)
    assert is_sound(folder)


# Between the steps of a save


@pytest.mark.parametrize("count", range(len(STEPS) + 1))
def test_documents_without_their_commit_are_committed(before: Path, after: Path, count: int) -> None:
    """However far the documents of a completed phase got, the phase is committed with all that belongs to it."""
    _write(before, after, STEPS[:count])
    state = _again(before).load_session(*AT)
    if count == 0:
        assert (state["completed_phases"], state["recovered"]) == ([], [])
        return
    assert state["recovered"] == ["phase 2 Market Research was completed but not committed"]
    assert (state["completed_phases"], state["edited_files"]) == ([2], [])
    assert subjects(before) == ["Session session-456 created", "Phase 2 Market Research completed"]
    assert git(before, "log", "-1", "--format=%(trailers:key=Haytham-Recovered,valueonly)") == "yes"
    assert git(before, "status", "--porcelain") == ""
    for name in (CHECKPOINT, FEEDBACK, f"{PHASE}/market_intelligence.md"):
        assert (after / name).read_bytes() == (before / name).read_bytes()
    _settled(before)


def test_documents_without_their_commit_are_committed_by_the_next_save(before: Path, after: Path) -> None:
    """Who goes on without looking first finds the phase finished too."""
    _write(before, after, STEPS)
    _again(before).save_checkpoint(*AT, 3, "completed", AGENTS)
    assert subjects(before)[1:] == ["Phase 2 Market Research completed", "Phase 3 Niche Selection completed"]
    _settled(before)


def test_decision_without_its_commit_is_committed(after: Path) -> None:
    """A review that was written when the process died is in history after the next opening."""
    copy = after.parents[3] / "decided"
    shutil.copytree(after.parents[2], copy, symlinks=True)
    decided = copy / after.relative_to(after.parents[2])
    _again(decided).save_user_feedback(*AT, 2, reviewed=True, approved=True, comments="good")
    _write(after, decided, (FEEDBACK, MANIFEST))
    manager = _again(after)
    assert [f"{FEEDBACK} was decided but not committed"] == manager.load_session(*AT)["recovered"]
    assert manager.get_approved_phases(*AT) == [2]
    assert subjects(after)[-1] == "Phase 2 Market Research approved"
    assert git(after, "status", "--porcelain") == ""
    _settled(after)


def test_late_output_without_its_commit_is_committed(after: Path) -> None:
    """The same for an output that came after its phase had been reported."""
    copy = after.parents[3] / "later"
    shutil.copytree(after.parents[2], copy, symlinks=True)
    later = copy / after.relative_to(after.parents[2])
    output = f"{PHASE}/market_intelligence.md"
    _again(later).save_agent_output(*AT, 2, "market_intelligence", "another", input_tokens=3)
    _write(after, later, (output, CHECKPOINT, FEEDBACK, MANIFEST))
    expected = [f"{name} was written but not committed" for name in (CHECKPOINT, FEEDBACK, output, MANIFEST)]
    assert expected == _again(after).load_session(*AT)["recovered"]
    assert git(after, "status", "--porcelain") == ""
    _settled(after)


def test_pack_without_its_ref_is_harmless(before: Path, after: Path) -> None:
    """Objects of a commit that never became the newest one do not disturb."""
    _write(before, after, STEPS)
    pack = Path(".git", "objects", "pack")
    shutil.copytree(after / pack, before / pack, dirs_exist_ok=True)
    assert _again(before).load_session(*AT)["completed_phases"] == [2]
    assert len(subjects(before)) == 2
    _settled(before)


def test_outputs_in_a_running_phase_are_no_crash(before: Path) -> None:
    """Outputs of a phase that goes on wait for its commit; they are not somebody's edit."""
    state = _again(before).load_session(*AT)
    assert (state["recovered"], state["edited_files"]) == ([], [])
    assert subjects(before) == ["Session session-456 created"]
    _settled(before)


def test_running_phase_stays_running(manager: CheckpointManager, before: Path) -> None:
    """A phase that was in progress when its process died is still in progress, and is the one to go on with."""
    manager.save_checkpoint(*AT, 2, "in_progress", AGENTS)
    state = _again(before).load_session(*AT)
    assert (state["phase_statuses"][2], state["next_phase"], state["recovered"]) == ("in_progress", 1, [])
    _settled(before)


def test_stale_manifest_is_derived_again(after: Path) -> None:
    """A manifest that says less than the checkpoints is brought up to date."""
    git(after, "checkout", "-q", "HEAD~1", "--", MANIFEST)
    git(after, "commit", "-q", "-m", "an older manifest")
    state = _again(after).load_session(*AT)
    assert state["recovered"] == ["session_manifest.md was derived again from the checkpoints"]
    assert state["completed_phases"] == [2]
    assert subjects(after)[-1] == "Manifest derived again"
    _settled(after)


@pytest.mark.parametrize("place", ["", PHASE, ".git", ".git/objects/pack", ".git/refs/heads/sessions"])
def test_temporary_files_go(after: Path, place: str) -> None:
    """What a writer had begun to write, wherever it was, is removed and named."""
    left = after / place / ".checkpoint.md.0123456789ab.haytham-tmp"
    left.write_bytes(b"half")
    report = _again(after).recover(*AT)
    assert [str(left)] == report["removed"]
    assert not left.exists()
    _settled(after)


def _ref(folder: Path) -> Path:
    return folder / ".git" / "refs" / "heads" / "sessions" / SESSION


@pytest.mark.parametrize("name", ["ref", "temporary"])
def test_own_lock_of_a_dead_writer_goes(after: Path, name: str) -> None:
    """Our own lock on the branch is told by its inode, whatever its age, and never blocks anybody."""
    own = _ref(after)
    if name == "temporary":
        own = own.with_name(f".{SESSION}.0123456789ab.haytham-tmp")
        own.write_bytes(b"x")
    os.link(own, _ref(after).with_name(f"{SESSION}.lock"))
    manager = _again(after)
    manager.save_checkpoint(*AT, 3, "completed", AGENTS)
    assert subjects(after)[-1] == "Phase 3 Niche Selection completed"
    _settled(after)


def test_fresh_lock_of_gits_own_is_respected(after: Path) -> None:
    """Where a git command is at work on the branch, it is waited for; then the save is refused, with a way out."""
    lock = _ref(after).with_name(f"{SESSION}.lock")
    lock.write_bytes(b"")
    head = git(after, "rev-parse", "HEAD")
    with pytest.raises(BrokenRepository, match="git's own lock") as caught:
        _again(after).save_checkpoint(*AT, 3, "completed", AGENTS)
    assert str(lock) == caught.value.location.path
    assert head == git(after, "rev-parse", "HEAD")
    assert lock.exists()
    lock.unlink()
    assert _again(after).load_session(*AT)["completed_phases"] == [2, 3]
    _settled(after)


@pytest.mark.parametrize("place", ["ref", "index"])
def test_old_lock_of_gits_own_goes(after: Path, place: str) -> None:
    """A lock that git left behind long ago is removed."""
    path = _ref(after) if place == "ref" else after / ".git" / "index"
    lock = path.with_name(f"{path.name}.lock")
    lock.write_bytes(b"")
    os.utime(lock, (OLD, OLD))
    _again(after).save_checkpoint(*AT, 3, "completed", AGENTS)
    assert not lock.exists()
    assert git(after, "status", "--porcelain") == ""
    _settled(after)


def test_fresh_index_lock_does_not_stop_a_save(after: Path) -> None:
    """The index is a cache: a git command at work on it does not keep anybody waiting."""
    lock = after / ".git" / "index.lock"
    lock.write_bytes(b"")
    _again(after).save_checkpoint(*AT, 3, "completed", AGENTS)
    assert subjects(after)[-1] == "Phase 3 Niche Selection completed"
    assert lock.exists()


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # pygit2 stumbles over its own error
@pytest.mark.parametrize("content", [b"", b"garbage", b"DIRC\0\0\0\2\0\0\0\1short"], ids=["empty", "garbage", "torn"])
def test_broken_index_is_built_anew(after: Path, content: bytes) -> None:
    """An index that cannot be read is replaced by one that agrees with the newest commit."""
    (after / ".git" / "index").write_bytes(content)
    _again(after).save_checkpoint(*AT, 3, "completed", AGENTS)
    assert git(after, "status", "--porcelain") == ""
    _settled(after)


def test_missing_index_is_built_anew(after: Path) -> None:
    """The same where there is none."""
    (after / ".git" / "index").unlink()
    _again(after).save_checkpoint(*AT, 3, "completed", AGENTS)
    assert git(after, "status", "--porcelain") == ""


@pytest.mark.parametrize("note", [b"", b"{", b"[1]", b"\xff", b"{}"])
def test_torn_note_of_what_was_written_is_no_obstacle(after: Path, note: bytes) -> None:
    """The note is a cache; without it the session opens and goes on."""
    (after / ".git" / "haytham.written").write_bytes(note)
    manager = _again(after)
    assert manager.load_session(*AT)["completed_phases"] == [2]
    manager.save_checkpoint(*AT, 3, "completed", AGENTS)
    _settled(after)


def test_healthy_session_is_only_looked_at(after: Path) -> None:
    """Opening changes nothing where there is nothing to do."""
    seen = snapshot(after)
    report = _again(after).recover(*AT)
    assert dict(report) == {"finished": [], "removed": [], "edited_files": []}
    assert seen == snapshot(after)


# People's own edits


def _add_section(path: Path) -> None:
    path.write_text(path.read_text(encoding="utf-8") + "\n## My Notes\n\nmine\n", encoding="utf-8")


def _crlf(path: Path) -> None:
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))


OUTPUT_EDITS: list[tuple[str, Callable[[Path], None]]] = [
    (f"{PHASE}/market_intelligence.md", _add_section),
    (f"{PHASE}/market_intelligence.md", _crlf),
]
OTHER_EDITS: list[tuple[str, Callable[[Path], None]]] = [
    (CHECKPOINT, _add_section),
    (CHECKPOINT, _crlf),
    (FEEDBACK, _add_section),
    (FEEDBACK, _crlf),
    (MANIFEST, _add_section),
]
EDITS = OUTPUT_EDITS + OTHER_EDITS


@pytest.mark.parametrize(("name", "edit"), OUTPUT_EDITS)
def test_edit_of_an_output_is_kept_and_asks_for_a_review(after: Path, name: str, edit: Callable[[Path], None]) -> None:
    """What a person made of an output stays byte for byte, goes into history, and the form is about it then."""
    edit(after / name)
    theirs = (after / name).read_bytes()
    manager = _again(after)
    assert [name] == manager.recover(*AT)["edited_files"]
    state = manager.load_session(*AT)
    assert ([], []) == (state["edited_files"], state["recovered"])
    assert theirs == (after / name).read_bytes()
    assert [f"{name} as edited by hand", "Phase 2 Market Research asks for a new review"] == subjects(after)[-2:]
    assert manager.load_feedback(*AT, 2)["is_current"]
    head = git(after, "rev-parse", "HEAD")
    _again(after).load_session(*AT)
    assert head == git(after, "rev-parse", "HEAD")


@pytest.mark.parametrize(("name", "edit"), OTHER_EDITS)
def test_edit_stays_byte_for_byte_and_is_reported(after: Path, name: str, edit: Callable[[Path], None]) -> None:
    """What a person changed and nobody committed is left alone, however often the session is opened."""
    assert _again(after).load_session(*AT)["edited_files"] == []
    edit(after / name)
    theirs, head = (after / name).read_bytes(), git(after, "rev-parse", "HEAD")
    for _ in range(2):
        manager = _again(after)
        assert [name] == manager.recover(*AT)["edited_files"]
        state = manager.load_session(*AT)
        assert ([name], []) == (state["edited_files"], state["recovered"])
    assert theirs == (after / name).read_bytes()
    assert head == git(after, "rev-parse", "HEAD")


def test_status_edited_by_hand_is_no_crash(after: Path) -> None:
    """A checkpoint that a person changed is theirs: taken at its word, left as it is, and reported."""
    path = after / CHECKPOINT
    text = path.read_text(encoding="utf-8").replace("- Status: completed\n", "*  status:  failed\n", 1)
    path.write_text(text, encoding="utf-8")
    state = _again(after).load_session(*AT)
    assert (state["phase_statuses"][2], state["status"], state["edited_files"]) == ("failed", "failed", [CHECKPOINT])
    assert text == path.read_text(encoding="utf-8")
    _settled(after)


@pytest.mark.parametrize(("name", "edit"), EDITS)
def test_edit_is_in_history_before_our_own_save_replaces_it(
    after: Path, name: str, edit: Callable[[Path], None]
) -> None:
    """Whoever saves over an edit first puts it into history as it was."""
    edit(after / name)
    theirs = (after / name).read_bytes()
    manager = _again(after)
    manager.save_agent_output(*AT, 2, "market_intelligence", "another attempt")
    manager.save_user_feedback(*AT, 2, reviewed=True, approved=True)
    kept = [git(after, "rev-parse", f"{commit}:{name}") for commit in git(after, "log", "--format=%H").split()[:-1]]
    assert git(after, "hash-object", "--no-filters", "--stdin", data=theirs) in kept
    assert f"{name} as edited by hand" in subjects(after)
    assert manager.load_session(*AT)["edited_files"] == []
    assert git(after, "status", "--porcelain") == ""


@pytest.mark.parametrize("name", [CHECKPOINT, FEEDBACK, MANIFEST, f"{PHASE}/market_intelligence.md"])
def test_sections_of_a_person_survive_our_own_rewrites(after: Path, name: str) -> None:
    """What the schema does not know stays in the document when it is written anew."""
    if not name.endswith("market_intelligence.md"):
        _add_section(after / name)
    else:
        path = after / name
        path.write_text(
            path.read_text(encoding="utf-8").replace("## Output", "## My Notes\n\nmine\n\n## Output", 1), "utf-8"
        )
    manager = _again(after)
    manager.save_agent_output(*AT, 2, "market_intelligence", "another attempt")
    manager.save_user_feedback(*AT, 2, reviewed=True, approved=True)
    assert "\n## My Notes\n\nmine\n" in (after / name).read_text(encoding="utf-8")


def test_decision_written_in_an_editor_counts(after: Path) -> None:
    """A person who edits the form and saves has decided; nothing else is needed."""
    manager = _again(after)
    assert manager.get_approved_phases(*AT) == []
    path = after / FEEDBACK
    text = path.read_text(encoding="utf-8")
    for old, new in (("- Reviewed: false", "- Reviewed: yes"), ("- Approved: false", "- approved: [x]")):
        assert old in text
        text = text.replace(old, new)
    path.write_text(text.replace("- Action: -", "- Action: approved"), encoding="utf-8")
    assert manager.get_approved_phases(*AT) == [2]
    assert manager.load_session(*AT)["edited_files"] == []
    assert subjects(after)[-1] == "Phase 2 Market Research approved"


def test_edit_of_an_output_voids_the_approval(after: Path) -> None:
    """An approval holds for what was read, and for nothing that came later."""
    manager = _again(after)
    manager.save_user_feedback(*AT, 2, reviewed=True, approved=True)
    assert manager.get_approved_phases(*AT) == [2]
    path = after / PHASE / "market_intelligence.md"
    text = path.read_text(encoding="utf-8")
    path.write_text(f"{text}!", encoding="utf-8")
    assert manager.get_approved_phases(*AT) == []
    assert not manager.load_feedback(*AT, 2)["is_current"]
    path.write_text(text, encoding="utf-8")
    assert manager.get_approved_phases(*AT) == [2]


def test_edit_that_comes_between_is_a_conflict(after: Path) -> None:
    """A document that changed between our reading and our writing is not overwritten."""
    store = _store(after)
    path = after / FEEDBACK
    with store.locked():
        store.bytes_of(FEEDBACK)
        path.write_bytes(b"theirs")
        with pytest.raises(Conflict, match=r"user_feedback\.md was changed by someone else meanwhile"):
            store.save({FEEDBACK: b"ours"})
    assert path.read_bytes() == b"theirs"


def test_own_commit_of_a_person_is_respected(after: Path) -> None:
    """Who commits an edit with plain git has it in history already; it is no edit any more."""
    _add_section(after / FEEDBACK)
    git(after, "commit", "-q", "-a", "-m", "my notes")
    manager = _again(after)
    assert manager.load_session(*AT)["edited_files"] == []
    manager.save_user_feedback(*AT, 2, reviewed=True, approved=True)
    assert subjects(after)[-2:] == ["my notes", "Phase 2 Market Research approved"]


def test_two_managers_take_turns(manager: CheckpointManager, folder: Path) -> None:
    """What one manager saved, another that has the session open sees and goes on from."""
    other = _again(folder)
    assert other.load_session(*AT)["completed_phases"] == []
    manager.save_checkpoint(*AT, 1, "completed", AGENTS)
    assert other.load_session(*AT)["completed_phases"] == [1]
    other.save_checkpoint(*AT, 2, "completed", AGENTS)
    assert manager.load_session(*AT)["completed_phases"] == [1, 2]
    assert manager.load_session(*AT)["recovered"] == []


def test_session_of_a_closed_project_keeps_its_workflow(manager: CheckpointManager, folder: Path) -> None:
    """A session is read by its own copy of its workflow, also when that file is gone from the folder."""
    (folder / "workflow.toml").unlink()
    assert _again(folder).load_session(*AT)["current_phase"] == 1
    assert _again(folder).load_session(*AT)["user_id"] == USER
