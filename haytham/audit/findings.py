"""What a verification found so far, in the order in which it looked."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from haytham.domain.audit_records import FindingRecord
from haytham.domain.errors import HaythamError, Location, Problem

Read = TypeVar("Read")

DOCUMENT, EDITED, CONTENT, APPROVAL = "document", "edited", "content", "approval"
CHAIN, HISTORY, OBJECTS, JOURNAL, SIGNATURE = "chain", "history", "objects", "journal", "signature"
KINDS = (DOCUMENT, EDITED, CONTENT, APPROVAL, CHAIN, HISTORY, OBJECTS, JOURNAL, SIGNATURE)

_SHORT = 7


class Findings:
    """The findings about one folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.records: list[FindingRecord] = []

    def add(self, kind: str, message: str, name: str = "", hint: str = "", commit: str | None = None) -> None:
        """Notes something that is wrong with a file, or with the folder as a whole."""
        place = Location(path=str(self._folder / name if name else self._folder))
        self._note(kind, Problem(message=message, location=place, hint=hint), commit)

    def attempt(self, kind: str, reader: Callable[[], Read]) -> Read | None:
        """Returns what there is to read, or notes why there is none."""
        try:
            return reader()
        except HaythamError as error:
            self.take(kind, error.problems)
            return None

    def take(self, kind: str, problems: Sequence[Problem]) -> None:
        """Notes problems that others found."""
        for problem in problems:
            self._note(kind, problem, None)

    def _note(self, kind: str, problem: Problem, commit: str | None) -> None:
        self.records.append(FindingRecord(**problem.record(), kind=kind, commit=commit))


def short(commit: str) -> str:
    """Returns the beginning of a commit's id, as git shows it."""
    return commit[:_SHORT]
