"""How many trials a test makes: few in a normal run, many in the release gate."""

import os

_IS_RELEASE = os.environ.get("HAYTHAM_TRIALS") == "release"


def count(smoke: int, release: int) -> int:
    """Returns the number of trials for this run; `HAYTHAM_TRIALS=release` asks for the larger one."""
    return release if _IS_RELEASE else smoke
