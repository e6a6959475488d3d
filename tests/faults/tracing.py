"""Calls of the workshop with strace on them: counts their system calls, makes one fail, or kills at one."""

import re
import shutil
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from tests.faults import programs

CHANGING = (
    "openat",
    "write",
    "pwrite64",
    "fsync",
    "fdatasync",
    "rename",
    "renameat2",
    "link",
    "linkat",
    "unlink",
    "unlinkat",
    "mkdir",
    "mkdirat",
    "rmdir",
    "ftruncate",
    "flock",
    "chmod",
    "fchmod",
)
WITHOUT_STRACE = "" if shutil.which("strace") else "strace is not installed here"


@dataclass(frozen=True, kw_only=True, slots=True)
class Ended:
    """How a call ended: its word (`ok`, an error, or nothing) and its status; what it called."""

    said: str
    status: int
    calls: Counter[str]


class Workshop:
    """A warm process that forks one child for each call."""

    def __init__(self, package: Path = programs.PACKAGE) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "tests.faults.workshop"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=programs.environment(package),
            bufsize=0,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()
        programs.kill(self._process)

    def prepare(self, base: Path, how: str = "prepare") -> None:
        """Makes the folder that calls start from."""
        self._say(f"{how} {base}")
        assert self._hear() == "ok"

    def call(self, call: str, base: Path, inject: str = "", trace: Path | None = None) -> Ended:
        """Does a call; with `inject`, as strace understands it; with `trace`, noting what it called."""
        self._say(f"{call} {base}")
        child = int(self._hear().removeprefix("ready "))
        tracer = self._attach(child, inject, trace) if inject or trace else None
        self._say("")
        heard = [self._hear()]
        if not heard[0].startswith("exit "):
            heard.append(self._hear())
        if tracer is not None:
            tracer.communicate(timeout=30)
        said = heard[0] if len(heard) > 1 else ""
        status = int(heard[-1].removeprefix("exit "))
        return Ended(said=said, status=status, calls=_calls(trace) if trace else Counter())

    def _attach(self, child: int, inject: str, trace: Path | None) -> subprocess.Popen[bytes]:
        chosen = inject.split(":", maxsplit=1)[0] if inject else ",".join(CHANGING)
        injection = ["-e", f"inject={inject}"] if inject else []
        tracer = subprocess.Popen(
            ["strace", "-p", str(child), "-e", f"trace={chosen}", *injection, "-o", str(trace or "/dev/null")],
            stderr=subprocess.PIPE,
            stdin=subprocess.DEVNULL,
        )
        assert tracer.stderr is not None
        first = tracer.stderr.readline().decode()
        assert "attached" in first, first
        return tracer

    def _say(self, line: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(f"{line}\n".encode())

    def _hear(self) -> str:
        assert self._process.stdout is not None
        line = self._process.stdout.readline().decode()
        assert line, "the workshop has ended"
        return line.strip()


def _calls(trace: Path) -> Counter[str]:
    names = re.findall(r"^(\w+)\((.*)$", trace.read_text(), re.MULTILINE)
    reading = [name for name, rest in names if name == "openat" and "O_RDONLY" in rest and "O_CREAT" not in rest]
    counted = Counter(name for name, _ in names)
    counted["openat for reading"] = len(reading)
    counted["write"] -= 1  # the word it says at its end
    return counted
