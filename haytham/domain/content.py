"""The fingerprint of what a phase produced: what an approval is bound to."""

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass

_HASH = re.compile(r"sha256:[0-9a-f]{64}\Z")


@dataclass(frozen=True, kw_only=True, slots=True)
class Content:
    """The hash of a set of files, and of each of them."""

    hash: str
    files: Mapping[str, str]


def of(files: Mapping[str, bytes]) -> Content:
    """Hashes files by name and bytes; `sha256sum` of each file gives the same figures."""
    each = {name: _sha256(data) for name, data in sorted(files.items())}
    listing = "".join(f"{digest.removeprefix('sha256:')}  {name}\n" for name, digest in each.items())
    return Content(hash=_sha256(listing.encode()), files=each)


def is_hash(text: str) -> bool:
    """Tells whether a text has the form of a content's hash."""
    return bool(_HASH.match(text))


def differences(before: Mapping[str, str], after: Mapping[str, str]) -> str:
    """Words how two sets of files differ, given the hash of each file by its name."""
    changed = [f"{name} changed" for name in before if name in after and before[name] != after[name]]
    gone = [f"{name} is gone" for name in before if name not in after]
    new = [f"{name} is new" for name in after if name not in before]
    return ", ".join([*changed, *gone, *new])


def _sha256(data: bytes) -> str:
    return f"sha256:{hashlib.sha256(data).hexdigest()}"
