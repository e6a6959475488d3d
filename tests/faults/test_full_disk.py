import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.faults import verdict
from tests.faults.tracing import Workshop
from tests.faults.workshop import SESSION
from tests.trials import count

_PAGE = 4096
_CALLS = ("save_agent_output", "save_checkpoint", "save_user_feedback", "create_session", "complete_session")


@pytest.fixture
def tiny(tmp_path: Path) -> Iterator[Path]:
    """A file system of 3 MB in memory."""
    if os.geteuid() != 0:
        pytest.skip("mounting a tiny file system needs root")
    folder = tmp_path / "tiny"
    folder.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=3m", "tmpfs", folder], check=False)
    if mounted.returncode:
        pytest.skip("no tmpfs can be mounted here")
    try:
        yield folder
    finally:
        subprocess.run(["umount", folder], check=True)


@pytest.mark.parametrize("call", _CALLS)
def test_a_full_disk_is_reported_and_survived(call: str, tiny: Path, tmp_path: Path) -> None:
    """With room for any number of pages a call saves all or raises StorageFailure; with room again it works."""
    refused = 0
    with Workshop() as workshop:
        workshop.prepare(tmp_path / "prepared")
        for pages in range(0, 60, count(smoke=6, release=1)):
            shutil.rmtree(tiny / "base", ignore_errors=True)
            shutil.copytree(tmp_path / "prepared", tiny / "base", symlinks=True)
            assert workshop.call("load_session", tiny / "base").said == "ok"  # lets go of files that are only held
            _fill(tiny, pages)
            said = workshop.call(call, tiny / "base").said
            (tiny / "filler").unlink()
            assert said == "ok" or said.startswith("StorageFailure: "), f"{pages} pages left: {said}"
            refused += said != "ok"
            for each in ("load_session", call):
                again = workshop.call(each, tiny / "base").said
                assert again == "ok", f"{pages} pages left: {said}; then {each}: {again}"
            assert verdict.leftovers(tiny / "base") == [], f"{pages} pages left: {said}"
            statuses = {f"{SESSION}/checkpoint/2": ["in_progress", 0]}
            for found in sorted((tiny / "base").rglob(".git")):
                assert verdict.of_repository(found.parent, set(), statuses) == [], f"{pages} pages left: {said}"
    assert refused


def _fill(folder: Path, pages: int) -> None:
    """Leaves only so many pages free."""
    free = os.statvfs(folder)
    with (folder / "filler").open("wb") as file:
        os.posix_fallocate(file.fileno(), 0, max(1, (free.f_bfree - pages)) * _PAGE)
