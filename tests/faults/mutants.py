"""Copies of the package with a bug planted on purpose, to see that the trials find it."""

import shutil
from pathlib import Path

from tests.faults import programs

# By name: the file, what stands there, what is put in its place.
PLANTED: dict[str, list[tuple[str, str, str]]] = {
    "folders are not flushed": [
        (
            "storage/files.py",
            '    """Makes the names in a folder durable."""\n',
            '    """Makes the names in a folder durable."""\n    return\n',
        ),
    ],
    "files are not flushed": [
        ("storage/files.py", "os.fsync(descriptor)", "descriptor"),
    ],
    "locks are not swept": [
        (
            "storage/files.py",
            "    lock = _lock_of(path)\n    try:\n        found = lock.stat()\n",
            "    return True\n    lock = _lock_of(path)\n    try:\n        found = lock.stat()\n",
        ),
    ],
    "the session's lock is not taken": [
        ("storage/locks.py", "        lock.acquire()\n", "        pass\n"),
    ],
    "neither lock nor any comparison": [
        ("storage/locks.py", "        lock.acquire()\n", "        pass\n"),
        ("storage/files.py", "            if not is_current():\n", "            if False:\n"),
        (
            "storage/swaps.py",
            "    ours = content(new)\n",
            "    if new.replace(path):\n        return\n    ours = content(new)\n",
        ),
    ],
}


def plant(name: str, folder: Path) -> Path:
    """Copies the package and plants a bug in it; returns the folder that holds the copy."""
    for part in ("haytham", "templates", "schemas"):
        shutil.copytree(programs.PACKAGE / part, folder / part, ignore=shutil.ignore_patterns("__pycache__"))
    for file, right, wrong in PLANTED[name]:
        path = folder / "haytham" / file
        text = path.read_text()
        assert right in text, f"{file} no longer says {right!r}; plant the bug {name!r} anew"
        path.write_text(text.replace(right, wrong))
    return folder
