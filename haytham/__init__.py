"""Sessions of phased, multi-agent workflows as markdown and git."""

TYPE_CHECKING = False  # as of typing, which takes a while to import
if TYPE_CHECKING:
    from haytham.checkpoint.checkpoint_manager import CheckpointManager
    from haytham.domain.drift_monitor import DriftMonitor
    from haytham.domain.due import Due
    from haytham.domain.errors import (
        BrokenRepository,
        Conflict,
        DamagedJournal,
        GateClosed,
        Halted,
        HaythamError,
        InternalError,
        InvalidDocument,
        InvalidInput,
        Locked,
        NotFound,
        ReviewTimeout,
        StaleWriter,
        StorageFailure,
    )
    from haytham.domain.retention import Retention
    from haytham.journal.guard import Guard
    from haytham.journal.journal import Journal
    from haytham.project.project_manager import ProjectManager
    from haytham.session.handle import Session, open_session

__version__ = "0.1.0"

_HOMES = {
    "haytham.checkpoint.checkpoint_manager": ("CheckpointManager",),
    "haytham.domain.drift_monitor": ("DriftMonitor",),
    "haytham.domain.due": ("Due",),
    "haytham.domain.errors": (
        "BrokenRepository",
        "Conflict",
        "DamagedJournal",
        "GateClosed",
        "Halted",
        "HaythamError",
        "InternalError",
        "InvalidDocument",
        "InvalidInput",
        "Locked",
        "NotFound",
        "ReviewTimeout",
        "StaleWriter",
        "StorageFailure",
    ),
    "haytham.domain.retention": ("Retention",),
    "haytham.journal.guard": ("Guard",),
    "haytham.journal.journal": ("Journal",),
    "haytham.project.project_manager": ("ProjectManager",),
    "haytham.session.handle": ("Session", "open_session"),
}

__all__ = [
    "BrokenRepository",
    "CheckpointManager",
    "Conflict",
    "DamagedJournal",
    "DriftMonitor",
    "Due",
    "GateClosed",
    "Guard",
    "Halted",
    "HaythamError",
    "InternalError",
    "InvalidDocument",
    "InvalidInput",
    "Journal",
    "Locked",
    "NotFound",
    "ProjectManager",
    "Retention",
    "ReviewTimeout",
    "Session",
    "StaleWriter",
    "StorageFailure",
    "open_session",
]


def __getattr__(name: str) -> object:
    """Imports a public name when it is first asked for, so that `import haytham` costs nothing."""
    from importlib import import_module

    for module, names in _HOMES.items():
        if name in names:
            return getattr(import_module(module), name)
    raise AttributeError(name)
