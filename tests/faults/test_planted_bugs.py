from collections.abc import Callable
from pathlib import Path

import pytest

from tests.faults import mutants, storms, tracing
from tests.faults.scratch_disk import why_not
from tests.faults.tracing import Workshop
from tests.trials import count


def _cut_power(folder: Path, package: Path) -> list[str]:
    if reason := why_not("ext4"):
        pytest.skip(reason)
    problems = storms.power_cuts(folder, 20, package=package).problems
    return [each for each in problems if "is not in the log" in each or ", not " in each or "cannot open" in each]


def _crowd(folder: Path, package: Path) -> list[str]:
    return storms.many_writers(folder, 6, package).problems


def _crowd_that_loses(folder: Path, package: Path) -> list[str]:
    """Repeats until something acknowledged is really lost: a race needs luck."""
    for number in range(30):
        (folder / str(number)).mkdir()
        problems = storms.many_writers(folder / str(number), 6, package).problems
        if lost := [each for each in problems if "is not in the log" in each or ", not " in each]:
            return lost
    return []


def _kill_at_the_lock(folder: Path, package: Path) -> list[str]:
    """Kills a phase's completion at each of its renames; then another process goes on."""
    if tracing.WITHOUT_STRACE:
        pytest.skip(tracing.WITHOUT_STRACE)
    with Workshop(package) as workshop:
        workshop.prepare(folder / "base")
        for nth in range(1, 12):
            ended = workshop.call("save_checkpoint", folder / "base", inject=f"rename:signal=SIGKILL:when={nth}")
            if ended.status != 9:
                return [ended.said] if ended.said != "ok" else []
            again = workshop.call("save_user_feedback", folder / "base")
            if again.said != "ok":
                return [again.said]
    return []


@pytest.mark.parametrize(
    ("bug", "trial", "always"),
    [
        pytest.param("folders are not flushed", _cut_power, True, marks=pytest.mark.power),
        pytest.param("files are not flushed", _cut_power, False, marks=pytest.mark.power),
        ("locks are not swept", _kill_at_the_lock, True),
        ("the session's lock is not taken", _crowd, True),
        ("neither lock nor any comparison", _crowd_that_loses, False),
    ],
)
def test_a_planted_bug_is_found(
    bug: str, trial: Callable[[Path, Path], list[str]], always: bool, tmp_path: Path
) -> None:
    """The trials that the package survives are not survived by a copy with this bug."""
    if not always and not count(smoke=0, release=1):
        pytest.skip("runs in the release gate: HAYTHAM_TRIALS=release")
    found = trial(tmp_path, mutants.plant(bug, tmp_path / "planted"))
    print(f"{bug}:", *found, sep="\n")
    assert found
