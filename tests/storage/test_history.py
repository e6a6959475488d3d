import os
import shutil
import subprocess
import sys
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest

from haytham import BrokenRepository, Conflict
from haytham.storage import files, history
from haytham.storage.branches import Prepared
from haytham.storage.history import History, Person, blob_id
from tests.evidence import START, git, git_environment, is_sound, snapshot

BRANCH = "sessions/s-1"
AUTHOR = Person(name="Some Body", email="s@example.org")


@pytest.fixture
def repository(tmp_path: Path) -> History:
    """A fresh repository."""
    made = History(tmp_path / "s-1", BRANCH)
    made.folder.mkdir()
    made.create()
    return made


def _commit(repository: History, message: str = "A commit\n", **changes: bytes | None) -> str:
    """Writes files named with underscores for dots and slashes, and commits them."""
    named = {name.replace("__", "/").replace("_md", ".md"): data for name, data in changes.items()}
    for name, data in named.items():
        path = repository.folder / name
        path.parent.mkdir(exist_ok=True)
        if data is None:
            path.unlink()
        else:
            path.write_bytes(data)
    prepared = repository.prepare(named, message, AUTHOR, START)
    files.write(prepared.files)
    repository.publish(prepared)
    return prepared.commit


def _tree(repository: History, commit: str = "HEAD") -> list[str]:
    return git(repository.folder, "ls-tree", "-r", "--name-only", commit).splitlines()


# Commits


def test_first_commit(repository: History) -> None:
    """A repository begins on its branch without commits, and git finds the first one as its own."""
    assert repository.head() is None
    assert repository.blob_ids(["a.md"]) == {}
    assert repository.read("a.md") is None
    commit = _commit(repository, a_md=b"x", folder__b_md=b"y")
    assert commit == repository.head() == git(repository.folder, "rev-parse", BRANCH)
    assert _tree(repository) == ["a.md", "folder/b.md"]
    assert git(repository.folder, "status", "--porcelain") == ""
    assert is_sound(repository.folder)


def test_only_the_given_paths_are_committed(repository: History) -> None:
    """Whatever else lies in the folder or is staged stays out of the commit and stays as it is."""
    _commit(repository, a_md=b"1", b_md=b"1")
    (repository.folder / "b.md").write_bytes(b"edited")
    (repository.folder / "staged.md").write_bytes(b"staged")
    git(repository.folder, "add", "staged.md")
    (repository.folder / "new.md").write_bytes(b"new")
    _commit(repository, a_md=b"2")
    assert _tree(repository) == ["a.md", "b.md"]
    assert repository.read("b.md") == b"1"
    status = [line.split() for line in git(repository.folder, "status", "--porcelain").splitlines()]
    assert sorted([s[0], n] for s, n in ((x[0][0], x[1]) for x in status)) == [
        ["?", "new.md"],
        ["A", "staged.md"],
        ["M", "b.md"],
    ]
    assert "A  staged.md" in git(repository.folder, "status", "--porcelain")


def test_files_are_changed_and_removed(repository: History) -> None:
    """A path with other bytes is changed, one without bytes is removed, others stay, also in folders."""
    first = _commit(repository, a_md=b"1", folder__b_md=b"1", folder__c_md=b"1")
    second = _commit(repository, a_md=b"2", folder__b_md=None)
    assert _tree(repository) == ["a.md", "folder/c.md"]
    assert tuple(repository.read(name) for name in ("a.md", "folder/c.md", "folder/b.md")) == (b"2", b"1", None)
    assert (repository.read("a.md", first), repository.read("folder/b.md", first)) == (b"1", b"1")
    assert first == git(repository.folder, "rev-parse", f"{second}~1")
    assert git(repository.folder, "status", "--porcelain") == ""
    assert is_sound(repository.folder)


def test_file_may_become_a_folder(repository: History) -> None:
    """A name may change from file to folder."""
    _commit(repository, thing=b"file")
    (repository.folder / "thing").unlink()
    _commit(repository, thing__b_md=b"inside")
    assert _tree(repository) == ["thing/b.md"]
    assert repository.read("thing") is None


def test_nothing_changed_is_a_commit_all_the_same(repository: History) -> None:
    """An event may have no change of files."""
    _commit(repository, a_md=b"1")
    _commit(repository, a_md=b"1")
    assert git(repository.folder, "rev-list", "--count", "HEAD") == "2"
    assert is_sound(repository.folder)


def test_ids_of_blobs_are_gits_own(repository: History) -> None:
    """A file is recognised by the id that git gives it."""
    _commit(repository, a_md=b"1", folder__b_md=b"2")
    expected = {"a.md": blob_id(b"1"), "folder/b.md": blob_id(b"2")}
    assert expected == repository.blob_ids(["a.md", "folder/b.md", "missing.md"])
    assert git(repository.folder, "hash-object", "a.md") == blob_id(b"1")


def test_commit_that_came_between_is_a_conflict(repository: History) -> None:
    """A commit of somebody else's is never undone by ours."""
    _commit(repository, a_md=b"1")
    prepared = repository.prepare({"a.md": b"ours"}, "ours\n", AUTHOR, START)
    files.write(prepared.files)
    git(repository.folder, "commit", "-q", "--allow-empty", "-m", "theirs")
    head = git(repository.folder, "rev-parse", "HEAD")
    with pytest.raises(Conflict, match="someone else committed"):
        repository.publish(prepared)
    assert head == repository.head()
    assert is_sound(repository.folder)


def test_packed_refs_and_gc_do_not_matter(repository: History) -> None:
    """Git may tidy up at any time."""
    _commit(repository, a_md=b"1")
    git(repository.folder, "pack-refs", "--all", "--prune")
    assert not (repository.git_folder / "refs" / "heads" / "sessions" / "s-1").exists()
    second = _commit(repository, a_md=b"2")
    git(repository.folder, "gc", "-q", "--prune=now", "--aggressive")
    third = _commit(repository, a_md=b"3", b_md=b"4")
    assert third == repository.head() == git(repository.folder, "rev-parse", "HEAD")
    assert repository.read("a.md", second) == b"2"
    assert git(repository.folder, "rev-list", "--count", "HEAD") == "3"
    assert is_sound(repository.folder)


def test_other_branches_and_tags_stay(repository: History) -> None:
    """A commit moves its own branch and no other reference."""
    first = _commit(repository, a_md=b"1")
    for name in ("refs/heads/mine", "refs/tags/v1", "refs/remotes/origin/main"):
        git(repository.folder, "update-ref", name, first)
    _commit(repository, a_md=b"2")
    refs = dict(line.split()[::-1] for line in git(repository.folder, "show-ref").splitlines())
    assert {first} == {refs[name] for name in ("refs/heads/mine", "refs/tags/v1", "refs/remotes/origin/main")}


# People's settings


def test_hooks_and_filters_are_not_run(repository: History, tmp_path: Path) -> None:
    """Nothing that a repository brings along is executed, and no bytes are converted on their way in."""
    marker = tmp_path / "marker"
    script = f"#!/bin/sh\ntouch {marker}\nexit 1\n"
    hooks = repository.git_folder / "hooks"
    hooks.mkdir(exist_ok=True)
    for name in ("pre-commit", "commit-msg", "post-commit", "reference-transaction", "post-index-change"):
        (hooks / name).write_text(script, encoding="utf-8")
        (hooks / name).chmod(0o755)
    for key, value in {
        "filter.evil.clean": f"touch {marker}; cat",
        "filter.evil.process": f"touch {marker}",
        "core.autocrlf": "true",
        "core.fsmonitor": f"touch {marker}",
        "core.hooksPath": str(hooks),
        "gpg.program": f"touch {marker}",
    }.items():
        git(repository.folder, "config", key, value)
    (repository.folder / ".gitattributes").write_text("* filter=evil text eol=crlf\n", encoding="utf-8")
    _commit(repository, a_md=b"one\r\ntwo\n")
    repository.check()
    list(repository.entries())
    assert repository.read("a.md") == b"one\r\ntwo\n"
    assert not marker.exists()


def test_signing_switched_on_is_no_obstacle(repository: History) -> None:
    """Our commits are not signed and do not fail for want of a key."""
    for key, value in {"commit.gpgsign": "true", "user.signingkey": "none", "gpg.program": "/bin/false"}.items():
        git(repository.folder, "config", key, value)
    commit = _commit(repository, a_md=b"1")
    assert "gpgsig" not in git(repository.folder, "cat-file", "-p", commit)


def test_no_name_is_needed(repository: History) -> None:
    """A commit is by whom we say, whether the user has told git their name or not."""
    git(repository.folder, "config", "user.useConfigOnly", "true")
    commit = _commit(repository, a_md=b"1")
    shown = git(repository.folder, "log", "-1", "--format=%an <%ae>|%cn <%ce>|%at", commit)
    assert f"Some Body <s@example.org>|Some Body <s@example.org>|{int(START.timestamp())}" == shown


@pytest.mark.parametrize(
    ("name", "shown"), [("A <b> C\n", "A b C"), ("", "unknown"), ("\0", "unknown"), ("<>", "unknown"), ("Zoë", "Zoë")]
)
def test_odd_names_make_no_odd_commits(repository: History, name: str, shown: str) -> None:
    """Whatever a person is called, the commit is well formed."""
    prepared = repository.prepare({"a.md": b"1"}, "m\n", Person(name=name, email="a<b>\n@c"), START)
    files.write(prepared.files)
    repository.publish(prepared)
    assert f"{shown}|ab@c" == git(repository.folder, "log", "-1", "--format=%an|%ae")
    assert is_sound(repository.folder)


def test_identity_is_the_users_own(tmp_path: Path) -> None:
    """The reviewer is whom git knows the user as; nobody, if git does not know."""
    code = "from haytham.storage.history_user import user_identity; print(user_identity())"

    def asked() -> str:
        environment = git_environment(HOME=str(tmp_path), XDG_CONFIG_HOME=str(tmp_path))
        del environment["GIT_CONFIG_GLOBAL"]
        done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, check=True, text=True)
        return done.stdout.strip()

    assert asked() == "None"
    (tmp_path / ".gitconfig").write_text("[user]\n\tname = Rea\n\temail = rea@example.org\n", encoding="utf-8")
    assert asked() == "Rea <rea@example.org>"


# Reading


def test_log_tells_commits_newest_first(repository: History) -> None:
    """An entry has the subject, the body without trailers, and the trailers."""
    _commit(repository, "First\n", a_md=b"1")
    _commit(repository, "Second\n\nBody line\nanother\n\nHaytham-Phase: 1\nHaytham-Status: completed\n", a_md=b"2")
    _commit(repository, "Third\n\nHaytham-Phase: 2\n", a_md=b"3")
    third, second, first = repository.entries()
    assert (third.subject, third.body) == ("Third", "")
    assert third.trailers == {"Haytham-Phase": "2", "Haytham-Parent": second.id}
    assert (second.subject, second.body) == ("Second", "Body line\nanother")
    assert second.trailers == {"Haytham-Phase": "1", "Haytham-Status": "completed", "Haytham-Parent": first.id}
    assert (first.subject, first.body, first.trailers, first.author) == ("First", "", {}, AUTHOR)
    assert first.time == START


def test_times_are_utc(repository: History) -> None:
    """Whatever zone the clock is in, commits are in UTC."""
    when = datetime(2026, 1, 31, 12, tzinfo=timezone(timedelta(hours=2)))
    prepared = repository.prepare({"a.md": b"1"}, "m\n", AUTHOR, when)
    files.write(prepared.files)
    repository.publish(prepared)
    assert git(repository.folder, "log", "-1", "--format=%aI").replace("Z", "+00:00") == "2026-01-31T10:00:00+00:00"
    assert UTC is next(repository.entries()).time.tzinfo


def test_repository_is_not_searched_for_upwards(tmp_path: Path) -> None:
    """A folder without a repository is broken, even inside another repository."""
    git(tmp_path, "init", "-q")
    (tmp_path / "s-1").mkdir()
    lost = History(tmp_path / "s-1", BRANCH)
    for call in (lost.head, lost.check, lambda: list(lost.entries()), lambda: lost.blob_ids(["a"])):
        with pytest.raises(BrokenRepository, match="no git repository that can be read"):
            call()


def test_other_branch_is_refused_before_anything_is_prepared(repository: History) -> None:
    """Who has switched to another branch keeps it."""
    _commit(repository, a_md=b"1")
    git(repository.folder, "switch", "-q", "-c", "mine")
    before = snapshot(repository.folder)
    with pytest.raises(BrokenRepository, match="the folder is on 'mine'; its branch is 'sessions/s-1'"):
        repository.prepare({"a.md": b"2"}, "m\n", AUTHOR, START)
    assert before == snapshot(repository.folder)


def test_damaged_commit_is_named(repository: History) -> None:
    """A newest commit that cannot be read is an error, not an empty history."""
    _commit(repository, a_md=b"1")
    for path in (repository.git_folder / "objects" / "pack").iterdir():
        path.unlink()
    with pytest.raises(BrokenRepository, match="cannot be read"):
        repository.check()


# The index


def test_index_in_use_is_left_alone(repository: History) -> None:
    """Where git itself is at work on the index, it is not touched; the commit stands."""
    _commit(repository, a_md=b"1")
    (repository.git_folder / "index.lock").write_bytes(b"")
    before = (repository.git_folder / "index").read_bytes()
    commit = _commit(repository, a_md=b"2")
    assert before == (repository.git_folder / "index").read_bytes()
    assert commit == repository.head()


def test_sweeping_clears_what_a_dead_writer_left(repository: History) -> None:
    """Temporary files and our own locks inside the repository go; what is git's own stays."""
    _commit(repository, a_md=b"1")
    ref = repository.git_folder / "refs" / "heads" / "sessions" / "s-1"
    os.link(ref, ref.with_name("s-1.lock"))
    left = [files.write_temporary(folder / "x", b"") for folder in (repository.git_folder, ref.parent)]
    (repository.git_folder / "index.lock").write_bytes(b"")
    assert sorted(left) == sorted(repository.sweep())
    assert not ref.with_name("s-1.lock").exists()
    assert (repository.git_folder / "index.lock").exists()


def test_history_module_reads_no_environment(repository: History, monkeypatch: pytest.MonkeyPatch) -> None:
    """Variables that steer git do not steer our commits."""
    elsewhere = repository.folder.parent / "elsewhere"
    shutil.copytree(repository.folder, elsewhere)
    before = snapshot(elsewhere)
    monkeypatch.setenv("GIT_DIR", str(elsewhere / ".git"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(elsewhere / ".git" / "index"))
    prepared = repository.prepare({"a.md": b"1"}, "m\n", AUTHOR, START)
    files.write(prepared.files)
    repository.publish(prepared)
    assert prepared.commit == repository.head()
    assert before == snapshot(elsewhere)
    assert history.blob_id(b"1") == repository.blob_ids(["a.md"])["a.md"]


def test_commit_that_came_between_is_built_upon(repository: History) -> None:
    """A commit that is prepared anew goes on top of somebody else's, while git's own lock is held."""
    _commit(repository, a_md=b"1")
    prepared = repository.prepare({"a.md": b"ours"}, "ours\n", AUTHOR, START)
    files.write(prepared.files)
    git(repository.folder, "commit", "-q", "--allow-empty", "-m", "theirs")
    locks: list[bool] = []

    def again() -> Prepared:
        locks.append((repository.git_folder / f"refs/heads/{repository.branch}.lock").exists())
        newer = repository.prepare({"a.md": b"ours"}, "ours\n", AUTHOR, START)
        files.write(newer.files)
        return newer

    assert repository.publish(prepared, again) == repository.head()
    assert locks == [True]
    assert git(repository.folder, "log", "--format=%s", "-2").split() == ["ours", "theirs"]
    assert is_sound(repository.folder)
