import subprocess
import sys
from pathlib import Path

from haytham.storage import user_git
from haytham.storage.store import CommitNote, Store
from tests.evidence import Clock, git, git_environment


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
