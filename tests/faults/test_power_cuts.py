from pathlib import Path

import pytest

from tests.faults import storms
from tests.faults.scratch_disk import why_not
from tests.trials import count

pytestmark = pytest.mark.power


@pytest.mark.parametrize(
    ("kind", "options", "cuts"),
    [
        ("ext4", "defaults", count(smoke=3, release=50)),
        ("ext4", "commit=1", count(smoke=2, release=50)),
        ("xfs", "defaults", count(smoke=2, release=50)),
    ],
)
def test_everything_acknowledged_survives_a_power_cut(kind: str, options: str, cuts: int, tmp_path: Path) -> None:
    """After the power is cut nothing acknowledged is lost, no document is torn, and git finds no fault."""
    if reason := why_not(kind):
        pytest.skip(reason)
    outcome = storms.power_cuts(tmp_path, cuts, kind, options)
    print(outcome)
    assert not outcome.problems, str(outcome)
    assert outcome.acknowledged >= cuts
