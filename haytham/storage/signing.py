"""Signatures of commits, as the user's git is set up: made for what people do in their own name, and checked.

Only the user's own settings count. A repository's could name any program, and are never asked.
"""

import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from haytham.domain.errors import StorageFailure
from haytham.storage import signers, user_git
from haytham.storage.history_user import user_settings, user_wants

_PROGRAMS = {"openpgp": "gpg", "x509": "gpgsm", "ssh": "ssh-keygen"}
_LITERAL = ("key::", "ssh-")  # an ssh key itself, as git tells it from a file
_TRUST = {
    "gpg.ssh.allowedSignersFile": "/dev/null",
    "gpg.ssh.revocationFile": "/dev/null",
    "gpg.minTrustLevel": "undefined",
}
_ANSWER = {"i18n.logOutputEncoding": "UTF-8", "log.showSignature": "false"}  # the answer is read, not shown
_STATES = {"G": "good", "B": "bad", "R": "bad"}  # all else cannot be told: no key, one nobody trusts, expired

GOOD, BAD, UNCHECKED = "good", "bad", "unchecked"
AUTHOR, OTHER = "author", "other"


@dataclass(frozen=True, kw_only=True, slots=True)
class Verdict:
    """What is known about a signature: its state, who made it as git names them, and their addresses."""

    state: str = UNCHECKED
    signer: str = ""
    names: tuple[signers.Names, ...] = ()

    def identity(self, author: str) -> str:
        """Tells whether the signer is the author with an address, or another one; unchecked if that cannot be told."""
        if self.state != GOOD or not self.names:
            return UNCHECKED
        return AUTHOR if signers.is_one_of(self.names, author) else OTHER


def signer() -> Callable[[bytes], str] | None:
    """Returns what signs in the user's name, or None if their git is not set up to sign commits."""
    if not user_wants("commit.gpgsign"):
        return None
    settings = user_settings("gpg.format", "user.signingkey", "user.email")
    return lambda data: _signed(settings, data)


def checked(folder: Path, head: str) -> dict[str, Verdict]:
    """Returns what is known about the signatures of commits that lead to `head`, by id."""
    programs = {kind: _program(kind) for kind in _PROGRAMS}
    named = {f"gpg.{kind}.program": program for kind, program in programs.items()}
    found = user_git.signatures(folder, head, named | _TRUST | user_settings(*_TRUST) | _ANSWER)
    known = {each: _verdict(each, programs) for each in set(found.values())}
    return {commit: known[each] for commit, each in found.items()}


def _verdict(signature: user_git.Signature, programs: Mapping[str, str]) -> Verdict:
    state = _STATES.get(signature.letter, UNCHECKED)
    names = signers.names(signature, programs) if state == GOOD else ()
    return Verdict(state=state, signer=signature.signer, names=names)


def _program(kind: str) -> str:
    """Returns the user's program for a kind of signatures; only that of openpgp has two names."""
    names = (f"gpg.{kind}.program", *(("gpg.program",) if kind == "openpgp" else ()))
    own = user_settings(*names)
    return next((own[name] for name in names if name in own), _PROGRAMS.get(kind, kind))


def _signed(settings: dict[str, str], data: bytes) -> str:
    kind = settings.get("gpg.format", "openpgp")
    key = settings.get("user.signingkey", settings.get("user.email", ""))
    if kind != "ssh":
        return _signature([_program(kind), "-bsau", key], data)
    command = [_program(kind), "-Y", "sign", "-n", "git", "-f"]
    if not key.startswith(_LITERAL):
        return _signature([*command, str(Path(key).expanduser())], data)
    with tempfile.NamedTemporaryFile("w", prefix="haytham-", suffix=".pub") as file:
        file.write(key.removeprefix("key::") + "\n")
        file.flush()
        return _signature([*command, file.name, "-U"], data)  # the agent has the other half


def _signature(command: list[str], data: bytes) -> str:
    status, output, words = user_git.run(command, data)
    if status != 0 or not output.startswith(b"-----BEGIN"):
        reason = words.splitlines()[-1] if words else f"{command[0]} ended with status {status}"
        raise StorageFailure(
            f"the commit cannot be signed, as the user's git is set up to: {reason}; nothing was saved.",
            hint="mend the key that user.signingkey names (for ssh: a file, or a key of the agent), "
            "or unset commit.gpgsign.",
        )
    return output.decode()
