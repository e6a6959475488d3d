"""What exports and imports return."""

from typing import TypedDict


class ExportRecord(TypedDict):
    """What `export_session` and `export_project` return; `uncommitted` are files as a person left them."""

    kind: str
    project_id: str
    session_id: str | None
    path: str
    size: int
    sha256: str
    sessions: list[str]
    files: int
    uncommitted: list[str]


class ImportRecord(TypedDict):
    """What `import_file` returns: what there is now, and what it was called where it came from."""

    kind: str
    project_id: str
    session_id: str | None
    path: str
    sessions: list[str]
    original_project_id: str
    original_session_id: str | None


class MigratedDocument(TypedDict):
    """One document of an older format; `path` is inside the base folder's project."""

    path: str
    kind: str
    format: int


class MigrationReport(TypedDict):
    """What `migrate_project` returns; `backup` is the file that was written before, None if nothing was to do."""

    project_id: str
    format: int
    documents: list[MigratedDocument]
    backup: str | None
    dry_run: bool
