"""Compares what was acknowledged with what is there, in the documents and in git; returns every difference."""

import json
import subprocess
from pathlib import Path
from typing import Any

from tests.faults import programs
from tests.faults.journal import ABSENT, Save, allowed, cut_short, subject
from tests.faults.orchestrator import PROJECT

_UNRECORDED = {"pending", "in_progress"}


def differences(base: Path, saves: list[Save], package: Path = programs.PACKAGE) -> list[str]:
    """Opens everything that a journal names with a fresh process, and looks for what is lost, torn or left over."""
    subjects = {subject(key) for save in saves for key in save.writes}
    sessions = sorted(each for each in subjects if each.startswith("session-"))
    opened = programs.run("tests.faults.inspector", str(base), *sessions, package=package)
    if opened.returncode:
        return [f"a fresh process cannot open it: {opened.stderr[-2000:]}"]
    found = json.loads(opened.stdout)
    problems = _of_values(saves, found) + leftovers(base)
    for repository in [".", *(f"sessions/{each}" for each in sessions)]:
        wanted = {save.commits[repository] for save in saves if repository in save.commits}
        problems += of_repository(base / PROJECT / repository, wanted, found)
    return problems


def _of_values(saves: list[Save], found: dict[str, Any]) -> list[str]:
    problems = [
        f"{key} is {found.get(key, ABSENT)}, not {' or '.join(map(str, values))}"
        for key, values in allowed(saves).items()
        if found.get(key, ABSENT) not in values
    ]
    for save in cut_short(saves):
        seen = {key: found.get(key, ABSENT) == value for key, value in save.writes.items()}
        changed = {key for key in seen if len(allowed(saves)[key]) > 1 and len(set(map(str, allowed(saves)[key]))) > 1}
        if len({seen[key] for key in changed}) > 1:
            problems.append(f"half of a save is there: {seen}")
    return problems


def leftovers(base: Path) -> list[str]:
    """Returns the temporary files, folders and locks that nobody needs any more."""
    names = [p for p in base.rglob("*") if "haytham-tmp" in p.name or (p.suffix == ".lock" and p.stem != "haytham")]
    return [f"left behind: {path.relative_to(base)}" for path in names]


def of_repository(folder: Path, wanted: set[str], found: dict[str, Any]) -> list[str]:
    """Returns what git finds wrong in one repository."""
    problems = [f"{folder.name}: fsck says {line}" for line in _fsck(folder)]
    missing = wanted - set(git(folder, "log", "--format=%H").stdout.split())
    problems += [f"{folder.name}: acknowledged commit {each} is not in the log" for each in missing]
    dirty = [line[3:] for line in git(folder, "status", "--porcelain", "-uall").stdout.splitlines()]
    problems += [f"{folder.name}: git status says {name}" for name in dirty if not _in_progress(folder, name, found)]
    return problems


def git(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Runs the user's git in a folder, and there only."""
    git_folder = ["--git-dir", str(folder / ".git"), "--work-tree", str(folder)]
    return subprocess.run(
        ["git", "-c", "safe.directory=*", *git_folder, *arguments],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
    )


def _fsck(folder: Path) -> list[str]:
    done = git(folder, "fsck", "--strict", "--no-dangling")
    lines = (done.stdout + done.stderr).splitlines()
    complaints = [line for line in lines if not line.startswith("Checking ")]
    return complaints or ([f"exit code {done.returncode}"] if done.returncode else [])


def _in_progress(folder: Path, name: str, found: dict[str, Any]) -> bool:
    """Tells whether a document that is not committed belongs to a phase that is just being worked on."""
    statuses = {
        key.split("/")[2]: value[0] for key, value in found.items() if key.startswith(f"{folder.name}/checkpoint/")
    }
    if name == "session_manifest.md":
        return bool(_UNRECORDED & set(statuses.values()))
    return name.startswith("phase_") and statuses.get(name.split("_")[1], "pending") in _UNRECORDED
