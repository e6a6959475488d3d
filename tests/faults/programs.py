"""Starts the programs of the fault tests, against the package itself or a copy with a planted bug."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[2]
_PATIENCE = 60.0


def environment(package: Path = PACKAGE) -> dict[str, str]:
    """Returns an environment in which `haytham` comes from a folder, and nothing measures or configures it."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("COV", "GIT_", "PYTEST"))}
    return kept | {"PYTHONPATH": f"{package}{os.pathsep}{PACKAGE}", "HAYTHAM_ON_TRIAL": str(package)}


def start(
    module: str, *arguments: str, output: Path, package: Path = PACKAGE, cwd: Path | None = None
) -> subprocess.Popen[bytes]:
    """Starts a program and returns when it has said the first word."""
    with output.open("wb") as file:
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", module, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=subprocess.STDOUT,
            env=environment(package),
            cwd=cwd,
        )
    deadline = time.monotonic() + _PATIENCE
    while not output.stat().st_size and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.002)
    return process


def kill(process: subprocess.Popen[bytes]) -> int:
    """Kills a process of ours and returns how it ended."""
    if process.poll() is None:
        process.send_signal(signal.SIGKILL)
    return process.wait()


def run(module: str, *arguments: str, package: Path = PACKAGE) -> subprocess.CompletedProcess[str]:
    """Runs a program to its end."""
    return subprocess.run(
        [sys.executable, "-P", "-m", module, *arguments],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        env=environment(package),
        timeout=_PATIENCE,
    )
