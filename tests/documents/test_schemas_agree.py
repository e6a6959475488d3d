import copy
import math
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from haytham.documents import schemas
from tests import strategies
from tests.trials import count

_TRIALS = settings(
    max_examples=count(smoke=40, release=2_000), deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
_JUNK: tuple[Any, ...] = (
    None, True, 0, -1, 1.0, -0.5, math.inf, math.nan, 2**5000, "", "x", "-", "\n", "2026-02-31T10:00:00Z", [], ["x"],
    [""], {}, {"x": 1}, (), b"",
)  # fmt: skip


@pytest.mark.parametrize("kind", strategies.KINDS)
@_TRIALS
@given(data=st.data())
def test_valid(kind: str, data: st.DataObject) -> None:
    """What jsonschema finds valid is valid for the quick check too."""
    value = data.draw(strategies.values(kind))
    assert schemas.faults(kind, value) == []
    assert schemas.is_valid(kind, value)


@pytest.mark.parametrize("kind", strategies.KINDS)
@_TRIALS
@given(data=st.data())
def test_no_more_than_valid(kind: str, data: st.DataObject) -> None:
    """A value with something wrong put into it anywhere is valid only if jsonschema finds nothing wrong either."""
    value = copy.deepcopy(data.draw(strategies.values(kind)))
    _spoil(value, data)
    assert (schemas.faults(kind, value) == []) == schemas.is_valid(kind, value)


def _spoil(value: Any, data: st.DataObject) -> None:
    """Goes down into a value at random; there, replaces, removes or adds something."""
    while True:
        keys = list(value) if isinstance(value, dict) else list(range(len(value)))
        key = data.draw(st.sampled_from([*keys, None]))
        if key is None:
            junk = data.draw(st.sampled_from(_JUNK))
            value.append(junk) if isinstance(value, list) else value.update({"unknown": junk})
            return
        if not isinstance(value[key], dict | list) or data.draw(st.integers(0, 3)) == 0:
            break
        value = value[key]
    if data.draw(st.booleans()):
        del value[key]
    else:
        value[key] = data.draw(st.sampled_from(_JUNK))
