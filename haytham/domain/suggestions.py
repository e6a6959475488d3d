"""Finds the name that somebody probably meant."""

import difflib
import re
from collections.abc import Iterable

_SEPARATORS = re.compile(r"[\s_-]+")
_CUTOFF = 0.75
_LONGEST = 80  # a longer text is no slip of the fingers, and comparing it would take long


def normalised(name: str) -> str:
    """Folds case, spaces, hyphens and underscores, so that people may write names their own way."""
    return _SEPARATORS.sub(" ", name.strip()).casefold()


def closest(name: str, known: Iterable[str], *, cutoff: float = _CUTOFF) -> str | None:
    """Returns the known name that resembles this one, or None."""
    if len(name) > _LONGEST:
        return None
    by_form = {normalised(each): each for each in known}
    found = difflib.get_close_matches(normalised(name), by_form, n=1, cutoff=cutoff)
    return by_form[found[0]] if found else None


def allowed(name: str, known: Iterable[str]) -> str:
    """Words the hint for a wrong name: the likely one if there is one, then all of them."""
    names = list(known)
    meant = closest(name, names)
    listing = f"Allowed: {', '.join(names)}."
    return f'did you mean "{meant}"? {listing}' if meant else listing
