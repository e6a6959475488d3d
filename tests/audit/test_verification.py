"""Verification finds whatever is not as it was written, and nothing else."""

import random
import shutil
from pathlib import Path

import pytest

from haytham import CheckpointManager, InvalidInput, ProjectManager
from tests.audit import tampering
from tests.audit.honest import Story
from tests.evidence import PROJECT, SESSION, git, snapshot
from tests.review.desk import AT, Desk
from tests.trials import count

HEAD_NOTE = ".git/haytham.head"


def findings(desk: Desk, **more: str) -> list[tuple[str, str]]:
    """Returns the kinds and the words of what is found in the session."""
    return [(each["kind"], each["message"]) for each in desk.manager.verify_session(*AT, **more)["findings"]]


def kinds(desk: Desk) -> set[str]:
    """Returns the kinds of what is found."""
    return {kind for kind, _ in findings(desk)}


@pytest.fixture
def told(base: Path) -> Desk:
    """A session with two attempts, an approval by one and one by two people, a late output and a journal."""
    base.parent.mkdir(exist_ok=True)
    desk = Desk(base)
    journal = desk.manager.journal(*AT, 1, "writer")
    journal.save({"task": "draft"}, name="begun")
    journal.close()
    desk.run(1, "first\n")
    desk.decide(1, "retry_with_changes", changes=["shorter"])
    desk.run(1, "second\n")
    desk.decide(1, comments="good")
    desk.run(2)
    desk.approve_all(2)
    desk.run(3)
    desk.manager.save_agent_output(*AT, 3, "helper", "late\n")
    desk.manager.complete_session(*AT)
    return desk


def _objects(folder: Path) -> list[Path]:
    """Returns the files of git's objects; `info/packs` is a list of names for web servers, which git makes anew."""
    found = (folder / ".git" / "objects").rglob("*")
    return [path for path in found if path.is_file() and path.name != "packs"]


def _documents(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file() and ".git" not in path.parts]


def test_nothing_is_found_in_an_honest_session(told: Desk) -> None:
    """All is counted, the newest commit is named, nothing is found and nothing is changed."""
    before = snapshot(told.folder)
    report = told.manager.verify_session(*AT)
    assert report == {
        "folder": str(told.folder),
        "session_id": AT[1],
        "head": git(told.folder, "rev-parse", "HEAD"),
        "noted_head": git(told.folder, "rev-parse", "HEAD"),
        "commits": len(told.history()),
        "documents": 14,
        "signatures": {"good": 0, "unidentified": 0, "bad": 0, "unchecked": 0, "none": len(told.history())},
        "findings": [],
    }
    assert before == snapshot(told.folder)


@pytest.mark.parametrize("part", range(4))
def test_nothing_is_found_in_honest_sessions(tmp_path: Path, part: int) -> None:
    """Whatever agents and people do, in whatever order: only edits that nobody committed are named, and as such.

    Once they are committed nothing is. Forms are put back before: another decision under somebody's signature, which
    Haytham did not take in because it is about an older content, is no honest commit.
    """
    for seed in range(part, count(16, 200), 4):
        story = Story(tmp_path / str(seed) / "projects", seed).tell(25)
        open_edits = set(story.desk.manager.load_session(*AT)["edited_files"])
        named = findings(story.desk)
        assert {"edited"} >= {kind for kind, _ in named}, seed
        assert open_edits == {message.split()[0] for _, message in named}, seed
        git(
            story.desk.folder,
            "checkout",
            "-q",
            "--",
            *(name for name in open_edits if "user_feedback" in name),
            ".git*",
        )
        git(story.desk.folder, "add", "-A")
        git(story.desk.folder, "commit", "-q", "--allow-empty", "-m", "all of it")
        assert findings(story.desk) == [], seed
        shutil.rmtree(tmp_path / str(seed))


@pytest.mark.parametrize("packed", [False, True])
def test_every_flipped_byte_is_found(told: Desk, packed: bool) -> None:
    """A single changed byte in a document, a journal or a file of git's objects never goes unnoticed."""
    if packed:
        git(told.folder, "gc", "-q")
    source, folder = random.Random(int(packed)), told.folder
    for trial in range(count(60, 2500)):
        path = source.choice(_documents(folder) if trial % 2 else _objects(folder))
        undo = tampering.flip(path, source)
        assert findings(told), path
        undo()
    assert findings(told) == []


@pytest.mark.parametrize("how", tampering.REWRITINGS)
def test_every_rewritten_history_is_found(told: Desk, how: str) -> None:
    """One commit dropped, melted into another, moved or given other words: the note of the last save contradicts."""
    head = git(told.folder, "rev-parse", "HEAD")
    for order in list(tampering.REWRITINGS[how](told.folder)):
        tampering.rewritten(told.folder, order)
        assert "history" in kinds(told)
        git(told.folder, "update-ref", "HEAD", head)
    assert findings(told) == []


@pytest.mark.parametrize("how", tampering.REWRITINGS)
def test_a_rewritten_history_contradicts_itself(told: Desk, how: str) -> None:
    """Even where every record of the newest commit is gone too, the commits no longer fit together."""
    head = git(told.folder, "rev-parse", "HEAD")
    (told.folder / HEAD_NOTE).unlink()
    missed = []
    for order in list(tampering.REWRITINGS[how](told.folder)):
        tampering.rewritten(told.folder, order)
        if not kinds(told) & {"chain", "content"}:
            missed.append(order)
        git(told.folder, "update-ref", "HEAD", head)
    assert missed == []


def test_a_commit_that_no_longer_names_the_one_before_it(told: Desk) -> None:
    """Whoever rewrites history without the words that tie it together leaves commits that lack them."""
    git(told.folder, "filter-branch", "-f", "--msg-filter", "sed /^Haytham-Parent:/d", "HEAD")
    git(told.folder, "update-ref", "-d", f"refs/original/refs/heads/{git(told.folder, 'branch', '--show-current')}")
    for note in (told.folder / ".git").glob("haytham*"):
        shutil.rmtree(note) if note.is_dir() else note.unlink()
    report = told.manager.verify_session(*AT)
    assert report["noted_head"] is None
    lacking = [each for each in report["findings"] if "does not name the one before it" in each["message"]]
    ours = git(told.folder, "log", "--format=%(trailers:key=Haytham-Phase,key=Haytham-Status,key=Haytham-Edited)")
    assert len(lacking) >= len([line for line in ours.splitlines() if line]) // 2 > 1


def test_whether_the_newest_commit_was_noted_is_told(told: Desk) -> None:
    """Without the note of the last save nothing here can tell a missing end, and the report says so."""
    assert told.manager.verify_session(*AT)["noted_head"] == git(told.folder, "rev-parse", "HEAD")
    (told.folder / HEAD_NOTE).unlink()
    assert told.manager.verify_session(*AT)["noted_head"] is None


def test_a_cut_history_is_found(told: Desk) -> None:
    """Commits taken off the end, with their files: the note of the last save, or a noted head, contradicts."""
    head = git(told.folder, "rev-parse", "HEAD")
    for back in range(1, len(told.history())):
        git(told.folder, "reset", "-q", "--hard", f"{head}~{back}")
        assert [kind for kind, _ in findings(told)] == ["history"], back
    (told.folder / HEAD_NOTE).unlink()
    assert findings(told) == []
    what = f"commit {head[:7]}, the newest one by what was given, is no part of it any more."
    assert findings(told, head=head) == [("history", f"history was cut or replaced: {what}")]
    git(told.folder, "reset", "-q", "--hard", head)
    assert findings(told, head=head) == []


def test_the_project_remembers(base: Path) -> None:
    """A session that was replaced after its completion contradicts its project's history."""
    projects = ProjectManager(base)
    project = projects.create_project("ada", "an idea")["project_id"]
    session = projects.start_session(project)["session_id"]
    projects.sessions.complete_phase(project, session, 1, [{"agent_name": "a", "output_content": "x"}])
    projects.complete_session(project, session, "requirements")
    assert [report["findings"] for report in projects.verify_project(project)] == [[], []]
    folder = base / project / "sessions" / session
    git(folder, "reset", "-q", "--hard", "HEAD~1")
    (folder / HEAD_NOTE).unlink()
    own, of_session = projects.verify_project(project)
    assert own["findings"] == []
    assert [each["kind"] for each in of_session["findings"]] == ["history"]
    assert "of the project, is no part of it any more" in of_session["findings"][0]["message"]


def test_an_approval_whose_document_was_edited_later(told: Desk) -> None:
    """It is said who approved what when, and what changed since, whether the edit was committed or not."""
    told.output(1).write_text(told.output(1).read_text().replace("second", "third"))
    commit = next(e for e in told.history() if e.trailers.get("Haytham-Decision") == "approved" and "1" in e.subject)
    assert kinds(told) == {"edited", "approval"}
    git(told.folder, "commit", "-q", "-a", "-m", "a small change")
    where = f"in commit {commit.id[:7]} at {commit.time:%Y-%m-%dT%H:%M:%SZ}"
    said = f"phase 1 Draft was approved by Rea Viewer {where}; since then writer.md changed."
    assert findings(told) == [("approval", said)]
    (report,) = told.manager.verify_session(*AT)["findings"]
    assert report["commit"] == commit.id


def test_an_approval_that_nobody_gave(told: Desk) -> None:
    """A form that was made to approve other content, and committed, has no commit of its reviewer's behind it."""
    told.output(1).write_text(told.output(1).read_text().replace("second", "third"))
    content = told.manager._access.view(*AT).content(told.manager.phases(*AT)[0])
    form = told.form(1)
    old = told.manager.load_feedback(*AT, 1)["content"]
    form.write_text(form.read_text().replace(old, content.hash))
    git(told.folder, "commit", "-q", "-a", "-m", "a small change")
    said = [message for kind, message in findings(told) if kind == "approval"]
    assert said == [
        "the form says that Rea Viewer decided approved about this content of phase 1, and no commit records it."
    ]


def test_a_form_that_was_edited_after_the_decision(told: Desk) -> None:
    """Another comment under a decision, put into history past Haytham, is not what its reviewer left."""
    form = told.form(1)
    form.write_text(form.read_text().replace("good", "bad"))
    git(told.folder, "commit", "-q", "-a", "-m", "a small change")
    (said,) = [message for kind, message in findings(told) if kind == "approval"]
    assert said.startswith("the form is not as Rea Viewer left it in commit ")


def test_uncommitted_edits_are_named_as_such(told: Desk) -> None:
    """What changed, and what is gone, with the way to look at it."""
    told.output(3).write_text(told.output(3).read_text().replace("text", "texts"))
    (told.folder / "session_manifest.md").unlink()
    said = findings(told)
    assert (
        "edited",
        "phase_3_print/printer.md differs from the newest commit: an edit that nobody has committed.",
    ) in said
    assert ("edited", "session_manifest.md is gone: an edit that nobody has committed.") in said


def _shallow(folder: Path) -> None:
    (folder / ".git" / "shallow").write_text(git(folder, "rev-parse", "HEAD~2") + "\n")


def _replaced(folder: Path) -> None:
    git(folder, "replace", "HEAD~2", "HEAD~3")


def _grafted(folder: Path) -> None:
    (folder / ".git" / "info" / "grafts").write_text(git(folder, "rev-parse", "HEAD~2") + "\n")


def _lent(folder: Path) -> None:
    (folder / ".git" / "objects" / "info").mkdir(exist_ok=True)
    (folder / ".git" / "objects" / "info" / "alternates").write_text("/nowhere\n")


def _orphaned(folder: Path) -> None:
    pack = next((folder / ".git" / "objects" / "pack").glob("*.idx"))
    pack.unlink()


@pytest.mark.parametrize("detour", [_shallow, _replaced, _grafted, _lent, _orphaned])
def test_detours_are_found(told: Desk, detour: object) -> None:
    """Git can be told to show another history than the one that is there; that is found as well."""
    assert callable(detour)
    detour(told.folder)
    assert kinds(told) & {"history", "objects"}


def test_a_pack_without_its_index(told: Desk) -> None:
    """It is named where history needs it; what a writer left that was killed before its index came is no finding."""
    packs = told.folder / ".git" / "objects" / "pack"
    spare = told.base.parent / "spare"
    git(told.base.parent, "init", "-q", str(spare))
    git(spare, "commit", "-q", "--allow-empty", "-m", "something else")
    git(spare, "repack", "-q", "-a", "-d")
    left = next((spare / ".git" / "objects" / "pack").glob("*.pack"))
    shutil.copy(left, packs)
    assert findings(told) == []
    (packs / left.name).unlink()
    _orphaned(told.folder)
    assert ("objects", "the pack has no index, so that git does not see its objects.") in findings(told)


def test_a_damaged_journal_is_found(told: Desk) -> None:
    """A journal checks itself; one that is gone is named."""
    journal = told.folder / "phase_1_draft" / "journal" / "writer.md"
    text = journal.read_text()
    journal.write_text(text.replace("draft", "drift"))
    assert kinds(told) == {"journal"}
    journal.unlink()
    assert findings(told) == [("edited", "phase_1_draft/journal/writer.md is gone: an edit that nobody has committed.")]


def test_loose_objects_are_hashed(told: Desk) -> None:
    """What people commit with git lies in files of its own, named by the hash of what they hold."""
    (told.folder / "notes.txt").write_text("mine")
    git(told.folder, "add", "notes.txt")
    git(told.folder, "commit", "-q", "-m", "notes")
    assert findings(told) == []
    loose = next(path for path in _objects(told.folder) if len(path.name) == 38)
    loose.chmod(0o644)
    loose.write_bytes(loose.read_bytes()[:-3])
    assert ("objects", "the object is not what its name says: it was changed or damaged.") in findings(told)


def test_without_a_repository(told: Desk) -> None:
    """A session whose .git is gone, or whose branch was moved away, is told so; the documents are still read."""
    (told.folder / ".git" / "HEAD").write_text("ref: refs/heads/other\n")
    assert "history" in kinds(told)
    shutil.rmtree(told.folder / ".git")
    assert kinds(told) == {"history"}
    assert told.manager.verify_session(*AT)["head"] is None


@pytest.mark.parametrize("head", ["", "HEAD", "abc", "Z" * 40, 7])
def test_a_head_is_a_full_id(told: Desk, head: str) -> None:
    """Anything else is refused."""
    with pytest.raises(InvalidInput, match="which is no id of a commit"):
        told.manager.verify_session(*AT, head=head)


def test_a_head_note_that_a_power_cut_tore_is_no_finding(told: Desk) -> None:
    """The note is not flushed: what is no commit's id says nothing."""
    for data in (b"", b"\0" * 41, b"12345\n"):
        (told.folder / HEAD_NOTE).write_bytes(data)
        assert findings(told) == []


def test_a_session_at_work_is_sound(base: Path, manager: CheckpointManager, folder: Path) -> None:
    """What a running phase has written is not committed yet, and no edit of anybody's."""
    manager.save_checkpoint(PROJECT, SESSION, 1, "in_progress", [])
    manager.save_agent_output(PROJECT, SESSION, 1, "concept_expansion", "half of it")
    assert manager.verify_session(PROJECT, SESSION)["findings"] == []
