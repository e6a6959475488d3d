"""The user as their own git knows them: their identity and their settings. A repository's settings do not count."""

from typing import TYPE_CHECKING

from haytham.domain.errors import StorageFailure
from haytham.storage.history import Person

if TYPE_CHECKING:
    import pygit2


def user_identity() -> Person | None:
    """Returns who the user is to git, from their own settings, or None if they have not said."""
    found = user_settings("user.name", "user.email")
    return Person(name=found["user.name"], email=found["user.email"]) if len(found) == 2 else None  # noqa: PLR2004 - both


def user_settings(*names: str) -> dict[str, str]:
    """Returns those of the user's own settings of git that they have given a value."""
    values = {name: config[name] for config in _configs() for name in names if name in config}
    return {name: str(value) for name, value in values.items() if value is not None}


def user_wants(name: str) -> bool:
    """Tells whether the user has switched one of git's settings on, in any of the words that git takes for yes.

    Raises StorageFailure if it is neither on nor off; git refuses to work then, too.
    """
    import pygit2

    found = [config for config in _configs() if name in config]
    try:
        return bool(found) and found[-1].get_bool(name)
    except pygit2.GitError as error:
        raise StorageFailure(
            f"the user's git is set up with {name}, which can be neither read as true nor as false; nothing was saved.",
            hint=f"git config --global {name} true, or false.",
        ) from error


def _configs() -> "list[pygit2.Config]":
    """Returns the user's files of settings that can be read; the later ones count more."""
    import pygit2

    found = []
    for read in (pygit2.Config.get_xdg_config, pygit2.Config.get_global_config):
        try:
            found.append(read())
        except (OSError, pygit2.GitError):
            continue  # there is none, or none that can be read
    return found
