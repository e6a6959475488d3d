"""The documentation is true: what is made is up to date, what is shown runs, what is named exists."""

import ast
import importlib
import re
import subprocess
import sys
from pathlib import Path

import pytest

import haytham
from tests.cli.conftest import all_commands
from tests.documentation import console, write

ROOT = write.DOCS.parent
PAGES = sorted(path.name for path in write.DOCS.glob("*.md"))


@pytest.mark.parametrize("name", write.MADE)
def test_made_pages_are_up_to_date(name: str) -> None:
    """Below the mark of a page stands what would be made now; if this fails: make docs."""
    assert write.page(name).splitlines() == write.text_of(name).splitlines()


def test_every_command_is_documented() -> None:
    """Each command has its part in the page about the command line, and its twin in the API."""
    commands = [name for name, _ in all_commands()]
    parts = re.findall(r"^## haytham (.+)$", write.text_of("cli.md"), re.MULTILINE)
    rows = re.findall(r"^\| `haytham ([^`]+)` \|", write.text_of("api.md"), re.MULTILINE)
    assert parts == commands
    assert [name for name in commands if not any(f"{row} ".startswith(f"{name} ") for row in rows)] == []
    assert [row for row in rows if not any(f"{row} ".startswith(f"{name} ") for name in commands)] == []


def test_twins_exist() -> None:
    """Each call in the table of twins is one that there is."""
    table = write.text_of("api.md").partition(write.MARK)[0]
    named = re.findall(r"`([A-Z]\w+)\.(\w+)\(", table)
    assert len(named) > 15
    assert [(owner, call) for owner, call in named if not hasattr(getattr(haytham, owner), call)] == []
    ((module, call),) = re.findall(r"`(haytham\.[\w.]+)\.(\w+)\(", table)
    assert callable(getattr(importlib.import_module(module), call))


def test_tutorial_word_for_word(tmp_path: Path) -> None:
    """Somebody who types the commands of the tutorial sees what it shows, in a terminal of 80 columns."""
    person = console.Person(tmp_path)
    steps = list(console.steps(write.text_of("tutorial.md")))
    assert len(steps) > 15
    for step in steps:
        seen = [step.command, *console.unvaried(person.types(step.command))]
        assert [step.command, *console.unvaried(step.expected)] == seen


def test_tutorial_fits_80_columns() -> None:
    """No command of the tutorial, and nothing that it prints, is wider than the terminal."""
    steps = list(console.steps(write.text_of("tutorial.md")))
    assert [step.command for step in steps if len(f"$ {step.command}") > 80] == []
    assert [line for step in steps for line in step.expected if len(line) > 80] == []


def test_another_output_is_noticed() -> None:
    """What may differ is left out of the comparison, and nothing else."""
    shown = ["Session   session-0123456789ab", "12:00:01  abcdef0  Phase 1 done", "1  x      0.5s  -"]
    other = ["Session   session-ba9876543210", "23:59:59  0123456  Phase 1 done", "1  x     10.5s  -"]
    assert console.unvaried(shown) == console.unvaried(other)
    assert console.unvaried(shown) != console.unvaried([*other[:2], "1  y     10.5s  -"])


def test_embedding_runs(tmp_path: Path) -> None:
    """The blocks about orchestrators are one program that prints what the page says."""
    text = write.text_of("embedding.md")
    program = "\n".join(re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL))
    (expected,) = re.findall(r"^```text\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=120
    )
    assert (done.stderr, done.stdout) == ("", expected)


def test_proofs_exist() -> None:
    """Each test that a promise names is there, under its name."""
    named = re.findall(r"`(tests/[\w/]+\.py)(?:::(\w+))?`", write.text_of("promises.md"))
    assert len(named) > 15
    for path, name in named:
        tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
        functions = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
        assert not name or name in functions, f"{path} has no {name}"


@pytest.mark.parametrize("name", ["../README.md", *PAGES])
def test_links_lead_somewhere(name: str) -> None:
    """A link to another file leads to one that exists."""
    path = write.DOCS / name
    links = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", path.read_text(encoding="utf-8"))
    assert [link for link in links if not (path.parent / link).exists()] == []


def test_every_page_is_in_the_index() -> None:
    """No page is left out of the index."""
    index = write.text_of("README.md")
    assert [name for name in PAGES if name != "README.md" and f"({name})" not in index] == []
