"""The page about the journal: its example writes what it shows, and each row of its tables has its test."""

import ast
import itertools
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from haytham.journal.journal import Journal
from haytham.journal.journals import Journals

HERE = Path(__file__).parent
PAGE = (HERE.parents[1] / "docs" / "journal.md").read_text(encoding="utf-8")
SECTIONS = re.findall(r"^### .* \(`(test_seed_\d+)\.py`\)\n\n((?:\|.*\n)+)", PAGE, re.MULTILINE)


class Session:
    """Stands for a session whose clock and ids are known."""

    def __init__(self, folder: Path) -> None:
        ids = itertools.count(1)
        start = datetime(2026, 1, 31, 10, tzinfo=UTC)
        times = (start + timedelta(seconds=30 * number) for number in itertools.count(1))
        self._journals = Journals(
            folder / "journal",
            folder / "notes",
            "session-1",
            clock=times.__next__,
            make_id=lambda: f"{next(ids):024x}",
        )

    def journal(self, _number: int, agent: str) -> Journal:
        """Returns the journal of an agent."""
        return self._journals.journal(agent)


def _block(language: str) -> str:
    found = re.search(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    assert found is not None
    return found[1]


def test_example_writes_the_document(tmp_path: Path) -> None:
    """The code of the page, run, gives the document of the page, byte for byte."""
    names: dict[str, object] = {"session": Session(tmp_path)}
    exec(compile(_block("python"), "journal.md", "exec"), names)  # noqa: S102 - our own page
    journal = names["journal"]
    assert isinstance(journal, Journal)
    assert _block("markdown") == journal.path.read_text(encoding="utf-8")


def _rows() -> Iterator[tuple[str, str]]:
    for module, table in SECTIONS:
        for row in table.splitlines()[2:]:
            yield module, row.rsplit("|", 2)[1].strip().strip("`")


def _tests(module: str) -> list[str]:
    tree = ast.parse((HERE / f"{module}.py").read_text(encoding="utf-8"))
    return [node.name for node in tree.body if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")]


@pytest.mark.parametrize("module", ["test_seed_000", "test_seed_001", "test_seed_002", "test_seed_003"])
def test_each_row_has_its_test_and_each_test_its_row(module: str) -> None:
    """What the tables promise is tested under that name, and what is tested stands in the tables."""
    assert sorted(_tests(module)) == sorted(name for place, name in _rows() if place == module)


@pytest.mark.parametrize(
    "order", [(0, 1, 3), (0, 2, 3), (1, 2, 3), (0, 2, 1, 3), (0, 1, 1, 2, 3), (0, 1, 2, 2, 3), (0, 1, 2, 3, 3)]
)
def test_verify_finds_entries_that_are_missing_moved_or_doubled(tmp_path: Path, order: tuple[int, ...]) -> None:
    """What the page says of `verify`: the first part is the head of the file, the others are entries."""
    journal = Session(tmp_path).journal(1, "writer")
    for number in range(3):
        journal.save({"number": number})
    parts = re.split(rb"(?<=-->\n)", journal.path.read_bytes())[:4]
    assert (b"".join(parts), journal.verify()) == (journal.path.read_bytes(), [])
    journal.path.write_bytes(b"".join(parts[place] for place in order))
    assert len(journal.verify()) == 1
