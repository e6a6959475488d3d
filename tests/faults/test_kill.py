from pathlib import Path

from tests.faults import storms
from tests.trials import count

KILLS = count(smoke=10, release=200)


def test_everything_acknowledged_survives_kill_9(tmp_path: Path) -> None:
    """After kill -9 at random moments all that was acknowledged is there, and the next run goes on without help."""
    outcome = storms.kills(tmp_path, KILLS)
    print(outcome)
    assert not outcome.problems, str(outcome)
    assert outcome.acknowledged >= KILLS
