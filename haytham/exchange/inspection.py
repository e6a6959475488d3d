"""Decides whether an archive may be exported or imported: what is not whole, sound and about itself is refused.

The folders are made in a scratch place and read there by the readers that would load them, so that nothing is written
to where they are to go before all of it is known to be good.
"""

import tempfile
from dataclasses import replace
from pathlib import Path

from haytham.checkpoint import validation
from haytham.documents.reader import read
from haytham.domain.errors import HaythamError, InvalidDocument, Problem
from haytham.domain.identifiers import check_id
from haytham.domain.workflow import Phase
from haytham.exchange import archive as archives
from haytham.exchange import delivery
from haytham.exchange.archive import Archive
from haytham.exchange.places import Places
from haytham.journal.journals import Journals
from haytham.storage import files, layout
from haytham.storage.copies import FolderCopy
from haytham.storage.session_store import SessionStore, name_in


def check(archive: Archive, places: Places) -> None:
    """Raises InvalidInput, or InvalidDocument with every problem, if an archive cannot be trusted."""
    _check_shape(archive)
    for place, copy in archive.copies.items():
        copy.check()
        _check_identity(archive, place, copy)
    with tempfile.TemporaryDirectory(prefix="haytham-") as scratch:
        problems = _problems(archive, places.elsewhere(Path(scratch)))
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


def _problems(archive: Archive, scratch: Places) -> list[Problem]:
    delivery.put_folders(archive, scratch, delivery.Names.of(archive))
    found: list[Problem] = []
    if archive.kind == archives.PROJECT:
        store = scratch.project(archive.project_id)
        found += [Problem.of(each) for each in validation.project(store)["problems"]]
    for session_id in delivery.session_ids(archive):
        found += _session_problems(scratch.session(archive.project_id, session_id))
    return found


def _session_problems(store: SessionStore) -> list[Problem]:
    found = [Problem.of(each) for each in validation.session(store)["problems"]]
    if found:
        return found
    if store.history.read(layout.MANIFEST_FILE) is None:
        raise archives.refused("its history is that of something else")
    return [problem for phase in store.workflow.phases for problem in _journal_problems(store, phase)]


def _journal_problems(store: SessionStore, phase: Phase) -> list[Problem]:
    """Reads every journal of a phase; a last entry that was never finished is no problem, as when it is loaded."""
    journals = Journals(
        store.path(name_in(phase, layout.JOURNAL_FOLDER)),
        store.history.git_folder / layout.JOURNAL_NOTES / phase.folder,
        store.folder.name,
    )
    try:
        for journal in journals.all():
            journal.all()
    except HaythamError as error:
        return list(error.problems)
    return []


def _relative(problem: Problem, scratch: str) -> Problem:
    """Names a place inside the archive instead of the scratch folder, which is gone by then."""
    path = problem.location.path.removeprefix(f"{scratch}/")
    return replace(problem, location=replace(problem.location, path=path))
