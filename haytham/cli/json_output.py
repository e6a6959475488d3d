"""What `--json` prints: one object whose `form` and `version` say what its other keys mean.

Each form has a schema, `schemas/cli/<form>.schema.json`; the tests hold every output against it.
A key that is there stays there, with its meaning, as long as the version is the same; new ones may come.
"""

import json
import sys
from collections.abc import Mapping
from typing import Any

VERSION = 1


def emit(form: str, value: Mapping[str, Any]) -> None:
    """Prints a value for programs, as plain ASCII."""
    text = json.dumps({"form": f"haytham.{form}", "version": VERSION, **value}, indent=2)
    sys.stdout.write(text.replace("\x7f", "\\u007f") + "\n")
