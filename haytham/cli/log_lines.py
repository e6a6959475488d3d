"""The log as lines for people, each of pieces with a style of their own; imports hardly anything, as `quick_log`."""

from haytham.cli.styles import STYLES
from haytham.cli.visible import visible

TYPE_CHECKING = False  # as of typing, which takes a while to import
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from haytham.domain.audit_records import LogRecord

    Pieces = list[tuple[str, str]]

NOTHING = "Nothing of that is in the history."
INDENT = 19  # of what is said below a subject: the width of time, id and two gaps

_SIGNATURES = {
    "bad": ("bad signature", "red"),
    "unchecked": ("signature not checked", "yellow"),
}
_SIGNERS = {  # of good ones
    "author": ("signed", "green"),
    "other": ("signed by somebody else", "red"),
    "unchecked": ("signed, identity not checked", "yellow"),
}
_SHORT_ID = 7
_DAY, _CLOCK = len("2026-01-31"), slice(11, 19)


def lines(entries: "Iterable[LogRecord]", *, with_session: bool) -> "Iterator[tuple[int, Pieces]]":
    """Yields lines, each with how far it is indented: a head for each day, and two for each entry."""
    day = None
    for entry in entries:
        if day != entry["time"][:_DAY]:
            day = entry["time"][:_DAY]
            yield 0, [(f"{day} (UTC)", "bold")]
        yield (
            0,
            [
                (f"{entry['time'][_CLOCK]}  ", ""),
                (entry["id"][:_SHORT_ID], "yellow"),
                ("  ", ""),
                (visible(entry["subject"]), "bold"),
            ],
        )
        yield INDENT, _separated(_below(entry, with_session=with_session))
    if day is None:
        yield 0, [(NOTHING, "")]


def _result(entry: "LogRecord") -> str:
    """Returns the decision or the status that a commit tells."""
    trailers = entry["trailers"]
    return trailers.get("Haytham-Decision") or trailers.get("Haytham-Status") or ""


def _below(entry: "LogRecord", *, with_session: bool) -> "Pieces":
    result, signature, session = _result(entry), entry["signature"], entry["session_id"]
    return [
        *([(visible(session), "cyan")] if with_session and session is not None else []),
        (visible(entry["author"]["name"]), ""),
        *([(visible(result), STYLES.get(result, ""))] if result else []),
        *([_SIGNATURES.get(signature["state"]) or _SIGNERS[signature["identity"]]] if signature else []),
    ]


def _separated(pieces: "Pieces") -> "Pieces":
    return [each for piece in pieces for each in ((", ", ""), piece)][1:]
