"""Home folders of people whose git is set up to sign, each with keys of its own."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

REA = "Rea Viewer <rea@example.org>"
PROGRAM = """
import json, sys
from pathlib import Path
from haytham import CheckpointManager
manager, at = CheckpointManager(sys.argv[1]), ("p-1", "s-1")
if sys.argv[2] == "tell":
    manager.create_session(*at, "ada")
    manager.complete_phase(*at, 1, [{"agent_name": "concept_expansion", "output_content": "x"}])
    manager.save_user_feedback(*at, 1, reviewed=True, approved=True)
    manager.complete_phase(*at, 2, [{"agent_name": "market_intelligence", "output_content": "y"}])
    manager.save_user_feedback(*at, 2, reviewed=True, approved=True, reviewer="Bob <bob@example.org>")
if sys.argv[2] == "lists":
    told = []
    for text in json.load(sys.stdin):
        Path(sys.argv[3]).write_text(text)
        told += [entry["signature"] for entry in manager.log(*at) if entry["signature"]]
    sys.exit(json.dump(told, sys.stdout))
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

    def process(self, what: str, data: str = "", **more: str) -> subprocess.CompletedProcess[str]:
        """Runs the program as this user."""
        plain = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
        own = {"HOME": str(self.folder), "XDG_CONFIG_HOME": str(self.folder), "GNUPGHOME": str(self.keys)}
        environment = plain | own | more
        command = [sys.executable, "-c", PROGRAM, str(self.base), what, str(self.signers)]
        return subprocess.run(command, env=environment, input=data, capture_output=True, text=True, check=False)

    def said(self, what: str = "look", data: str = "", **more: str) -> Any:
        """Runs the program, and returns what it says: the log and the report or, for lists of signers, signatures."""
        done = self.process(what, data, **more)
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
    addresses: tuple[str, ...] = ("rea@example.org",)

    def made_key(self) -> str:
        """Makes a certificate that vouches for itself, and trusts it; returns its fingerprint."""
        (self.keys / "gpg-agent.conf").write_text("allow-loopback-pinentry\n")
        (self.keys / "gpgsm.conf").write_text("disable-crl-checks\n")
        wanted, made = self.keys / "wanted", self.keys / "made"
        listed = "".join(f"Name-Email: {address}\n" for address in self.addresses)
        wanted.write_text(f"{self._WANTED}{listed}Creation-Date: 2020-01-01\nNot-After: 2050-01-01\n")
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
OF_OPENPGP = [pytest.param(OpenpgpHome, id="openpgp", marks=_missing("gpg"))]
OF_X509 = [pytest.param(X509Home, id="x509", marks=_missing("gpgsm"))]
EACH = [*OF_SSH, *OF_OPENPGP, *OF_X509]


@contextmanager
def lived_in(kind: type[Home], folder: Path) -> Iterator[Home]:
    """Makes a home folder, and ends what was started for it; the path to the keys of gpg has to be short."""
    with tempfile.TemporaryDirectory(prefix="k", ignore_cleanup_errors=True) as keys:
        made = kind(folder, Path(keys))
        yield made
        made.end()


def counts(**some: int) -> dict[str, int]:
    """Returns counts of signatures: these, and else 0."""
    return {"good": 0, "unidentified": 0, "bad": 0, "unchecked": 0, "none": 0} | some
