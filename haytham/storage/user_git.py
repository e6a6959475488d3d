"""The user's own git: what must go through the program itself. The gateway to GitPython.

Only fixed words are passed as arguments; the repository is named by the environment, so that git searches for none,
and every variable that could name another one is set with it.
"""

import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from haytham.domain.errors import BrokenRepository, Location, NotFound
from haytham.storage import files, git_variables

if TYPE_CHECKING:
    import git


def fsck(folder: Path) -> list[str]:
    """Returns what git finds wrong with the repository in a folder, line by line; nothing if all is well."""
    with _git(folder) as program:
        status, output, errors = program.fsck(
            "--strict", "--full", "--no-dangling", "--no-progress", with_extended_output=True, with_exceptions=False
        )
    if status == 0:
        return []
    lines = [line for line in (*output.splitlines(), *errors.splitlines()) if line.strip()]
    return lines or [f"git fsck ended with status {status}"]


def repack(folder: Path) -> None:
    """Lets git put all objects of the repository in a folder into one pack, those that no branch leads to as well.

    What `git gc` does beyond it could discard something that a person may still want, or run a program of the
    repository's.
    """
    with _git(folder) as program:
        for words in (("repack", "-a", "-d", "-k", "-q"), ("pack-refs", "--all")):
            status, _, errors = getattr(program, words[0].replace("-", "_"))(
                *words[1:], with_extended_output=True, with_exceptions=False
            )
            if status != 0:
                raise BrokenRepository(
                    f"git {words[0]} ended with status {status}: {errors.strip() or 'it does not say why'}.",
                    location=Location(path=str(folder)),
                    hint="haytham validate shows what git finds wrong.",
                )


def version() -> tuple[int, ...]:
    """Returns the version of the user's git; raises NotFound if there is none."""
    return tuple(_library().Git().version_info)


class Signature(NamedTuple):
    """What git says about the signature of a commit."""

    letter: str  # as of `%G?`
    signer: str
    key: str
    primary_key: str  # only openpgp has those


def signatures(folder: Path, head: str, overrides: Mapping[str, str]) -> dict[str, Signature]:
    """Returns what git says about the signature of each commit that leads to one, by id.

    `overrides` go before the repository's own settings, so that none of those can name a program.
    """
    with _git(folder) as program:
        settings = [f"{name}={value}" for name, value in overrides.items()]
        output = program(c=settings).log(
            "--format=%H%x00%G?%x00%GS%x00%GF%x00%GP", head, "--", with_exceptions=False, strip_newline_in_stdout=False
        )
    rows = [line.split("\0") for line in output.splitlines()]
    return {row[0]: Signature(*row[1:]) for row in rows if len(row) == 1 + len(Signature._fields)}


def run(command: list[str], data: bytes) -> tuple[int, bytes, str]:
    """Runs a program of the user's on some bytes; returns its status, what it wrote, and its words."""
    try:
        done = subprocess.run(command, input=data, capture_output=True, check=False)  # noqa: S603 - from the user's own settings
    except OSError as error:
        return 127, b"", str(error)
    return done.returncode, done.stdout, done.stderr.decode(errors="replace").strip()


@contextmanager
def _git(folder: Path) -> Iterator["git.Git"]:
    program: git.Git = _library().Git(folder)
    program.update_environment(**git_variables.leading_to(str(folder.absolute())))
    try:
        with files.translating():  # the program may not even start
            yield program
    finally:
        program.clear_cache()


def _library() -> Any:
    try:
        import git
    except ImportError as error:  # GitPython looks for the program when it is imported
        raise NotFound("the program git was not found.", hint="install git, or add its folder to PATH.") from error
    return git
