"""The errors that Haytham raises.

::

    HaythamError
    ├── InvalidInput        (ValueError)         an argument cannot be used
    │   └── InvalidDocument                      a document cannot be understood; has every problem
    ├── NotFound            (FileNotFoundError)  no such project, session, phase or document
    ├── Conflict                                 somebody else changed it first
    ├── GateClosed                               a person has to decide before this may be done
    ├── StaleWriter                              somebody else claimed the session since
    ├── ReviewTimeout       (TimeoutError)       nobody decided in time
    ├── Locked              (TimeoutError)       another process holds the session
    ├── Halted                                   an agent was stopped by its guard; its state is saved
    ├── BrokenRepository                         the git repository of a folder is gone, moved or damaged
    ├── DamagedJournal                           an agent's journal is not as it was written
    ├── StorageFailure      (OSError)            the disk refused: full, read-only, failing
    └── InternalError                            a bug of Haytham's own

An error has fields, not prose: what (`message`), where (`location`), how to go on (`hint`).
This module does not print: the command line does.
"""

from dataclasses import dataclass
from typing import Self

from haytham.domain.records import ProblemRecord


@dataclass(frozen=True, kw_only=True, slots=True)
class Location:
    """Where in the user's files something is."""

    path: str = ""
    line: int | None = None
    section: str = ""
    field: str = ""

    def __str__(self) -> str:
        parts = [self.path] if self.path else []
        if self.line is not None:
            parts.append(f"line {self.line}")
        if self.section:
            parts.append(f'section "{self.section}"')
        if self.field:
            parts.append(f'field "{self.field}"')
        return ", ".join(parts)


@dataclass(frozen=True, kw_only=True, slots=True)
class Problem:
    """One fault of a document: what, where, how to go on."""

    message: str
    location: Location
    hint: str = ""

    def __str__(self) -> str:
        return "\n".join(_lines(self.message, self.location, self.hint))

    @classmethod
    def of(cls, record: ProblemRecord) -> Self:
        """Returns the problem that a record tells."""
        place = Location(path=record["path"], line=record["line"], section=record["section"], field=record["field"])
        return cls(message=record["message"], location=place, hint=record["hint"])

    def record(self) -> ProblemRecord:
        """Returns the problem as the managers return it."""
        return ProblemRecord(
            message=self.message,
            path=self.location.path,
            line=self.location.line,
            section=self.location.section,
            field=self.location.field,
            hint=self.hint,
        )


class HaythamError(Exception):
    """Anything that Haytham reports to its caller; `problems` has all that it reports, mostly one."""

    def __init__(self, message: str, *, location: Location | None = None, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.location = location or Location()
        self.hint = hint
        self.problems: tuple[Problem, ...] = (Problem(message=message, location=self.location, hint=hint),)

    def __str__(self) -> str:
        return "\n".join(_lines(self.message, self.location, self.hint))


class InvalidInput(HaythamError, ValueError):  # noqa: N818 - named by what is wrong, like the builtins it refines
    """An argument cannot be used: a bad id, number, status, mode, action or text."""


class InvalidDocument(InvalidInput):
    """A document cannot be understood; `problems` has all of them, in the order of their lines."""

    def __init__(self, problems: list[Problem]) -> None:
        first = problems[0]
        super().__init__(first.message, location=first.location, hint=first.hint)
        self.problems = tuple(problems)

    def __str__(self) -> str:
        return "\n".join(str(problem) for problem in self.problems)


class NotFound(HaythamError, FileNotFoundError):  # noqa: N818
    """There is no such project, session, phase or document."""


class Conflict(HaythamError):  # noqa: N818
    """Somebody else changed it first; nothing of theirs was overwritten."""


class GateClosed(HaythamError):  # noqa: N818
    """A person has to decide first: a required review is missing, or the attempts at a phase are used up."""


class StaleWriter(HaythamError):  # noqa: N818
    """Somebody else claimed the session since; nothing was written."""


class ReviewTimeout(HaythamError, TimeoutError):  # noqa: N818
    """Nobody decided within the time given."""


class Locked(HaythamError, TimeoutError):  # noqa: N818
    """Another process holds the session for longer than we may wait."""


class Halted(HaythamError):  # noqa: N818
    """An agent was stopped by its guard; its state is saved, and can be resumed."""


class BrokenRepository(HaythamError):  # noqa: N818
    """The git repository of a folder is gone, on another branch, or damaged."""


class DamagedJournal(HaythamError):  # noqa: N818
    """An agent's journal is not as it was written; nothing of it was changed."""


class StorageFailure(HaythamError, OSError):  # noqa: N818
    """The disk refused a write; nothing was acknowledged."""


class InternalError(HaythamError):
    """A bug of Haytham's own, noticed before it could do harm."""


def _lines(message: str, location: Location, hint: str) -> list[str]:
    lines = [message]
    if where := str(location):
        lines.append(f"  {where}")
    if hint:
        lines.append(f"Hint: {hint}")
    return lines
