"""The user's own settings of git."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.evidence import git_environment

CODE = """
import json, sys
from haytham import HaythamError
from haytham.storage import history_user
try:
    wants = history_user.user_wants("commit.gpgsign")
except HaythamError as error:
    wants = error.message
print(json.dumps([wants, history_user.user_settings("user.name", "user.email")]))
"""


def _environment(home: Path) -> dict[str, str]:
    plain = git_environment(HOME=str(home), XDG_CONFIG_HOME=str(home / "xdg"))
    del plain["GIT_CONFIG_GLOBAL"]
    return plain


def _asked(home: Path) -> Any:
    done = subprocess.run(
        [sys.executable, "-c", CODE], env=_environment(home), capture_output=True, check=True, text=True
    )
    return json.loads(done.stdout)


def _of_git(home: Path) -> str:
    words = ["git", "config", "--type=bool", "commit.gpgsign"]
    return subprocess.run(
        words, cwd=home, env=_environment(home), capture_output=True, check=False, text=True
    ).stdout.strip()


@pytest.mark.parametrize("line", ["", "gpgsign", *(f"gpgsign = {value}" for value in ("2", "YES", "off", "", "0"))])
def test_a_switch_is_read_as_git_reads_it(line: str, tmp_path: Path) -> None:
    """A bare name and any number but 0 are yes, too."""
    (tmp_path / ".gitconfig").write_text(f"[commit]\n{line}\n")
    assert (_of_git(tmp_path) == "true") is _asked(tmp_path)[0]


def test_a_switch_that_is_neither_on_nor_off(tmp_path: Path) -> None:
    """What git refuses is not taken for no."""
    (tmp_path / ".gitconfig").write_text("[commit]\ngpgsign = maybe\n")
    assert "neither" in _asked(tmp_path)[0]


def test_both_files_of_the_user_count(tmp_path: Path) -> None:
    """Settings are in two places, as git has them; those in the home folder count more. A bare name is no value."""
    (tmp_path / "xdg" / "git").mkdir(parents=True)
    (tmp_path / "xdg" / "git" / "config").write_text("[user]\nname = Rea\nemail = old@example.org\n[commit]\ngpgsign\n")
    assert _asked(tmp_path) == [True, {"user.name": "Rea", "user.email": "old@example.org"}]
    (tmp_path / ".gitconfig").write_text("[user]\nname\nemail = rea@example.org\n[commit]\ngpgsign = no\n")
    assert _asked(tmp_path) == [False, {"user.email": "rea@example.org"}]
