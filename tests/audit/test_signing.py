"""Decisions that people make in their own name are signed if their git is set up to, and the signatures are checked."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
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
    """A home folder with a key, and git set up to sign with it; this one is of ssh."""

    format = "ssh"
    signer = "rea@example.org"

    def __init__(self, folder: Path, keys: Path) -> None:
        self.folder = folder
        self.base = folder / "projects"
        self.keys = keys
        self.signers = folder / "signers"
        self.key = self.made_key()
        self.set_up()

    def made_key(self) -> str:
        """Makes a key; returns how git is told of it."""
        key = self.folder / "key"
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key)], check=True)
        self.signers.write_text(f"rea@example.org {key.with_suffix('.pub').read_text()}")
        return str(key)

    def lose_signers(self) -> None:
        """Forgets whose the keys are."""
        self.signers.unlink()

    def end(self) -> None:
        """Ends what was started for the keys."""

    @property
    def session(self) -> Path:
        """The folder of the session."""
        return self.base / "p-1" / "sessions" / "s-1"

    def set_up(
        self,
        *,
        key: str = "",
        sign: str = "gpgsign = true",
        name: str = "Rea Viewer",
        email: str = "rea@example.org",
    ) -> None:
        """Writes the user's settings of git."""
        lines = ["[user]", f"name = {name}", f"email = {email}", f"signingkey = {key or self.key}"]
        lines += ["[commit]", sign, "[gpg]", f"format = {self.format}"]
        lines += ['[gpg "ssh"]', f"allowedSignersFile = {self.signers}"]
        (self.folder / ".gitconfig").write_text("\n".join(lines) + "\n")

    def process(self, what: str, **more: str) -> subprocess.CompletedProcess[str]:
        """Runs the program as this user."""
        plain = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
        own = {"HOME": str(self.folder), "XDG_CONFIG_HOME": str(self.folder), "GNUPGHOME": str(self.keys)}
        environment = plain | own | more
        command = [sys.executable, "-c", PROGRAM, str(self.base), what]
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)

    def said(self, what: str = "look", **more: str) -> Any:
        """Runs the program, and returns the log and the report."""
        done = self.process(what, **more)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)


class OpenpgpHome(Home):
    """The same with a key of gpg."""

    format = "openpgp"
    signer = REA
    _MADE = ("--quick-generate-key", REA, "ed25519", "sign", "never")

    def made_key(self) -> str:
        """Makes a key without a passphrase; returns its fingerprint."""
        self.gpg("gpg", "--pinentry-mode", "loopback", "--passphrase", "", *self._MADE)
        return self.fingerprint("gpg")

    def lose_signers(self) -> None:
        """Loses the keys of others, and of oneself."""
        self.end()
        for path in self.keys.glob("pubring*"):
            path.unlink()

    def end(self) -> None:
        """Ends the agent that holds the keys."""
        self.gpg("gpgconf", "--kill", "all")

    def gpg(self, program: str, *arguments: str, data: str = "") -> str:
        """Runs a program of gpg's, on its own keys; returns what it prints."""
        batch = ["--batch"] if program != "gpgconf" else []
        environment = {**os.environ, "GNUPGHOME": str(self.keys), "LC_ALL": "C"}
        command = [program, *batch, *arguments]
        return subprocess.run(
            command, env=environment, input=data, capture_output=True, text=True, check=True, timeout=60
        ).stdout

    def fingerprint(self, program: str) -> str:
        """Returns the fingerprint of the only key."""
        rows = self.gpg(program, "--list-keys", "--with-colons").splitlines()
        return next(row.split(":")[9] for row in rows if row.startswith("fpr:"))


class X509Home(OpenpgpHome):
    """The same with a certificate."""

    format = "x509"
    signer = "/CN=Rea Viewer"
    _WANTED = "Key-Type: RSA\nKey-Length: 2048\nKey-Usage: sign\nSerial: random\nName-DN: CN=Rea Viewer\n"

    def made_key(self) -> str:
        """Makes a certificate that vouches for itself, and trusts it; returns its fingerprint."""
        (self.keys / "gpg-agent.conf").write_text("allow-loopback-pinentry\n")
        (self.keys / "gpgsm.conf").write_text("disable-crl-checks\n")
        wanted, made = self.keys / "wanted", self.keys / "made"
        wanted.write_text(f"{self._WANTED}Creation-Date: 2020-01-01\nNot-After: 2050-01-01\n")
        loopback = ("--pinentry-mode", "loopback", "--passphrase-fd", "0")
        self.gpg("gpgsm", *loopback, "--output", str(made), "--gen-key", str(wanted))
        self.gpg("gpgsm", "--import", str(made))
        found = self.fingerprint("gpgsm")
        (self.keys / "trustlist.txt").write_text(f"{found} S relax\n")
        self.end()  # it reads the list when it starts
        return found


def _missing(program: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(shutil.which(program) is None, reason=f"{program} is not installed here")


OF_SSH = [pytest.param(Home, id="ssh", marks=_missing("ssh-keygen"))]


@pytest.fixture(
    params=[
        *OF_SSH,
        pytest.param(OpenpgpHome, id="openpgp", marks=_missing("gpg")),
        pytest.param(X509Home, id="x509", marks=_missing("gpgsm")),
    ]
)
def home(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Home]:
    """A home folder with a key, and git set up to sign with it; the path to gpg's own has to be short."""
    with tempfile.TemporaryDirectory(prefix="k", ignore_cleanup_errors=True) as keys:
        made: Home = request.param(tmp_path, Path(keys))
        yield made
        made.end()


def test_only_the_users_own_decisions_are_signed(home: Home) -> None:
    """What orchestrators save, and what somebody decides in another name, is not; git itself finds the others good."""
    said = home.said("tell")
    signed = {entry["subject"]: entry["signature"] for entry in said["log"] if entry["signature"]}
    assert signed == {"Phase 1 Concept Expansion approved": {"state": "good", "signer": home.signer}}
    assert said["report"]["signatures"] == {"good": 1, "bad": 0, "unchecked": 0, "none": 4}
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
    assert home.said("tell")["report"]["signatures"] == {"good": 0, "bad": 0, "unchecked": 0, "none": 5}


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
