"""What the audit returns: the written form of every dict that crosses the border."""

from typing import TypedDict

from haytham.domain.records import ProblemRecord


class AuthorRecord(TypedDict):
    """Whom a commit is by."""

    name: str
    email: str


class SignatureRecord(TypedDict):
    """What the user's git says about a commit's signature: state is good, bad or unchecked.

    `identity` tells whose a good one is: author, other, or unchecked, if the signer has no address to tell it by.
    """

    state: str
    signer: str
    identity: str


class LogRecord(TypedDict):
    """One commit in a log; `session_id` is None in a project's own history, `signature` for an unsigned commit."""

    id: str
    time: str
    author: AuthorRecord
    subject: str
    body: str
    trailers: dict[str, str]
    session_id: str | None
    signature: SignatureRecord | None


class PhaseSnapshot(TypedDict):
    """A phase as it was at a commit: its documents, by name, byte for byte as text."""

    phase_num: int
    phase_name: str
    commit: str
    time: str
    subject: str
    status: str
    attempt: int | None
    content: str
    documents: dict[str, str]


class FindingRecord(ProblemRecord):
    """Something that verification found: of what kind it is, and in which commit, where it is about one."""

    kind: str
    commit: str | None


class SignatureCounts(TypedDict):
    """How many commits are signed, by what the user's git says about the signature.

    `unidentified` are those of the good ones whose signer has no address.
    """

    good: int
    unidentified: int
    bad: int
    unchecked: int
    none: int


class VerifyReport(TypedDict):
    """What the verification of one folder found; `head` is its newest commit, to be noted elsewhere.

    `noted_head` is the one by the note of the last save; without the note, as in a clone, nothing but a head that
    was noted elsewhere can tell a missing end.
    """

    folder: str
    session_id: str | None
    head: str | None
    noted_head: str | None
    commits: int
    documents: int
    signatures: SignatureCounts
    findings: list[FindingRecord]
