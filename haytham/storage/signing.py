"""Signatures of commits, as the user's git is set up: made for what people do in their own name, and checked.

Only the user's own settings count. A repository's could name any program, and are never asked.
"""

from collections.abc import Callable
from pathlib import Path

from haytham.domain.errors import StorageFailure
from haytham.storage import user_git
from haytham.storage.history_user import user_settings

_YES = {"true", "yes", "on", "1"}
_PROGRAMS = {"openpgp": "gpg", "x509": "gpgsm", "ssh": "ssh-keygen"}
_CHECKING = {
    **{f"gpg.{name}.program": program for name, program in _PROGRAMS.items()},
    "gpg.program": "gpg",
    "gpg.ssh.allowedSignersFile": "/dev/null",
    "gpg.ssh.revocationFile": "/dev/null",
    "gpg.minTrustLevel": "undefined",
}
_STATES = {"G": "good", "B": "bad", "R": "bad"}  # all else cannot be told: no key, one nobody trusts, expired

GOOD, BAD, UNCHECKED = "good", "bad", "unchecked"


def signer() -> Callable[[bytes], str] | None:
    """Returns what signs in the user's name, or None if their git is not set up to sign commits."""
    names = ("commit.gpgsign", "gpg.format", "user.signingkey", "user.email", "gpg.program")
    settings = user_settings(*names, *(f"gpg.{name}.program" for name in _PROGRAMS))
    if settings.get("commit.gpgsign", "").lower() not in _YES:
        return None
    command = _command(settings)
    return lambda data: _signed(command, data)


def checked(folder: Path, head: str) -> dict[str, tuple[str, str]]:
    """Returns the state of each signed commit's signature and its signer, for commits that lead to `head`."""
    own = user_settings(*_CHECKING)
    found = user_git.signatures(folder, head, _CHECKING | own)
    return {commit: (_STATES.get(letter, UNCHECKED), who) for commit, (letter, who) in found.items()}


def _command(settings: dict[str, str]) -> list[str]:
    kind = settings.get("gpg.format", "openpgp")
    default = settings.get("gpg.program", "gpg") if kind == "openpgp" else _PROGRAMS.get(kind, kind)
    program = settings.get(f"gpg.{kind}.program", default)
    key = settings.get("user.signingkey", settings.get("user.email", ""))
    if kind == "ssh":
        return [program, "-Y", "sign", "-n", "git", "-f", str(Path(key).expanduser())]
    return [program, "-bsau", key]


def _signed(command: list[str], data: bytes) -> str:
    status, output, words = user_git.run(command, data)
    if status != 0 or not output.startswith(b"-----BEGIN"):
        reason = words.splitlines()[-1] if words else f"{command[0]} ended with status {status}"
        raise StorageFailure(
            f"the commit cannot be signed, as the user's git is set up to: {reason}; nothing was saved.",
            hint="mend the key that user.signingkey names (for ssh: a file), or unset commit.gpgsign.",
        )
    return output.decode()
