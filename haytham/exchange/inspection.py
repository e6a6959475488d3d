"""Decides whether an archive may be exported or imported: what is not whole, sound and about itself is refused.

The folders are made in a scratch place and verified there as `verify` does it, so that nothing is written to where they
are to go before all of it is known to be good.
"""

import tempfile
from dataclasses import replace
from pathlib import Path

from haytham.audit import verification
from haytham.audit.findings import EDITED
from haytham.documents.reader import read
from haytham.domain.audit_records import VerifyReport
from haytham.domain.errors import InvalidDocument, Problem
from haytham.domain.headway import Headway
from haytham.domain.identifiers import check_id
from haytham.exchange import archive as archives
from haytham.exchange import delivery
from haytham.exchange.archive import Archive
from haytham.exchange.places import Places
from haytham.storage import files, layout
from haytham.storage.copies import FolderCopy


def check(archive: Archive, places: Places, steps: Headway) -> None:
    """Raises InvalidInput, or InvalidDocument with every problem, if an archive cannot be trusted."""
    _check_shape(archive)
    for place, copy in archive.copies.items():
        copy.check()
        _check_identity(archive, place, copy)
    with files.translating(), tempfile.TemporaryDirectory(prefix="haytham-", ignore_cleanup_errors=True) as scratch:
        problems = _problems(archive, places.elsewhere(Path(scratch)), steps)
        if problems:
            raise InvalidDocument([_relative(each, scratch) for each in problems])


def _check_shape(archive: Archive) -> None:
    """Raises InvalidInput unless the folders of an archive are exactly those of what it says it holds."""
    check_id(archive.project_id, "project id")
    sessions = delivery.session_ids(archive)
    for each in sessions:
        check_id(each, "session id")
    branches = {delivery.session_place(each): layout.session_branch(each) for each in sessions}
    if archive.kind == archives.PROJECT:
        branches[delivery.PROJECT_PLACE] = layout.PROJECT_BRANCH
    elif sessions != [archive.session_id]:
        raise archives.refused("it holds another session than it says")
    if branches != {place: copy.branch for place, copy in archive.copies.items()}:
        raise archives.refused("it holds other folders than it says")
    if len({each.casefold() for each in sessions}) != len(sessions):
        raise archives.refused("two sessions differ only by case")


def _check_identity(archive: Archive, place: str, copy: FolderCopy) -> None:
    """Raises InvalidInput unless the document that names a folder names the one that the archive says."""
    wanted = {"project_id": archive.project_id}
    kind, name = "project", layout.PROJECT_FILE
    if place != delivery.PROJECT_PLACE:
        kind, name = "session_manifest", layout.MANIFEST_FILE
        wanted["session_id"] = delivery.session_id_at(place)
    path = f"{place}/{name}"
    if name not in copy.files:
        raise archives.refused(f"{path} is missing")
    metadata = read(kind, files.decoded(copy.files[name], path), path).value["metadata"]
    if wanted != {key: metadata[key] for key in wanted}:
        raise archives.refused(f"{path} is about something else")


def _problems(archive: Archive, scratch: Places, steps: Headway) -> list[Problem]:
    """Verifies every folder; what nobody committed yet is part of an export, and no problem."""
    delivery.put_folders(archive, scratch, delivery.Names.of(archive), steps)
    reports = [_session_report(archive, each, scratch) for each in steps.over(delivery.session_ids(archive))]
    if archive.kind == archives.PROJECT:
        reports.insert(0, verification.project(scratch.project(archive.project_id)))
    return [Problem.of(each) for report in reports for each in report["findings"] if each["kind"] != EDITED]


def _session_report(archive: Archive, session_id: str, scratch: Places) -> VerifyReport:
    recorded = []
    if archive.kind == archives.PROJECT:
        recorded = verification.recorded_heads(session_id, scratch.project(archive.project_id))
    return verification.session(scratch.session(archive.project_id, session_id), recorded)


def _relative(problem: Problem, scratch: str) -> Problem:
    """Names a place inside the archive instead of the scratch folder, which is gone by then."""
    path = problem.location.path.removeprefix(f"{scratch}/")
    return replace(problem, location=replace(problem.location, path=path))
