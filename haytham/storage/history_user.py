"""The user as their own git knows them: their identity and their settings. A repository's settings do not count."""

from haytham.storage.history import Person


def user_identity() -> Person | None:
    """Returns who the user is to git, from their own settings, or None if they have not said."""
    found = user_settings("user.name", "user.email")
    return Person(name=found["user.name"], email=found["user.email"]) if len(found) == 2 else None  # noqa: PLR2004 - both


def user_settings(*names: str) -> dict[str, str]:
    """Returns those of the user's own settings of git that they have made."""
    import pygit2

    try:
        config = pygit2.Config.get_global_config()
        return {name: str(config[name]) for name in names if name in config}
    except (OSError, pygit2.GitError):
        return {}
