"""Decisions that people make in their own name are signed if their git is set up to, and the signatures are checked."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.evidence import git

REA = "Rea Viewer <rea@example.org>"
PROGRAM = """
import json, sys
from haytham import CheckpointManager, HaythamError
manager, at = CheckpointManager(sys.argv[1]), ("p-1", "s-1")
if sys.argv[2] == "tell":
    manager.create_session(*at, "ada")
    manager.complete_phase(*at, 1, [{"agent_name": "concept_expansion", "output_content": "x"}])
    manager.save_user_feedback(*at, 1, reviewed=True, approved=True)
    manager.complete_phase(*at, 2, [{"agent_name": "market_intelligence", "output_content": "y"}])
    manager.save_user_feedback(*at, 2, reviewed=True, approved=True, reviewer="Bob <bob@example.org>")
report = manager.verify_session(*at)
print(json.dumps({"log": manager.log(*at), "report": report}))
"""


class Home:
    """A home folder with a key, and git set up to sign with it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.base = folder / "projects"
        self.key = folder / "key"
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(self.key)], check=True)
        self.signers = folder / "signers"
        self.signers.write_text(f"rea@example.org {self.key.with_suffix('.pub').read_text()}")
        self.set_up()

    @property
    def session(self) -> Path:
        """The folder of the session."""
        return self.base / "p-1" / "sessions" / "s-1"

    def set_up(self, *, key: Path | None = None, signers: bool = True, sign: bool = True) -> None:
        """Writes the user's settings of git."""
        lines = ["[user]", "name = Rea Viewer", "email = rea@example.org", f"signingkey = {key or self.key}"]
        lines += ["[commit]", f"gpgsign = {str(sign).lower()}", "[gpg]", "format = ssh"]
        lines += ['[gpg "ssh"]', f"allowedSignersFile = {self.signers}"] if signers else []
        (self.folder / ".gitconfig").write_text("\n".join(lines) + "\n")

    def process(self, what: str) -> subprocess.CompletedProcess[str]:
        """Runs the program as this user."""
        plain = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
        environment = plain | {"HOME": str(self.folder), "XDG_CONFIG_HOME": str(self.folder)}
        command = [sys.executable, "-c", PROGRAM, str(self.base), what]
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)

    def said(self, what: str = "look") -> Any:
        """Runs the program, and returns the log and the report."""
        done = self.process(what)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """A home folder with a key, and git set up to sign with it."""
    return Home(tmp_path)


def test_only_the_users_own_decisions_are_signed(home: Home) -> None:
    """What orchestrators save, and what somebody decides in another name, is not; git itself finds the others good."""
    said = home.said("tell")
    signed = {entry["subject"]: entry["signature"] for entry in said["log"] if entry["signature"]}
    assert signed == {"Phase 1 Concept Expansion approved": {"state": "good", "signer": "rea@example.org"}}
    assert said["report"]["signatures"] == {"good": 1, "bad": 0, "unchecked": 0, "none": 4}
    assert said["report"]["findings"] == []
    git(home.session, "fsck", "--strict")


def test_without_a_list_of_signers_nothing_is_claimed(home: Home) -> None:
    """A signature that cannot be checked is called so, and is no finding."""
    home.said("tell")
    home.set_up(signers=False)
    said = home.said()
    assert said["report"]["signatures"]["unchecked"] == 1
    assert said["report"]["findings"] == []


def test_git_that_is_not_set_up_to_sign(home: Home) -> None:
    """Without commit.gpgsign nothing is signed."""
    home.set_up(sign=False)
    assert home.said("tell")["report"]["signatures"] == {"good": 0, "bad": 0, "unchecked": 0, "none": 5}


def test_a_key_that_is_missing(home: Home) -> None:
    """Nothing is saved unsigned by one whose git is set up to sign; the error says why and what to do."""
    home.set_up(key=home.folder / "gone")
    done = home.process("tell")
    assert done.returncode == 1
    assert "the commit cannot be signed" in done.stderr
    assert git(home.session, "log", "-1", "--format=%s") == "Phase 1 Concept Expansion completed"


def _resigned(home: Home, change: bytes) -> None:
    """Makes the signed commit anew with other words under the same signature."""
    signed = next(each for each in git(home.session, "rev-list", "HEAD").split() if _is_signed(home, each))
    raw = git(home.session, "cat-file", "commit", signed).encode() + b"\n"
    data = raw.replace(b"Phase 1 Concept Expansion approved", change)
    made = git(home.session, "hash-object", "-t", "commit", "-w", "--stdin", data=data)
    git(home.session, "update-ref", "HEAD", made)


def _is_signed(home: Home, commit: str) -> bool:
    return "\ngpgsig " in git(home.session, "cat-file", "commit", commit)


def test_a_signature_under_other_words_is_bad(home: Home) -> None:
    """A commit that was changed after it was signed is found."""
    home.said("tell")
    _resigned(home, b"Phase 1 Concept Expansion approved at once")
    said = home.said()
    assert said["report"]["signatures"]["bad"] == 1
    assert "signature" in {each["kind"] for each in said["report"]["findings"]}


def test_a_signature_of_somebody_else_is_named(home: Home) -> None:
    """A good signature vouches for its signer only."""
    home.said("tell")
    home.signers.write_text(home.signers.read_text().replace("rea@", "eve@"))
    said = [each["message"] for each in home.said()["report"]["findings"]]
    assert [message.partition(" is ")[2] for message in said] == [
        f"signed by eve@example.org, and in the name of {REA}."
    ]


def test_no_program_of_the_repository_is_run(home: Home) -> None:
    """A session whose own settings name programs to check signatures with cannot make us run them."""
    home.said("tell")
    trap = home.folder / "trap"
    trap.write_text(f"#!/bin/sh\ntouch {home.folder}/sprung\n")
    trap.chmod(0o755)
    for name in ("gpg.program", "gpg.ssh.program", "gpg.openpgp.program", "gpg.x509.program"):
        git(home.session, "config", name, str(trap))
    assert home.said()["report"]["signatures"]["good"] == 1
    assert not (home.folder / "sprung").exists()
