"""Puts the folders of an archive in their places: each appears whole, and none that exists is touched.

Under another id, a folder gets one commit on top that says so; otherwise it is, byte for byte, what was exported.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from haytham.documents.renderer import checked
from haytham.domain import messages
from haytham.domain.errors import InvalidInput, Location, NotFound
from haytham.domain.headway import Headway
from haytham.exchange import archive as archives
from haytham.exchange.archive import Archive
from haytham.exchange.places import Places
from haytham.storage import copies, layout
from haytham.storage.copies import FolderCopy
from haytham.storage.store import CommitNote, Store

PROJECT_PLACE = "project"
_SESSIONS = "sessions/"


@dataclass(frozen=True, kw_only=True, slots=True)
class Names:
    """What the contents of an archive are to be called; `session_id` is None for a whole project."""

    project_id: str
    session_id: str | None

    @classmethod
    def of(cls, archive: Archive) -> "Names":
        """Returns the names that the contents have had so far."""
        return cls(project_id=archive.project_id, session_id=archive.session_id)


def session_place(session_id: str) -> str:
    """Returns where in an archive a session is."""
    return f"{_SESSIONS}{session_id}"


def session_ids(archive: Archive) -> list[str]:
    """Returns the ids of the sessions in an archive."""
    return [session_id_at(each) for each in archive.copies if each.startswith(_SESSIONS)]


def session_id_at(place: str) -> str:
    """Returns the id of the session at a place in an archive."""
    return place.removeprefix(_SESSIONS)


def check_free(names: Names, places: Places) -> None:
    """Raises InvalidInput if what is to be imported is there already."""
    project, hint = places.layout.project(names.project_id), "nothing was overwritten; choose another id with --as."
    layout.check_free(names.project_id, places.layout.base, "project id")
    if names.session_id is None:
        what, folder = f"project {names.project_id!r}", project
    else:
        folder = places.layout.session(names.project_id, names.session_id)
        what = f"session {names.session_id!r} of project {names.project_id!r}"
        layout.refuse_links(project, folder.parent)
        layout.check_free(names.session_id, folder.parent, "session id")
    if folder.exists() or folder.is_symlink():
        raise InvalidInput(f"{what} exists already.", location=Location(path=str(folder)), hint=hint)


def put_folders(
    archive: Archive, places: Places, names: Names, steps: Headway, before: Callable[[], None] = lambda: None
) -> None:
    """Makes the folders of an archive that was checked; raises InvalidInput if somebody else was quicker.

    `before` is called when all is written, right before a session appears.
    """
    if archive.kind == archives.PROJECT:
        is_new = _put_project(archive, places, names.project_id, steps)
    else:
        session_id = str(names.session_id)
        store = places.session(names.project_id, session_id)
        copy = archive.copies[session_place(str(archive.session_id))]
        is_new = all(_put_session(copy, each, names.project_id, session_id, before) for each in steps.over([store]))
    if not is_new:
        raise InvalidInput("somebody else made a folder of that name just now.", hint="nothing was overwritten.")


def _put_project(archive: Archive, places: Places, project_id: str, steps: Headway) -> bool:
    """Makes a project with its sessions, all of them before any of it appears."""

    def finish(building: Store) -> None:
        for session_id in steps.over(session_ids(archive)):
            store = places.session_at(building.path(f"{layout.SESSIONS_FOLDER}/{session_id}"))
            _put_session(archive.copies[session_place(session_id)], store, project_id, session_id)
        _rename(building, "project", layout.PROJECT_FILE, {"project_id": project_id})

    return copies.put(archive.copies[PROJECT_PLACE], places.project(project_id), finish)


def _put_session(
    copy: FolderCopy, store: Store, project_id: str, session_id: str, before: Callable[[], None] = lambda: None
) -> bool:
    def finish(building: Store) -> None:
        wanted = {"project_id": project_id, "session_id": session_id}
        _rename(building, "session_manifest", layout.MANIFEST_FILE, wanted)
        before()

    return copies.put(copy, store, finish)


def project_message(archive: Archive, session_id: str) -> str:
    """Tells the project that a session arrives, and what its newest commit is."""
    was = str(archive.session_id)
    trailers = {
        "Session": session_id,
        "Imported": "yes",
        "Imported-From": f"{archive.project_id}/{was}",
        "Head": archive.copies[session_place(was)].head,
    }
    return messages.message(f"Session {session_id} imported", trailers=trailers)


def _rename(store: Store, kind: str, name: str, wanted: Mapping[str, str]) -> None:
    """Brings other ids into a document, as one commit; what a person wrote into it is committed before."""
    found = store.document(kind, name)
    if found is None:
        raise NotFound(f"{name} is missing.", location=Location(path=str(store.path(name))))
    metadata = found.value["metadata"]
    before = {key: metadata[key] for key in wanted}
    if before == wanted:
        return
    if store.edited_by_hand([name]):
        store.commit((name,), CommitNote(message=messages.edit([name])))
    value = {**found.value, "metadata": {**metadata, **wanted}}
    here, there = "/".join(wanted.values()), "/".join(before.values())
    note = messages.message(f"Imported as {here}", trailers={"Imported": "yes", "Imported-From": there})
    store.save({name: checked(found.replaced(value), name).encode()}, CommitNote(message=note))
