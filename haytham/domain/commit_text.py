"""What git keeps of a commit, as text: read without any library, so that a look at the log can be quick."""

TYPE_CHECKING = False  # as of typing, which takes as long to import as a history to be read
if TYPE_CHECKING:
    from typing import TypedDict

    class CommitFields(TypedDict):
        """The parts of a commit that the log is about."""

        parents: list[str]
        name: str
        email: str
        seconds: int
        subject: str
        body: str
        trailers: dict[str, str]
        is_signed: bool


_PICKED = "(cherry picked from commit "  # git adds it below the trailers


def read(data: bytes) -> "CommitFields":
    """Takes apart the bytes of a commit, as `git cat-file` shows them; raises ValueError if they are none."""
    head, _, text = data.partition(b"\n\n")
    headers = [line for line in head.split(b"\n") if not line.startswith(b" ")]
    named = dict(line.split(b" ", 1) for line in headers if b" " in line)
    encoding = named.get(b"encoding", b"utf-8")
    name, _, rest = _decoded(named.get(b"author", b""), encoding).partition(" <")
    subject, body, trailers = _message(_decoded(text.partition(b"\0")[0], encoding))
    return {
        "parents": [line[7:].decode() for line in headers if line.startswith(b"parent ")],
        "name": name,
        "email": rest.rpartition("> ")[0],
        "seconds": int(named.get(b"committer", b"").rpartition(b"> ")[2].partition(b" ")[0]),
        "subject": subject,
        "body": body,
        "trailers": trailers,
        "is_signed": b"gpgsig" in named,
    }


def _decoded(text: bytes, encoding: bytes) -> str:
    try:
        return text.decode(encoding.decode("ascii"), "replace")
    except (LookupError, UnicodeDecodeError):
        return text.decode(errors="replace")


def _message(text: str) -> tuple[str, str, dict[str, str]]:
    """Returns subject, body and trailers: the last paragraph, unless it is the first or holds anything else."""
    lines = [line.rstrip() for line in text.strip().split("\n")]
    subject, rest = lines[0], "\n".join(lines[1:])
    above, gap, last = f"\n{rest}".rpartition("\n\n")
    trailers = _trailers(last.split("\n")) if gap else {}
    return subject, (above if trailers else rest).strip("\n"), trailers


def _trailers(lines: list[str]) -> dict[str, str]:
    """Returns the trailers of a paragraph, the last of each name; none if any line is something else."""
    found: dict[str, str] = {}
    key = ""
    for line in lines:
        if key and line.startswith((" ", "\t")):
            found[key] += f" {line.strip()}"
        elif not line.startswith(_PICKED):
            key, colon, value = line.partition(":")
            if not colon or not (key.isascii() and key.replace("-", "").isalnum()):
                return {}
            found[key] = value.strip()
    return found
