"""What a shell is told when a person presses the tab key."""

from pathlib import Path

import pytest

from tests.cli.conftest import Said, Sample, process


def _offered(line: str, base: Path) -> list[str]:
    """Returns what bash is offered at the end of a command line."""
    words = line.split(" ")
    said = process(cwd=base, _HAYTHAM_COMPLETE="bash_complete", COMP_WORDS=line, COMP_CWORD=str(len(words) - 1))
    assert (said.code, said.err) == (0, "")
    return [each.removeprefix("plain,") for each in said.out.splitlines()]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_script(shell: str) -> None:
    """Each shell gets a script of its own, which asks the program again."""
    said = process(_HAYTHAM_COMPLETE=f"{shell}_source")
    assert (said.code, said.err) == (0, "")
    assert f"_HAYTHAM_COMPLETE={shell}_complete" in said.out


def test_commands(tmp_path: Path) -> None:
    """Commands are completed, also where nothing is typed yet."""
    assert _offered("haytham re", tmp_path) == ["resume", "review", "request-changes", "repair"]
    assert "status" in _offered("haytham ", tmp_path)


def test_options(tmp_path: Path) -> None:
    """The options of a command are completed."""
    assert _offered("haytham log --l", tmp_path) == ["--limit"]


def test_ids(sample: Sample, tmp_path: Path) -> None:
    """Projects and sessions are completed, those of the project that is named."""
    other = tmp_path / "other"
    (other / "p-2" / "sessions" / "s-2").mkdir(parents=True)
    assert _offered("haytham status --project ", tmp_path) == [sample.project]
    assert _offered(f"haytham status --project {sample.project[:10]}", tmp_path) == [sample.project]
    assert _offered("haytham status --session ", tmp_path) == [sample.session]
    assert _offered("haytham status --base-dir other --session s", tmp_path) == ["s-2"]


def test_nonsense() -> None:
    """A shell that nobody knows is an error, not a traceback."""
    assert process(_HAYTHAM_COMPLETE="csh_source") == Said(code=1, out="", err="")
