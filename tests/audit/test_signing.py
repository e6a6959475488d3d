"""Decisions that people make in their own name are signed if their git is set up to, and the signatures are checked."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.audit.homes import EACH, OF_SSH, Home, counts, lived_in
from tests.evidence import git


@pytest.fixture(params=EACH)
def home(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Home]:
    """A home folder with a key, and git set up to sign with it."""
    with lived_in(request.param, tmp_path) as made:
        yield made


def test_only_the_users_own_decisions_are_signed(home: Home) -> None:
    """What orchestrators save, and what somebody decides in another name, is not; git itself finds the others good."""
    said = home.said("tell")
    signed = {entry["subject"]: entry["signature"] for entry in said["log"] if entry["signature"]}
    verdict = {"state": "good", "signer": home.signer, "identity": "author"}
    assert signed == {"Phase 1 Concept Expansion approved": verdict}
    assert said["report"]["signatures"] == counts(good=1, none=4)
    assert said["report"]["findings"] == []
    git(home.session, "fsck", "--strict")


def test_without_the_keys_of_others_nothing_is_claimed(home: Home) -> None:
    """A signature that cannot be checked is called so, and is no finding."""
    home.said("tell")
    home.lose_signers()
    said = home.said()
    assert said["report"]["signatures"]["unchecked"] == 1
    assert said["report"]["findings"] == []


def test_git_that_is_not_set_up_to_sign(home: Home) -> None:
    """Without commit.gpgsign nothing is signed."""
    home.set_up(sign="gpgsign = false")
    assert home.said("tell")["report"]["signatures"] == counts(none=5)


def test_git_that_is_set_up_to_sign_in_other_words(home: Home) -> None:
    """A bare `gpgsign` is yes to git."""
    home.set_up(sign="gpgsign")
    assert home.said("tell")["report"]["signatures"]["good"] == 1


@pytest.fixture
def agent(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """An ssh agent without keys: where it listens."""
    if shutil.which("ssh-agent") is None:
        pytest.skip("there is no ssh-agent here")
    place = tmp_path_factory.mktemp("a") / "agent"
    process = subprocess.Popen(["ssh-agent", "-D", "-a", str(place)], stdout=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.readline()  # it listens
    yield str(place)
    process.terminate()
    process.communicate()


@pytest.mark.parametrize("home", OF_SSH, indirect=True)
@pytest.mark.parametrize("prefix", ["key::", ""])
def test_a_key_that_only_the_agent_has(prefix: str, home: Home, agent: str) -> None:
    """A key may be named by itself, as git allows; the other half of it stays with the agent."""
    key = Path(home.key)
    subprocess.run(["ssh-add", "-q", str(key)], env=os.environ | {"SSH_AUTH_SOCK": agent}, check=True)
    home.set_up(key=prefix + key.with_suffix(".pub").read_text().strip())
    key.unlink()
    key.with_suffix(".pub").unlink()
    assert home.said("tell", SSH_AUTH_SOCK=agent)["report"]["signatures"]["good"] == 1
    assert "the commit cannot be signed" in home.process("tell", SSH_AUTH_SOCK=str(home.folder)).stderr


def test_a_key_that_is_missing(home: Home) -> None:
    """Nothing is saved unsigned by one whose git is set up to sign; the error says why and what to do."""
    home.set_up(key=str(home.folder / "gone"))
    done = home.process("tell")
    assert done.returncode == 1
    assert "the commit cannot be signed" in done.stderr
    assert git(home.session, "log", "-1", "--format=%s") == "Phase 1 Concept Expansion completed"


def _resigned(home: Home, change: bytes, kind: bytes = b"SSH") -> None:
    """Makes the signed commit anew with other words under the same signature, or one that looks like another kind."""
    signed = next(each for each in git(home.session, "rev-list", "HEAD").split() if _is_signed(home, each))
    raw = git(home.session, "cat-file", "commit", signed).encode() + b"\n"
    data = raw.replace(b"Phase 1 Concept Expansion approved", change).replace(b" SSH SIG", b" " + kind + b" SIG")
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
    home.set_up(name="Eve", email="eve@example.org")
    home.said("tell")
    said = [each["message"] for each in home.said()["report"]["findings"] if each["kind"] == "signature"]
    assert [message.partition(" is ")[2] for message in said] == [
        f"signed by {home.signer}, and in the name of Eve <eve@example.org>."
    ]


@pytest.mark.parametrize("setting", ["i18n.logOutputEncoding=UTF-16", "log.showSignature=true"])
@pytest.mark.parametrize("place", ["repository", "user"])
def test_no_setting_hides_the_verdict(setting: str, place: str, home: Home) -> None:
    """How somebody wants git to show its log does not matter."""
    said = home.said("tell")
    file = home.session / ".git" / "config" if place == "repository" else home.folder / ".gitconfig"
    git(home.folder, "config", "--file", str(file), *setting.split("="))
    assert said["report"] == home.said()["report"]


@pytest.mark.parametrize("home", OF_SSH, indirect=True)
@pytest.mark.parametrize("name", ["gpg.program", "gpg.openpgp.program"])
def test_the_users_program_is_asked(name: str, home: Home) -> None:
    """The user may have another program for signatures, under either of the names that git has for it."""
    program = home.folder / "program"
    program.write_text(f"#!/bin/sh\necho asked >> {home.folder}/asked\ncat > /dev/null\nexit 1\n")
    program.chmod(0o755)
    home.said("tell")
    _resigned(home, b"Phase 1 Concept Expansion approved", kind=b"PGP")
    git(home.folder, "config", "--file", str(home.folder / ".gitconfig"), name, str(program))
    home.said()
    assert (home.folder / "asked").exists()


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
