"""Exports sessions and projects as one file each, and imports them: the part of the API that orders these steps."""

import hashlib
from pathlib import Path

from haytham.checkpoint import session_creation
from haytham.checkpoint.session_access import SessionAccess
from haytham.documents import migrations
from haytham.documents.document import FORMAT_VERSION
from haytham.documents.migrations import Steps
from haytham.documents.reader import read
from haytham.domain import instants
from haytham.domain.errors import Conflict, InvalidInput, Location, NotFound
from haytham.domain.exchange_records import ExportRecord, ImportRecord, MigratedDocument, MigrationReport
from haytham.domain.headway import Headway, OnProgress
from haytham.domain.identifiers import check_id
from haytham.exchange import archive as archives
from haytham.exchange import collection, delivery, inspection, migration, page
from haytham.exchange.archive import Archive
from haytham.exchange.collection import Collected
from haytham.exchange.delivery import Names
from haytham.exchange.places import Places
from haytham.operations import project_log
from haytham.storage import files, layout

_ROUNDS = 3  # each session is taken, or put in its place, and before that put in a scratch place and verified


class Exchanging:
    """What leaves the sessions and projects below one base folder, and what arrives there."""

    def __init__(self, access: SessionAccess, places: Places) -> None:
        self._access = access
        self._places = places

    def export_session(
        self, project_id: str, session_id: str, path: str | Path, *, on_progress: OnProgress | None = None
    ) -> ExportRecord:
        """Writes a session into one new file, with its history and what nobody committed yet; the session stays.

        The same session gives the same bytes. Raises InvalidInput if the file exists, and InvalidDocument with every
        problem if an import would refuse it. `on_progress(done, total)` is called with each step.
        """
        target = _free(path, f"{session_id}{archives.SUFFIX}")
        store = self._access.settled(project_id, session_id).store
        steps = Headway(_ROUNDS, on_progress)
        return self._written(collection.session(project_id, store, steps), target, steps)

    def export_project(
        self, project_id: str, path: str | Path, *, on_progress: OnProgress | None = None
    ) -> ExportRecord:
        """Writes a project with all its sessions into one new file, as `export_session` does."""
        target = _free(path, f"{project_id}{archives.SUFFIX}")
        places = self._places
        places.layout.existing_project(project_id)
        sessions = [self._access.settled(project_id, each).store for each in places.layout.session_ids(project_id)]
        steps = Headway(_ROUNDS * len(sessions), on_progress)
        return self._written(collection.project(project_id, places.project(project_id), sessions, steps), target, steps)

    def export_page(self, project_id: str, session_id: str, path: str | Path) -> ExportRecord:
        """Writes a session as one new page of HTML, to be opened and mailed; it loads nothing and runs nothing."""
        target = _free(path, f"{session_id}.html")
        state = self._access.state(project_id, session_id)
        view = self._access.settled(project_id, session_id)
        with view.store.history.kept_open():
            text = page.of(view, state, list(view.store.history.entries()), self._places.project(project_id))
        data = text.encode()
        _write(target, data)
        return ExportRecord(
            kind="page",
            project_id=project_id,
            session_id=session_id,
            path=str(target),
            size=len(data),
            sha256=hashlib.sha256(data).hexdigest(),
            sessions=[session_id],
            files=sum(len(view.store.output_names(phase)) for phase in view.phases),
            uncommitted=list(state["edited_files"]),
        )

    def import_file(
        self,
        path: str | Path,
        *,
        project_id: str | None = None,
        as_id: str | None = None,
        on_progress: OnProgress | None = None,
    ) -> ImportRecord:
        """Makes the session or the project of an exported file, at once or not at all, and never over an existing one.

        Everything is checked before anything is written. A session goes to the project that it came from, or to
        `project_id`, which is made if there is none. `as_id` gives the session, or the project, another id.
        `on_progress(done, total)` is called with each step.
        """
        archive = archives.unpacked(_content(Path(path)))
        names = _names(archive, project_id, as_id)
        steps = Headway(_ROUNDS * len(delivery.session_ids(archive)), on_progress)
        inspection.check(archive, self._places, steps)
        delivery.check_free(names, self._places)
        if names.session_id is not None:
            self._ensure_project(archive, names)
        delivery.put_folders(archive, self._places, names, steps, lambda: self._note(archive, names))
        return self._arrived(archive, names)

    def migrate_project(self, project_id: str, backup: str | Path, *, dry_run: bool = False) -> MigrationReport:
        """Rewrites the documents of a project and its sessions that are of an older format, one commit per folder.

        Before that the project is exported to `backup`, a new file or the folder for it; if nothing is to do, or with
        `dry_run`, nothing is written. Raises InvalidDocument for a format that is not known.
        """
        return self._migrated(project_id, backup, dry_run=dry_run, known=migrations.KNOWN)

    # Steps

    def _migrated(self, project_id: str, backup: str | Path, *, dry_run: bool, known: Steps) -> MigrationReport:
        places = self._places
        places.layout.existing_project(project_id)
        project = places.project(project_id)
        sessions = [self._access.store(project_id, each) for each in places.layout.session_ids(project_id)]
        kinds = migration.documents_of(project, sessions)
        found = {store: migration.plan(store, documents, known) for store, documents in kinds.items()}
        target = None
        if any(found.values()) and not dry_run:
            target = _free(backup, f"{project_id}{archives.SUFFIX}")
            _write(target, archives.packed(collection.project(project_id, project, sessions, Headway(0)).archive))
            for store, documents in kinds.items():
                with store.locked():
                    migration.migrate(store, migration.plan(store, documents, known))
        return MigrationReport(
            project_id=project_id,
            format=FORMAT_VERSION,
            documents=[
                MigratedDocument(path=str(store.path(each.name)), kind=each.kind, format=each.version)
                for store, rewrites in found.items()
                for each in rewrites
            ],
            backup=str(target) if target else None,
            dry_run=dry_run,
        )

    def _written(self, found: Collected, target: Path, steps: Headway) -> ExportRecord:
        data = archives.packed(found.archive)
        inspection.check(archives.unpacked(data), self._places, steps)
        _write(target, data)
        archive = found.archive
        return ExportRecord(
            kind=archive.kind,
            project_id=archive.project_id,
            session_id=archive.session_id,
            path=str(target),
            size=len(data),
            sha256=hashlib.sha256(data).hexdigest(),
            sessions=delivery.session_ids(archive),
            files=sum(len(copy.files) for copy in archive.copies.values()),
            uncommitted=found.uncommitted,
        )

    def _ensure_project(self, archive: Archive, names: Names) -> None:
        copy = archive.copies[delivery.session_place(str(archive.session_id))]
        manifest = read("session_manifest", copy.files[layout.MANIFEST_FILE].decode()).value["metadata"]
        identity = {**manifest, "project_id": names.project_id}
        session_creation.ensure_project(self._places.project(names.project_id), identity, self._now())

    def _note(self, archive: Archive, names: Names) -> None:
        """Tells the project that a session arrives; that of a whole project says nothing new about itself."""
        if names.session_id is not None:
            message = delivery.project_message(archive, names.session_id)
            project_log.note(self._places.project(names.project_id), message, once_for=names.session_id)

    def _arrived(self, archive: Archive, names: Names) -> ImportRecord:
        sessions = [names.session_id] if names.session_id is not None else delivery.session_ids(archive)
        folder = self._places.layout.project(names.project_id)
        if names.session_id is not None:
            folder = self._places.layout.session(names.project_id, names.session_id)
        return ImportRecord(
            kind=archive.kind,
            project_id=names.project_id,
            session_id=names.session_id,
            path=str(folder),
            sessions=sessions,
            original_project_id=archive.project_id,
            original_session_id=archive.session_id,
        )

    def _now(self) -> str:
        return instants.text_of(self._places.clock())


def _names(archive: Archive, project_id: str | None, as_id: str | None) -> Names:
    """Returns what the contents are to be called; raises InvalidInput for an id that cannot be."""
    if archive.kind == archives.PROJECT:
        if project_id is not None:
            raise InvalidInput("a whole project goes into no other project.", hint="give it another id with --as.")
        return Names(project_id=check_id(as_id or archive.project_id, "project id"), session_id=None)
    return Names(
        project_id=check_id(project_id or archive.project_id, "project id"),
        session_id=check_id(as_id or archive.session_id, "session id"),
    )


def _content(path: Path) -> bytes:
    with files.translating():
        place = path.resolve()
        size = place.stat().st_size if place.is_file() else None
    if size is None:
        raise NotFound("there is no such file.", location=Location(path=str(path)))
    if size > archives.LARGEST:
        raise InvalidInput(f"the file is larger than {archives.LARGEST:,} bytes.", location=Location(path=str(path)))
    return files.read_bytes(place) or b""


def _free(path: str | Path, name: str) -> Path:
    """Returns where a new file goes: the path or, if that is a folder, the name in it; raises if it is taken."""
    target = Path(path) / name if Path(path).is_dir() else Path(path)
    if not target.parent.is_dir():
        raise NotFound("there is no such folder.", location=Location(path=str(target.parent)))
    if target.exists() or target.is_symlink():
        raise _taken(target)
    return target


def _write(target: Path, data: bytes) -> None:
    try:
        files.write({target: data}, {target: None})
    except Conflict as error:
        raise _taken(target) from error


def _taken(target: Path) -> InvalidInput:
    hint = "nothing was overwritten; choose another name."
    return InvalidInput("there is such a file already.", location=Location(path=str(target)), hint=hint)
