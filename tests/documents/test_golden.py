"""Feedback forms as people leave them: real files, with what is read from them or said about them beside each."""

import json
from pathlib import Path

import pytest

from haytham.documents.reader import read
from haytham.documents.renderer import checked
from haytham.domain import reviews
from haytham.domain.errors import InvalidDocument

_GOLDEN = Path(__file__).parent.parent / "golden"
_UNDERSTOOD = sorted(_GOLDEN.glob("understood/*.md"))
_BROKEN = sorted(_GOLDEN.glob("broken/*.md"))
_KIND = "user_feedback"


def _name(path: Path) -> str:
    return path.stem


def _text(path: Path) -> str:
    return path.read_bytes().decode()


@pytest.mark.parametrize("path", _UNDERSTOOD, ids=_name)
def test_understood(path: Path) -> None:
    """A form that was edited in this way is understood: what it decides, what it says, what was added to it."""
    document = read(_KIND, _text(path), path.name)
    expected = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
    assert expected["decision"] == reviews.action_of(document.value)
    assert expected["value"] == document.value
    assert expected["extra_fields"] == {place: list(lines) for place, lines in document.extra_fields.items()}
    assert expected["extra_text"] == document.extra_text


@pytest.mark.parametrize("path", _UNDERSTOOD, ids=_name)
def test_rewritten(path: Path) -> None:
    """Our own rewrite of such a form says the same, and is not changed by a second one."""
    document = read(_KIND, _text(path), path.name)
    text = checked(document, path.name)
    assert document == read(_KIND, text)
    assert text == checked(read(_KIND, text), path.name)


@pytest.mark.parametrize("path", _BROKEN, ids=_name)
def test_broken(path: Path) -> None:
    """A form with this fault is refused with every problem, its line and a way out."""
    with pytest.raises(InvalidDocument) as caught:
        read(_KIND, _text(path), path.name)
    expected = path.with_suffix(".expected.txt").read_text(encoding="utf-8")
    assert expected == f"{caught.value}\n"


@pytest.mark.parametrize("path", [*_UNDERSTOOD, *_BROKEN], ids=_name)
def test_untouched(path: Path) -> None:
    """Reading leaves the file's bytes as they are, and reading again says the same."""
    before = path.read_bytes()
    outcomes = [_outcome(path), _outcome(path)]
    assert outcomes[0] == outcomes[1]
    assert before == path.read_bytes()


def _outcome(path: Path) -> object:
    try:
        return read(_KIND, _text(path), path.name)
    except InvalidDocument as error:
        return str(error)


def test_five_faults() -> None:
    """Five faults are five problems, each with a line of its own."""
    path = _GOLDEN / "broken" / "five_faults.md"
    with pytest.raises(InvalidDocument) as caught:
        read(_KIND, _text(path), path.name)
    expected = [5, 6, 7, 23, 24]
    assert expected == [problem.location.line for problem in caught.value.problems]


@pytest.mark.parametrize("decision", ["approved", "retry_with_changes", "skip_phase", None])
def test_every_decision(decision: str | None) -> None:
    """Every decision, and none, is shown in several ways of writing it."""
    values = [json.loads(path.with_suffix(".json").read_text(encoding="utf-8")) for path in _UNDERSTOOD]
    assert sum(value["decision"] == decision for value in values) >= 3


def test_way_out() -> None:
    """Every problem of every broken form has a line; and a typo is answered with what may have been meant."""
    expectations = {path.stem: path.with_suffix(".expected.txt").read_text(encoding="utf-8") for path in _BROKEN}
    assert [name for name, text in expectations.items() if ", line " not in text] == []
    typos = [name for name in expectations if name.endswith("_typo")]
    assert len(typos) >= 5
    assert [name for name in typos if "did you mean" not in expectations[name]] == []


def test_files() -> None:
    """There are as many golden files as were promised, and none without its expectation."""
    assert len(_UNDERSTOOD) >= 40
    assert len(_BROKEN) >= 40
    assert {path.stem for path in _UNDERSTOOD} == {path.stem for path in _GOLDEN.glob("understood/*.json")}
    expectations = _GOLDEN.glob("broken/*.expected.txt")
    assert {path.stem for path in _BROKEN} == {path.name.removesuffix(".expected.txt") for path in expectations}
