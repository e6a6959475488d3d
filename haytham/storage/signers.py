"""Whose keys they are: the addresses that the user's own keyrings and lists give to the key of a signature.

Git names one of a key's owners, and a key may have several addresses, or none.
"""

import base64
import binascii
import glob
import hashlib
import re
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from pathlib import Path

from haytham.storage import user_git
from haytham.storage.history_user import user_settings
from haytham.storage.user_git import Signature

Names = tuple[str, ...]  # patterns in small letters; one that begins with "!" takes back what the others allow

_SSH = "SHA256:"
_LINE = re.compile(r'(?P<names>"[^"]*"|\S+)\s+(?:(?P<options>\S.*?)\s+)?(?:sk-)?(?:ssh|ecdsa)-\S+\s+(?P<key>[\w+/]+=*)')
_ADDRESS = re.compile(r"<([^<>\s]+@[^<>\s]+)>\Z|\A([^<>\s,=]+@[^<>\s,=]+)\Z")
_ESCAPED = re.compile(r"\\x([0-9a-fA-F]{2})")
_TRUSTED, _NEVER = "ufm", "rein"  # validity: ultimate, full, marginal; revoked, expired, invalid, not to be trusted


def names(signature: Signature, programs: Mapping[str, str]) -> tuple[Names, ...]:
    """Returns the addresses of a signature's key, as groups of patterns; none if its owner has no address."""
    if signature.key.startswith(_SSH):
        return tuple(each for each in _of_ssh(signature) if _has_address(each))
    kind = "openpgp" if signature.primary_key else "x509"
    owners = _listed(programs[kind], signature.primary_key or signature.key) or [signature.signer]
    found = [match[1] or match[2] for match in map(_ADDRESS.search, owners) if match]
    return tuple((glob.escape(address.casefold()),) for address in found)


def is_one_of(groups: Iterable[Names], address: str) -> bool:
    """Tells whether an address is one of those that groups of patterns name, whatever the case of its letters."""
    own = address.casefold()
    hits = [{name[0] == "!" for name in group if fnmatchcase(own, name.removeprefix("!"))} for group in groups]
    return {False} in hits


def _listed(program: str, key: str) -> list[str]:
    """Returns the owners of a key in a keyring: those whom somebody vouches for, where there are any."""
    if not key.isalnum():
        return []
    status, output, _ = user_git.run([program, "--batch", "--with-colons", "--list-keys", key], b"")
    rows = [line.split(":") for line in output.decode(errors="replace").splitlines() if line.startswith("uid:")]
    owners = [(row[1], _ESCAPED.sub(lambda found: chr(int(found[1], 16)), row[9])) for row in rows if status == 0]
    trusted = [owner for validity, owner in owners if validity and validity in _TRUSTED]
    return trusted or [owner for validity, owner in owners if not validity or validity not in _NEVER]


def _of_ssh(signature: Signature) -> list[Names]:
    """Returns the names of each line of the user's list of signers that is about a key.

    A line with options, such as an end of its time, counts only if it is the one that git named the signer by.
    """
    found = []
    for line in _signers_file().splitlines():
        match = _LINE.match(line.strip())
        if match is None or _fingerprint(match["key"]) != signature.key:
            continue
        listed = match["names"].strip('"').split(",")
        if match["options"] is None or listed[0] == signature.signer:
            found.append(_patterns(listed))
    return found or [_patterns([signature.signer])]


def _signers_file() -> str:
    place = user_settings("gpg.ssh.allowedSignersFile").get("gpg.ssh.allowedSignersFile")
    try:
        return Path(place).expanduser().read_text(encoding="utf-8", errors="replace") if place else ""
    except (OSError, RuntimeError):  # which is no home folder to be found
        return ""


def _fingerprint(key: str) -> str:
    try:
        return _SSH + base64.b64encode(hashlib.sha256(base64.b64decode(key)).digest()).decode().rstrip("=")
    except binascii.Error:
        return ""


def _patterns(listed: Iterable[str]) -> Names:
    return tuple(name.casefold().replace("[", "[[]") for name in listed if name)


def _has_address(group: Names) -> bool:
    return any("@" in name and name[0] != "!" for name in group)
