"""Where folders are that leave or arrive, as stores."""

from dataclasses import dataclass
from pathlib import Path

from haytham.domain import instants
from haytham.storage.layout import Layout
from haytham.storage.project_store import ProjectStore
from haytham.storage.session_store import SessionStore


@dataclass(frozen=True, kw_only=True, slots=True)
class Places:
    """The stores below one base folder, whether their folders exist or not."""

    layout: Layout
    clock: instants.Clock
    lock_timeout: float

    def elsewhere(self, base: Path) -> "Places":
        """Returns the same below another base folder."""
        return Places(layout=Layout(base=base), clock=self.clock, lock_timeout=self.lock_timeout)

    def project(self, project_id: str) -> ProjectStore:
        """Returns the store of a project."""
        folder = self.layout.project(project_id)
        return ProjectStore(folder, clock=self.clock, lock_timeout=self.lock_timeout)

    def session(self, project_id: str, session_id: str) -> SessionStore:
        """Returns the store of a session."""
        return self.session_at(self.layout.session(project_id, session_id))

    def session_at(self, folder: Path) -> SessionStore:
        """Returns the store of a session in a folder."""
        return SessionStore(folder, clock=self.clock, lock_timeout=self.lock_timeout)
