"""The two sentences that the document layer promises, over hostile values of every kind."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from haytham.documents import schemas
from haytham.documents.document import Document
from haytham.documents.reader import read
from haytham.documents.renderer import checked, render
from haytham.domain.errors import InvalidDocument, Problem
from tests import strategies
from tests.documents import samples
from tests.trials import count

_QUIET = [HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large]


@pytest.mark.parametrize("kind", strategies.KINDS)
@settings(max_examples=count(smoke=100, release=10_000), deadline=None, suppress_health_check=_QUIET)
@given(data=st.data())
def test_contract(kind: str, data: st.DataObject) -> None:
    """read(render(x)) == x, down to the types of numbers, and render(read(t)) == t for what we wrote."""
    document = data.draw(strategies.documents(kind))
    text = render(document)
    again = read(kind, text)
    assert document == again
    assert repr(document.value) == repr(_in_order(document.value, again.value))
    assert text == render(again)


@pytest.mark.parametrize("kind", strategies.KINDS)
@settings(max_examples=count(smoke=50, release=2_000), deadline=None, suppress_health_check=_QUIET)
@given(data=st.data())
def test_rewrite(kind: str, data: st.DataObject) -> None:
    """Another value can always be put into a document that a person added to; all they added is still there."""
    document = data.draw(strategies.documents(kind))
    value = data.draw(strategies.values(kind))
    text = checked(document.replaced(value), "it")
    assert value == read(kind, text).value
    for lines in document.extra_fields.values():
        assert all(line in text for line in lines)
    assert all(piece in text for piece in document.extra_text.values())


@pytest.mark.parametrize("kind", strategies.KINDS)
@settings(max_examples=count(smoke=50, release=2_000), deadline=None, suppress_health_check=_QUIET)
@given(data=st.data())
def test_any_text(kind: str, data: st.DataObject) -> None:
    """Any text at all is either understood, and then can be written again, or refused with located problems."""
    lines = render(Document(kind=kind, value=data.draw(strategies.values(kind)))).split("\n")
    first, last = sorted(data.draw(st.tuples(*2 * [st.integers(0, len(lines))])))
    text = "\n".join([*lines[:first], data.draw(strategies.prose()), *lines[last:]])
    document, problems = _outcome(kind, text)
    assert all(problem.location.path == "it.md" for problem in problems)
    assert all(1 <= (problem.location.line or 0) <= text.count("\n") + 1 for problem in problems)
    assert document is None or document == read(kind, checked(document, "it"))


def _outcome(kind: str, text: str) -> tuple[Document | None, tuple[Problem, ...]]:
    try:
        return read(kind, text, "it.md"), ()
    except InvalidDocument as error:
        return None, error.problems


@pytest.mark.parametrize("kind", strategies.KINDS)
@settings(max_examples=20, deadline=None, suppress_health_check=_QUIET)
@given(data=st.data())
def test_strategy(kind: str, data: st.DataObject) -> None:
    """The values that these tests are made with are valid by their schema."""
    assert schemas.faults(kind, data.draw(strategies.values(kind))) == []


@pytest.mark.parametrize("form", ["{}", "x\n{}", "{}\nx", "x\n\n{}\n\nx", "x {} x"])
def test_each_piece(form: str) -> None:
    """Each hostile piece alone comes back, as prose, item, key, single value and cell, wherever it stands in it."""
    for piece in strategies.PIECES:
        text = form.format(piece)
        projects = samples.project(startup_idea=text, preferences={text: text})
        checkpoints = samples.checkpoint(errors=[text, text], outputs={text: text or "x"})
        checkpoints["inputs"] = [{"phase": 1, "name": text or "x", "content": samples.HASH}]
        for kind, value in (("project", projects), ("checkpoint", checkpoints)):
            assert value == read(kind, render(Document(kind=kind, value=value))).value


def _in_order(model: object, value: object) -> object:
    """Returns a value with its keys in the order of another, so that the two can be compared by their text."""
    if isinstance(model, dict) and isinstance(value, dict):
        return {key: _in_order(model[key], value[key]) for key in model}
    if isinstance(model, list) and isinstance(value, list):
        return [_in_order(*pair) for pair in zip(model, value, strict=True)]
    return value
