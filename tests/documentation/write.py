"""Writes the parts of the pages that are made: `make docs`. Not a pytest file."""

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from tests.documentation import api_reference, cli_reference, console, formats

DOCS = Path(__file__).resolve().parent.parent.parent / "docs"
MARK = "<!-- Below this line: made by `make docs`. -->\n"
MADE: dict[str, Callable[[], str]] = {
    "api.md": api_reference.made,
    "cli.md": cli_reference.made,
    "formats.md": formats.made,
}


def text_of(name: str) -> str:
    """Returns a page as it is."""
    return (DOCS / name).read_text(encoding="utf-8")


def page(name: str) -> str:
    """Returns a page as it should be: what people wrote, and below the mark what is made."""
    head, mark, _ = text_of(name).partition(MARK)
    return f"{head}{mark}\n{MADE[name]()}"


def main() -> int:
    """Writes them all, and what the commands of the tutorial print."""
    for name in MADE:
        (DOCS / name).write_text(page(name), encoding="utf-8")
    with tempfile.TemporaryDirectory(prefix="haytham-tutorial-") as folder:
        tutorial = console.filled_in(text_of("tutorial.md"), console.Person(Path(folder)))
    if console.unvaried(tutorial.splitlines()) != console.unvaried(text_of("tutorial.md").splitlines()):
        (DOCS / "tutorial.md").write_text(tutorial, encoding="utf-8")  # not for other ids and times alone
    return 0


if __name__ == "__main__":
    sys.exit(main())
