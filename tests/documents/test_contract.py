"""The two sentences that the document layer promises, over hostile values of every kind."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from haytham.documents import schemas
from haytham.documents.reader import read
from haytham.documents.renderer import checked, render
from tests import strategies
from tests.trials import count

_TRIALS = settings(
    max_examples=count(smoke=100, release=10_000),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large],
)


@pytest.mark.parametrize("kind", strategies.KINDS)
@_TRIALS
@given(data=st.data())
def test_value(kind: str, data: st.DataObject) -> None:
    """Reading what was rendered gives the same document, down to the types of its numbers."""
    document = data.draw(strategies.documents(kind))
    again = read(kind, render(document))
    assert document == again
    assert repr(document.value) == repr(_in_order(document.value, again.value))


@pytest.mark.parametrize("kind", strategies.KINDS)
@_TRIALS
@given(data=st.data())
def test_text(kind: str, data: st.DataObject) -> None:
    """Rendering what was read from a text that we wrote gives the same text."""
    text = render(data.draw(strategies.documents(kind)))
    assert text == render(read(kind, text))


@pytest.mark.parametrize("kind", strategies.KINDS)
@_TRIALS
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
@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_strategy(kind: str, data: st.DataObject) -> None:
    """The values that these tests are made with are valid by their schema."""
    assert schemas.faults(kind, data.draw(strategies.values(kind))) == []


def _in_order(model: object, value: object) -> object:
    """Returns a value with its keys in the order of another, so that the two can be compared by their text."""
    if isinstance(model, dict) and isinstance(value, dict):
        return {key: _in_order(model[key], value[key]) for key in model}
    if isinstance(model, list) and isinstance(value, list):
        return [_in_order(*pair) for pair in zip(model, value, strict=True)]
    return value
