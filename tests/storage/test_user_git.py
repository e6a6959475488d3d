import subprocess
import sys
from pathlib import Path

import pytest

from haytham.storage import git_variables, user_git
from haytham.storage.store import CommitNote, Store
from tests.evidence import Clock, git, git_environment, snapshot


def _store(tmp_path: Path) -> Store:
    store = Store(tmp_path / "s", "main", clock=Clock(), lock_timeout=1)
    store.create({"a.md": b"1"}, CommitNote(message="First\n"))
    return store


def test_sound_repository_has_no_findings(tmp_path: Path) -> None:
    """Git's own check finds nothing in what we made."""
    assert user_git.fsck(_store(tmp_path).folder) == []


def test_damage_is_told_line_by_line(tmp_path: Path) -> None:
    """A broken reference or a damaged object is found and told in git's words."""
    store = _store(tmp_path)
    pack = next((store.folder / ".git" / "objects" / "pack").glob("*.pack"))
    data = bytearray(pack.read_bytes())
    data[20] ^= 0xFF
    pack.chmod(0o644)
    pack.write_bytes(data)
    assert user_git.fsck(store.folder)


def test_repository_is_not_searched_for_upwards(tmp_path: Path) -> None:
    """A folder without a repository is not checked by way of the one around it."""
    git(tmp_path, "init", "-q")
    (tmp_path / "s").mkdir()
    assert user_git.fsck(tmp_path / "s")


def test_missing_program_is_named(tmp_path: Path) -> None:
    """Where git is not installed, that is said in one sentence."""
    code = (
        "from pathlib import Path\nfrom haytham import NotFound\nfrom haytham.storage import user_git\n"
        "try:\n    user_git.fsck(Path('.'))\nexcept NotFound as error:\n    print(error.message)\n"
    )
    environment = git_environment(PATH=str(tmp_path))
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout == "the program git was not found.\n"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("GIT_DIR", "{elsewhere}/.git"),
        ("GIT_COMMON_DIR", "{elsewhere}/.git"),
        ("GIT_OBJECT_DIRECTORY", "{elsewhere}/.git/objects"),
        ("GIT_INDEX_FILE", "{elsewhere}/.git/broken"),
        ("GIT_WORK_TREE", "{elsewhere}"),
        ("GIT_SHALLOW_FILE", "{elsewhere}/.git/broken"),
        ("GIT_GRAFT_FILE", "{elsewhere}/.git/grafts"),
        ("GIT_CONFIG_COUNT", "1"),
        ("GIT_CONFIG_PARAMETERS", "'core.bare'='nonsense'"),
    ],
)
def test_variables_around_it_do_not_lead_it_elsewhere(
    name: str, value: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where git itself goes astray, as in one of its hooks, ours finds, tells and packs the repository it was told."""
    store, head = _store(tmp_path), _head(tmp_path / "s")
    git(tmp_path, "init", "-q", "elsewhere")
    (tmp_path / "elsewhere" / ".git" / "broken").write_text("broken\n")
    (tmp_path / "elsewhere" / ".git" / "grafts").write_text(f"{head} {head}\n")
    before = snapshot(tmp_path / "elsewhere")
    surroundings = {name: value.format(elsewhere=tmp_path / "elsewhere"), "GIT_CONFIG_KEY_0": "core.bare"}
    surroundings |= {"GIT_CONFIG_VALUE_0": "nonsense"}
    assert _astray(store.folder, surroundings)
    for each, its in surroundings.items():
        monkeypatch.setenv(each, its)
    assert user_git.fsck(store.folder) == []
    assert list(user_git.signatures(store.folder, head, {})) == [head]
    user_git.repack(store.folder)
    assert before == snapshot(tmp_path / "elsewhere")


def _head(folder: Path) -> str:
    return git(folder, "rev-parse", "HEAD")


def _astray(folder: Path, surroundings: dict[str, str]) -> bool:
    """Tells whether git itself, in these surroundings, says something else about a folder than in plain ones."""
    return _said(folder, {}) != _said(folder, surroundings)


def _said(folder: Path, surroundings: dict[str, str], head: str = "HEAD") -> list[tuple[int, bytes]]:
    environment = git_environment(**surroundings)
    words = (["fsck", "--full"], ["log", "--format=%H %P", head], ["status", "--porcelain"])
    done = [
        subprocess.run(["git", *each], cwd=folder, env=environment, capture_output=True, check=False) for each in words
    ]
    return [(each.returncode, each.stdout) for each in done]


def test_replaced_commits_are_not_looked_at(tmp_path: Path) -> None:
    """What git is told about a commit is about the commit itself, and not what a person put in its place."""
    store = _store(tmp_path)
    git(store.folder, "commit", "-q", "--allow-empty", "-m", "Second")
    first, second = git(store.folder, "rev-parse", "HEAD~1", "HEAD").split()
    git(store.folder, "replace", "--graft", second)
    assert {first, second} == set(user_git.signatures(store.folder, second, {}))


@pytest.mark.parametrize("unknown", ["none", "GIT_NO_LAZY_FETCH", "GIT_ALLOW_PROTOCOL"])
def test_nothing_is_fetched_because_it_is_missing(unknown: str, tmp_path: Path) -> None:
    """A repository cannot make git run a program to fetch a commit, not even a git that knows one of the two ways."""
    store = _store(tmp_path)
    data = git(store.folder, "cat-file", "commit", "HEAD") + "\n"
    lines = data.replace("author ", f"parent {'1' * 40}\nauthor ", 1)
    head = git(store.folder, "hash-object", "-t", "commit", "-w", "--stdin", data=lines.encode())
    sprung = tmp_path / "sprung"
    for name, value in {
        "core.repositoryFormatVersion": "1",
        "extensions.partialClone": "far",
        "remote.far.promisor": "true",
        "remote.far.url": f"ext::touch {sprung}",
        "protocol.ext.allow": "always",
    }.items():
        git(store.folder, "config", name, value)
    known = {key: value for key, value in git_variables.leading_to(str(store.folder)).items() if key != unknown}
    _said(store.folder, known, head)
    assert not sprung.exists()
    _said(store.folder, {}, head)
    assert sprung.exists()
