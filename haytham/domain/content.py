"""The fingerprint of what a phase produced: what an approval is bound to."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass


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


def _sha256(data: bytes) -> str:
    return f"sha256:{hashlib.sha256(data).hexdigest()}"
