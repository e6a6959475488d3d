import shutil
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pytest

from tests.faults import tracing, verdict
from tests.faults.orchestrator import PROJECT
from tests.faults.tracing import Workshop
from tests.faults.workshop import CALLS, CHECKPOINTS, NEW, OLD, SESSION, journals_of
from tests.trials import count

pytestmark = pytest.mark.skipif(bool(tracing.WITHOUT_STRACE), reason=tracing.WITHOUT_STRACE)

POINTS = count(smoke=7, release=10_000)
ERRORS = count(smoke=4, release=10_000)
_ON_A_BAD_DISK = (
    "save_agent_output",
    "save_checkpoint",
    "create_session",
    "update_user_preferences",
    "fork",
    "rollback",
    "archive_session",
    "delete_session",
    "export_session",
    "export_project",
    "import_session",
    "import_into_new_project",
    "import_project",
)
_FAILING = ("write", "pwrite64", "fsync", "rename", "link", "mkdir", "ftruncate", "openat")


@pytest.fixture(scope="module")
def workshop() -> Iterator[Workshop]:
    """A workshop for all tests of this file."""
    with Workshop() as warm:
        yield warm


@pytest.fixture(scope="module")
def prepared(workshop: Workshop, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that every call starts from."""
    base = tmp_path_factory.mktemp("prepared") / "base"
    workshop.prepare(base)
    return base


@pytest.mark.parametrize("call", CALLS)
def test_a_kill_at_any_step_leaves_nothing_that_blocks(
    call: str, workshop: Workshop, prepared: Path, tmp_path: Path
) -> None:
    """Killed at any system call that changes something, a call can be repeated at once, and nothing is left behind."""
    tried, problems = 0, []
    for name, nth in _points(workshop, call, prepared, tmp_path, tracing.CHANGING, POINTS):
        base = _copy(prepared, tmp_path)
        ended = workshop.call(call, base, inject=f"{name}:signal=SIGKILL:when={nth}")
        if ended.status != 9:
            problems.append(f"{call} was not killed at {name} {nth}: {ended}")
        problems += _after(workshop, call, base, f"{call} killed at {name} {nth}")
        tried += 1
    print(f"{call}: {tried} kill points")
    assert tried
    assert not problems, "\n".join(problems)


@pytest.mark.parametrize("error", ["EIO", "ENOSPC"])
@pytest.mark.parametrize("call", _ON_A_BAD_DISK)
def test_a_failing_disk_is_reported_and_survived(
    call: str, error: str, workshop: Workshop, prepared: Path, tmp_path: Path
) -> None:
    """Where the disk refuses a step, the call raises an error of ours or has saved all; then it works again."""
    problems = []
    for name, nth in _points(workshop, call, prepared, tmp_path, _FAILING, ERRORS):
        base = _copy(prepared, tmp_path)
        ended = workshop.call(call, base, inject=f"{name}:error={error}:when={nth}")
        where = f"{call} with {error} at {name} {nth} said {ended.said}"
        if ended.status or "NOT OURS" in ended.said:
            problems.append(where)
        problems += _after(workshop, call, base, where)
    assert not problems, "\n".join(problems)


@pytest.mark.parametrize("fault", ["signal=SIGKILL", "error=EIO", "error=ENOSPC"])
def test_a_migration_can_be_repeated(fault: str, workshop: Workshop, tmp_path: Path) -> None:
    """Killed or refused by the disk at any step, each document is as it was or migrated; another try does the rest."""
    prepared = tmp_path / "prepared"
    workshop.prepare(prepared, "prepare_old")
    tried, problems = 0, []
    session = Path(PROJECT, "sessions", SESSION)
    old = {name: (prepared / session / name).read_bytes() for name in CHECKPOINTS}
    names = tracing.CHANGING if "SIGKILL" in fault else _FAILING
    for name, nth in _points(workshop, "migrate", prepared, tmp_path, names, POINTS):
        base = _copy(prepared, tmp_path)
        ended = workshop.call("migrate", base, inject=f"{name}:{fault}:when={nth}")
        where = f"migrate with {fault} at {name} {nth} said {ended.said}"
        if "NOT OURS" in ended.said or (ended.status != 9 and fault == "signal=SIGKILL"):
            problems.append(where)
        whole = {each: {data, data.replace(b"int v0 -->", b"int v1 -->")} for each, data in old.items()}
        problems += [
            f"{where}: {each} is neither" for each in old if (base / session / each).read_bytes() not in whole[each]
        ]
        again = workshop.call("migrate", base)
        problems += [f"{where}; repeated: {again.said}"] if again.said != "ok" else []
        new = [each for each in old if b"int v0 -->" in (base / session / each).read_bytes()]
        problems += [f"{where}; repeated: {each} is still of format 0" for each in new]
        problems += [f"{where}; repeated: {each}" for each in _faults(workshop.call("look", base).said, base)]
        tried += 1
    print(f"migrate, {fault}: {tried} points")
    assert tried
    assert not problems, "\n".join(problems)


def test_a_journal_is_forked_or_not(workshop: Workshop, tmp_path: Path) -> None:
    """Killed at any step, or with a disk that refuses it, a fork is there whole or not at all, and can be repeated."""
    prepared = tmp_path / "prepared"
    journal = journals_of(prepared, "here").journal("writer")
    states = [{"n": number} for number in range(3)]
    for state in states:
        journal.save(state)
    whats = ("signal=SIGKILL", "error=EIO", "error=ENOSPC")
    points = list(_points(workshop, "fork_journal", prepared, tmp_path, tracing.CHANGING, 10_000))
    assert "linkat" in {name for name, _ in points}
    problems = []
    for what, (name, nth) in ((what, point) for what in whats for point in points):
        base = _copy(prepared, tmp_path)
        ended = workshop.call("fork_journal", base, inject=f"{name}:{what}:when={nth}")
        where = f"{what} at {name} {nth} said {ended.said}"
        begun = journals_of(base, "there").journal("writer")
        found = [begun.state_at(each) for each in begun], begun.verify()
        if found not in (([], []), ([states[1]], [])) or (ended.said == "ok" and not found[0]):
            problems.append(f"{where}: {found}")
        again = workshop.call("fork_journal", base)
        fork = journals_of(base, "there").journal("writer")
        found = [fork.state_at(each) for each in fork], fork.verify()
        if again.said != "ok" or found != ([states[1]], []) or "NOT OURS" in ended.said:
            problems.append(f"{where}, then {again.said}: {found}")
    assert not problems, "\n".join(problems)


def _points(
    workshop: Workshop, call: str, prepared: Path, tmp_path: Path, names: tuple[str, ...], most: int
) -> Iterator[tuple[str, int]]:
    ended = workshop.call(call, _copy(prepared, tmp_path), trace=tmp_path / "trace")
    assert ended.said == "ok", ended
    points = [(name, nth + 1) for name in names for nth in range(ended.calls[name])]
    stride = max(1, len(points) // most)
    yield from islice(points, 0, None, stride)  # the same ones each time, so that a failure can be repeated


def _copy(prepared: Path, tmp_path: Path) -> Path:
    base = tmp_path / "base"
    for left in (base, tmp_path / "exports", *tmp_path.glob("haytham-*")):
        shutil.rmtree(left, ignore_errors=True)
    (tmp_path / "exports").mkdir()
    shutil.copytree(prepared, base, symlinks=True)
    return base


def _after(workshop: Workshop, call: str, base: Path, where: str) -> list[str]:
    """Opens the sessions and looks for what is wrong, then repeats the call and looks again."""
    opened = workshop.call("look", base)
    problems = [f"{where}; opened: {each}" for each in _faults(opened.said, base / PROJECT / "sessions" / SESSION)]
    problems += _halves(base, where)
    again = workshop.call(call, base)
    said = again.said
    if _DONE.get(call, "\n") in said:  # so nothing was saved; the next save brings the index up to date
        said = workshop.call("update_user_preferences", base).said
    return problems + [f"{where}; repeated: {each}" for each in _faults(said, base)]


def _halves(base: Path, where: str) -> list[str]:
    """Looks for a session of which only a part is there, or a phase that only a part of was taken back."""
    phase = base / PROJECT / "sessions" / SESSION / "phase_2_market_research"
    there = sorted(path.name for path in phase.glob("*.md"))
    whole = [
        [],
        ["checkpoint.md", "first.md", "second.md"],
        ["checkpoint.md", "first.md", "second.md", "user_feedback.md"],
    ]
    return [] if there in whole else [f"{where}; opened: phase 2 has {there}"]


def _faults(said: str, folder: Path) -> list[str]:
    problems = [] if said == "ok" else [said]
    problems += verdict.leftovers(folder)
    for each in sorted(found.parent for found in folder.rglob(".git") if "haytham-tmp" not in str(found)):
        problems += verdict.of_repository(each, set(), _STATUSES.get(each.name, {}))
    return problems


# What a call says that had been done, although the process was killed.
_DONE = {
    "create_project": "exists already",
    "delete_session": "has no session",
    "export_session": "there is such a file already",
    "export_project": "there is such a file already",
    "import_session": "exists already",
    "import_into_new_project": "exists already",
    "import_project": "exists already",
}
# Phase 2 is at work in what every call starts from; phase 3 in `start_phase`.
_STATUSES = {SESSION: {f"{SESSION}/checkpoint/2": ["in_progress", 0]}, NEW: {}, OLD: {}}
