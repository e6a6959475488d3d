"""The quick answer to `haytham log`: the same as the command's own, or none."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from haytham.checkpoint.checkpoint_manager import CheckpointManager
from haytham.cli import quick_log
from tests.cli.conftest import Sample, Shell, in_terminal, new_session, process

HEAVY = {"asyncio", "click", "dataclasses", "git", "pathlib", "pygit2", "re", "rich", "subprocess", "typing"}
MESSAGES = [
    "\x1b]0;owned\x07\x1b[2Jhello",
    "tabs\tand spaces  \n\nin the body   \n\n\nand blank lines\n",
    "a trailer of a person's own\n\nSigned-off-by: Eve <eve@example.org>",
    "folded\n\nHaytham-Status: completed\n and\n\tmore\n(cherry picked from commit abc)",
    "no trailer\n\nthis: is\nnot one",
    "twice\n\nHaytham-Decision: approved\nHaytham-Decision: skip_phase",
    "Haytham-Status: failed",
    "right to left \u202e, wide \u4e2d\u6587, zero\u200dwidth, \u00e9",
    "a subject that is far too long for a terminal of eighty columns, and then some more words of no use at all",
    "    indented\n\n    code\n",
]


@pytest.fixture
def git(sample: Sample) -> list[str]:
    """Begins a git command in the session's folder, by somebody."""
    who = ["-c", "user.name=Eve <\u202e> Eavesdropper", "-c", "user.email=eve@example.org"]
    return ["git", "-C", str(sample.folder), *who]


def _plain(sample: Sample) -> list[str]:
    return ["--base-dir", str(sample.base), "--session", sample.session]


@pytest.mark.parametrize("message", MESSAGES)
@pytest.mark.parametrize("more", [[], ["--json"]])
def test_both_say_the_same(message: str, more: list[str], sample: Sample, git: list[str], shell: Shell) -> None:
    """Whatever people write into their commits."""
    subprocess.run([*git, "commit", "-q", "--allow-empty", "--cleanup=verbatim", "-m", message], check=True)
    said = shell("log", *_plain(sample), *more)
    assert (said.code, quick_log.text([*_plain(sample), *more])) == (0, said.out)


@pytest.mark.parametrize("encoding", ["ISO-8859-1", "no-such-encoding"])
def test_other_encodings(encoding: str, sample: Sample, git: list[str], shell: Shell) -> None:
    """A message that is not UTF-8 is told alike."""
    message = "caf\u00e9".encode("latin-1")
    command = [*git, "-c", f"i18n.commitEncoding={encoding}", "commit", "-q", "--allow-empty", "-F", "-"]
    subprocess.run(command, input=message, check=True)
    assert quick_log.text(_plain(sample)) == shell("log", *_plain(sample)).out


@pytest.mark.parametrize(
    "more",
    [["-n", "2"], ["--limit=1"], ["--limit", "99"], ["-n", "1", "--json"], ["--session", "other", "--session", ""]],
    ids=" ".join,
)
def test_plain_options(more: list[str], sample: Sample, shell: Shell) -> None:
    """The options of the plain case mean the same; of two, the last counts."""
    given = [*more[:-1], sample.session] if more[-1] == "" else more
    arguments = [*_plain(sample), "--project", sample.project, *given]
    assert quick_log.text(arguments) == shell("log", *arguments).out


@pytest.mark.parametrize(
    "more",
    [
        ["--phase", "1"],
        ["--actor=rita"],
        ["-n", "0"],
        ["-n", "many"],
        ["-n1"],
        ["--limit"],
        ["--help"],
        ["--project", "project-none"],
        ["--project", ".."],
        ["--session", "session-none"],
        ["--session", "../sessions"],
        ["--session="],
        ["--base-dir", "/nowhere"],
        ["word"],
    ],
    ids=" ".join,
)
def test_what_is_not_plain_is_left_to_the_command(more: list[str], sample: Sample) -> None:
    """Filters, mistakes and help are the command's own."""
    assert quick_log.text([*_plain(sample), *more]) is None


def test_without_a_session(sample: Sample) -> None:
    """A project's log is the command's own."""
    assert quick_log.text(["--base-dir", str(sample.base)]) is None


def test_a_session_of_two_projects(tmp_path: Path) -> None:
    """It never guesses between two."""
    manager = CheckpointManager(tmp_path)
    for project in ("p-1", "p-2"):
        manager.create_session(project, "s-1", "ada")
    arguments = ["--base-dir", str(tmp_path), "--session", "s-1"]
    assert quick_log.text(arguments) is None
    assert quick_log.text([*arguments, "--project", "p-2"]) is not None


@pytest.mark.parametrize("place", ["", ".git"])
def test_links_are_not_followed(place: str, sample: Sample, tmp_path: Path) -> None:
    """What the command refuses to follow is not followed here."""
    folder = sample.folder / place
    folder.rename(tmp_path / "elsewhere")
    folder.symlink_to(tmp_path / "elsewhere")
    assert quick_log.text(_plain(sample)) is None


def test_merges_are_left_to_the_command(sample: Sample, git: list[str]) -> None:
    """Only a straight history has one order."""
    for command in (
        ["switch", "-q", "-c", "side"],
        ["commit", "-q", "--allow-empty", "-m", "aside"],
        ["switch", "-q", "-"],
        ["commit", "-q", "--allow-empty", "-m", "ahead"],
        ["merge", "-q", "--no-edit", "side"],
    ):
        subprocess.run([*git, *command], check=True)
    assert quick_log.text(_plain(sample)) is None


def test_signed_commits_are_left_to_the_command(sample: Sample, git: list[str], tmp_path: Path) -> None:
    """Whether a signature is good takes more than a quick look."""
    key = tmp_path / "key"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key)], check=True)
    signing = ["-c", "gpg.format=ssh", "-c", f"user.signingkey={key}"]
    subprocess.run([*git, *signing, "commit", "-q", "--allow-empty", "-S", "-m", "signed"], check=True)
    assert quick_log.text(_plain(sample)) is None


def test_a_broken_repository_is_left_to_the_command(sample: Sample) -> None:
    """The command finds the words for it."""
    (sample.folder / ".git" / "HEAD").unlink()
    assert quick_log.text(_plain(sample)) is None


def test_the_repository_cannot_lead_it_elsewhere(sample: Sample, git: list[str], shell: Shell) -> None:
    """Settings, replacements and variables of git's change nothing."""
    whole = shell("log", *_plain(sample)).out
    subprocess.run([*git, "replace", "HEAD", "HEAD~2"], check=True)
    subprocess.run([*git, "config", "log.showSignature", "true"], check=True)
    said = process("log", *_plain(sample), GIT_OBJECT_DIRECTORY="/nowhere", GIT_NAMESPACE="other")
    assert (said.code, said.out) == (0, whole)


@pytest.mark.parametrize("message", ["short", MESSAGES[-2], MESSAGES[-3]])
def test_in_a_terminal(message: str, sample: Sample, git: list[str]) -> None:
    """Colours and folds are those of the command, which is asked by an option that lets everything through."""
    subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", message], check=True)
    plain = ("log", *_plain(sample))
    assert in_terminal(*plain) == in_terminal(*plain, "--since", "2000-01-01")
    assert in_terminal(*plain, NO_COLOR="1") == in_terminal(*plain, "--since", "2000-01-01", NO_COLOR="1")
    assert "\x1b[1m" in in_terminal(*plain)


def test_it_is_quick_because_it_imports_little(sample: Sample) -> None:
    """None of what takes long to import is imported for it."""
    script = "import sys; from haytham.cli.main import main; main(); sys.stderr.write(' '.join(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-S", "-c", script, "log", *_plain(sample)],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"PYTHONPATH": str(Path(quick_log.__file__).parents[2])},
    )
    assert "Phase 1 Concept Expansion approved" in done.stdout
    assert set(done.stderr.split()) & HEAVY == set()


def test_a_reader_that_left(sample: Sample) -> None:
    """Nobody reads the output any more: no error, the code says so."""
    new_session(sample.base, "Other")
    script = 'exec "$0" "$@" | true; exit ${PIPESTATUS[0]}'
    program = [sys.executable, "-m", "haytham.cli.main", "log", *_plain(sample)]
    for _ in range(3):
        done = subprocess.run(["bash", "-c", script, *program], capture_output=True, text=True, check=False)
        assert (done.returncode in {0, 141}, done.stderr) == (True, "")
