"""The problems found in one document, each with its line."""

from haytham.documents.outline import Source
from haytham.documents.rules import Rule
from haytham.documents.schemas import Fault, Path
from haytham.domain.errors import InvalidDocument, Location, Problem


class Report:
    """Collects problems, and the places of values so that a fault of the schema gets its line."""

    def __init__(self, source: Source, root: Rule) -> None:
        self._source = source
        self._root = root
        self._problems: list[Problem] = []
        self._places: dict[Path, int] = {}
        self._excused: set[Path] = set()

    def add(self, offset: int, message: str, *, hint: str = "", section: str = "", field: str = "") -> None:
        """Notes a problem."""
        location = Location(path=self._source.path, line=self._source.line(offset), section=section, field=field)
        self._problems.append(Problem(message=message, location=location, hint=hint))

    def place(self, path: Path, offset: int) -> None:
        """Notes where a value stands."""
        self._places[path] = offset

    def excuse(self, path: Path) -> None:
        """Notes that a value is missing only because of a problem that is already reported."""
        self._excused.add(path)

    def add_faults(self, faults: list[Fault]) -> None:
        """Notes what the schema finds wrong, unless it is excused."""
        for fault in faults:
            if fault.path not in self._excused:
                section, *inner = self._titles(fault.path)
                offset = self._offset(fault.path)
                self.add(offset, fault.message, hint=fault.hint, section=section, field=inner[-1] if inner else "")

    def raise_if_any(self) -> None:
        """Raises InvalidDocument with every problem, in the order of their lines."""
        if self._problems:
            raise InvalidDocument(sorted(self._problems, key=lambda problem: problem.location.line or 0))

    def _offset(self, path: Path) -> int:
        while path and path not in self._places:
            path = path[:-1]
        return self._places.get(path, len(self._source.text.rstrip()))

    def _titles(self, path: Path) -> list[str]:
        names: list[str] = []
        rule: Rule | None = self._root
        for key in path:
            if isinstance(key, str):
                rule = rule.children.get(key) if rule else None
                names.append(rule.title if rule else key)
        return names or [""]
