"""The variables under which the user's git is run, so that those around it cannot lead it elsewhere.

Git sets such variables for its hooks. They are overridden rather than dropped, so that a caller need not know the
environment. Which files the user's own settings come from (GIT_CONFIG_GLOBAL) stays theirs to say. Imports nothing.
"""

FIXED = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_COUNT": "0",
    "GIT_CONFIG_PARAMETERS": "",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES": "",
    "GIT_NAMESPACE": "",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_IMPLICIT_WORK_TREE": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_NO_LAZY_FETCH": "1",  # nothing is ever fetched because an object is missing,
    "GIT_ALLOW_PROTOCOL": "",  # which releases of git before 2.39.4 understand only in these words
    "LC_ALL": "C",  # the messages are passed on, and should be the same everywhere
}
_PLACES = {
    "GIT_DIR": "",
    "GIT_COMMON_DIR": "",
    "GIT_OBJECT_DIRECTORY": "/objects",
    "GIT_INDEX_FILE": "/index",
    "GIT_GRAFT_FILE": "/info/grafts",
    "GIT_SHALLOW_FILE": "/shallow",
}


def leading_to(folder: str) -> dict[str, str]:
    """Returns the variables under which git works in a folder (an absolute path) and its `.git`, and nowhere else."""
    places = {name: f"{folder}/.git{place}" for name, place in _PLACES.items()}
    return FIXED | places | {"GIT_WORK_TREE": folder}
