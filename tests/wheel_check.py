"""Builds the wheel, installs it without dev tools in a clean environment, and uses it from another folder.

Run by `make test`, with the interpreter of `.venv`: not a pytest file, because the point is to be outside of all that.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import venv
import zipfile
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
QUIET = ("--quiet", "--disable-pip-version-check", "--no-input")

_REFERENCE = """
import sys
sys.path.insert(0, {tests!r})
import reference
reference.run(reference.page_blocks() or reference.own_blocks())
import haytham
assert {site!r} in haytham.__file__, haytham.__file__
"""

_RESOURCES = """
from haytham import resources
kinds = {"agent_output", "checkpoint", "project", "session_manifest", "user_feedback"}
assert {f"{kind}.md.j2" for kind in kinds} <= set(resources.names("templates"))
assert {f"{kind}.schema.json" for kind in kinds} <= set(resources.names("schemas"))
assert "status.schema.json" in resources.names("schemas/cli")
assert "idea_validation.toml" in resources.names("workflows")
assert all(resources.text("templates", name) for name in resources.names("templates"))
"""

_NO_DEV_TOOLS = """
import importlib.util
assert not [name for name in ("pytest", "hypothesis", "mypy", "coverage") if importlib.util.find_spec(name)]
"""


class Wheel:
    """A built wheel, installed in an environment of its own."""

    def __init__(self, folder: Path) -> None:
        self.elsewhere = folder / "elsewhere"
        self.elsewhere.mkdir()
        self._built = folder / "built"
        self._environment = folder / "environment"
        self._python = self._environment / "bin" / "python"

    def install(self) -> None:
        """Builds the wheel from a copy of the source and installs it with its dependencies."""
        self._pip(sys.executable, "wheel", str(ROOT), "--no-deps", "--wheel-dir", str(self._built))
        venv.create(self._environment, with_pip=False, symlinks=True)
        self._pip(sys.executable, "--python", str(self._python), "install", str(self.file))

    @property
    def file(self) -> Path:
        """The one wheel that was built."""
        (found,) = self._built.glob("haytham-*.whl")
        return found

    def names(self) -> set[str]:
        """Returns the names of the files in the wheel."""
        with zipfile.ZipFile(self.file) as archive:
            return set(archive.namelist())

    def python(self, code: str) -> str:
        """Runs code in the clean environment, in another folder."""
        return self._run(str(self._python), "-I", "-c", code)

    def haytham(self, *arguments: str) -> str:
        """Runs the installed command in another folder."""
        return self._run(str(self._environment / "bin" / "haytham"), *arguments)

    def git(self, folder: str, *arguments: str) -> str:
        """Runs git below the other folder."""
        return self._run("git", "-C", folder, *arguments)

    def _pip(self, python: str, *arguments: str) -> None:
        options = [*arguments[:2], *QUIET, *arguments[2:]] if arguments[0] == "--python" else [*arguments, *QUIET]
        subprocess.run([python, "-m", "pip", *options], cwd=self.elsewhere, check=True)

    def _run(self, *command: str) -> str:
        plain = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "COVERAGE", "COV_"))}
        done = subprocess.run(
            command, cwd=self.elsewhere, env=plain, text=True, capture_output=True, check=False, timeout=60
        )
        if done.returncode != 0:
            raise AssertionError(f"{' '.join(command)[:200]} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
        return done.stdout


def resources_are_inside(wheel: Wheel) -> None:
    """Templates, schemas and workflows are files of the wheel, and are found by the installed package."""
    expected = {f"haytham/{path}" for folder in ("templates", "schemas") for path in _files(folder)}
    missing = expected - wheel.names()
    if missing or not expected:
        raise AssertionError(f"not in the wheel: {sorted(missing)}")
    wheel.python(_RESOURCES)


def only_the_package_is_inside(wheel: Wheel) -> None:
    """Tests, benchmarks and examples stay at home."""
    strange = sorted(name for name in wheel.names() if not name.startswith(("haytham/", "haytham-")))
    if strange:
        raise AssertionError(f"does not belong in the wheel: {strange}")


def no_dev_tools_are_needed(wheel: Wheel) -> None:
    """The environment that the other checks run in has no dev tools."""
    wheel.python(_NO_DEV_TOOLS)


def reference_usage_works(wheel: Wheel) -> None:
    """The reference usage runs as written, and git finds its result clean and sound."""
    tests = str(ROOT / "tests")
    wheel.python(_REFERENCE.format(tests=tests, site="site-packages"))
    session = "projects/project-123/sessions/session-456"
    if wheel.git(session, "status", "--porcelain"):
        raise AssertionError("git status is not clean")
    wheel.git(session, "fsck", "--strict")


def help_is_shown(wheel: Wheel) -> None:
    """The command is on the path and helps."""
    if "Usage:" not in wheel.haytham("--help"):
        raise AssertionError("haytham --help does not show the usage")


def demo_runs(wheel: Wheel) -> None:
    """The demo runs from the wheel."""
    wheel.haytham("demo", "--fast")


CHECKS: tuple[Callable[[Wheel], None], ...] = (
    resources_are_inside,
    only_the_package_is_inside,
    no_dev_tools_are_needed,
    reference_usage_works,
    help_is_shown,
    demo_runs,
)


def main() -> int:
    """Runs every check; returns how many failed."""
    folder = Path(tempfile.mkdtemp(prefix="haytham-wheel-"))
    failed = 0
    try:
        wheel = Wheel(folder)
        wheel.install()
        for check in CHECKS:
            try:
                check(wheel)
            except (AssertionError, subprocess.TimeoutExpired) as error:
                failed += 1
                print(f"wheel: {check.__name__} failed: {error}")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print(f"wheel: {len(CHECKS) - failed} passed, {failed} failed")
    return 1 if failed else 0


def _files(folder: str) -> list[Path]:
    return [path.relative_to(ROOT) for path in (ROOT / folder).rglob("*") if path.is_file()]


if __name__ == "__main__":
    sys.exit(main())
