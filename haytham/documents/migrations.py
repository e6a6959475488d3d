"""Brings documents of older formats up to the present one: the steps that there are, by kind.

A step takes the text of one version to the next, its mark included; several are taken one after the other. The reader
takes them too, so that an old document can be read where it is and need not be rewritten first. A version without a
step, older or newer, is left as it is, and the reader refuses it.
"""

import re
from collections.abc import Callable, Mapping

from haytham.documents.document import FORMAT_VERSION

Step = Callable[[str], str]
Steps = Mapping[str, Mapping[int, Step]]

KNOWN: Steps = {}  # by kind, then by the version that a step starts from; format 1 is the first there was

_MARK = re.compile(r"^<!-- haytham (?P<kind>\w+) v(?P<version>\d{1,9}) -->", re.MULTILINE)
_SECTION = re.compile(r"^## ", re.MULTILINE)


def version_of(kind: str, text: str) -> int:
    """Returns the format that a document says it has; one that says nothing is taken for the present one."""
    first = _SECTION.search(text)
    found = _MARK.search(text, 0, first.start() if first else len(text))
    return int(found["version"]) if found and found["kind"] == kind else FORMAT_VERSION


def is_newer(kind: str, text: str) -> bool:
    """Tells whether a document says that a later release wrote it."""
    return version_of(kind, text) > FORMAT_VERSION


def upgraded(kind: str, text: str, known: Steps = KNOWN) -> str:
    """Returns a text in the newest format that steps lead to; the text itself where none starts."""
    steps = known.get(kind)
    if not steps:
        return text
    while (step := steps.get(version_of(kind, text))) is not None:
        text = step(text)
    return text
