"""What `--json` prints: one object whose `form` and `version` say what its other keys mean.

Each form has a schema, `schemas/cli/<form>.schema.json`; the tests hold every output against it.
An error is an object of the form "haytham.error" on standard error.
A key that is there stays there, with its meaning, as long as the version is the same; new ones may come.
"""

import json
import sys

TYPE_CHECKING = False  # as of typing, which takes a while to import
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, TextIO

VERSION = 1


def emit(form: str, value: "Mapping[str, Any]", *, to: "TextIO | None" = None, in_one_line: bool = False) -> None:
    """Prints a value for programs: to standard output, unless told otherwise."""
    (to or sys.stdout).write(text(form, value, in_one_line=in_one_line))


def text(form: str, value: "Mapping[str, Any]", *, in_one_line: bool = False) -> str:
    """Returns what is printed for programs, as plain ASCII."""
    written = json.dumps({"form": f"haytham.{form}", "version": VERSION, **value}, indent=None if in_one_line else 2)
    return written.replace("\x7f", "\\u007f") + "\n"
