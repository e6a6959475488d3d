"""What a document can hold: JSON values whose texts are whole Unicode characters."""

import math
import re
from collections.abc import Mapping

_SURROGATE = re.compile("[\ud800-\udfff]")


def flaw(value: object) -> str | None:
    """Names the first part of a value that cannot be written, such as `metadata.name`; None if all of it can."""
    if isinstance(value, str):
        return "" if _SURROGATE.search(value) else None
    if isinstance(value, Mapping):
        bad = (repr(key) for key in value if not isinstance(key, str) or _SURROGATE.search(key))
        return next(bad, None) or _first(value)
    if isinstance(value, list):
        return _first({str(index): each for index, each in enumerate(value)})
    is_json = value is None or isinstance(value, int) or (isinstance(value, float) and math.isfinite(value))
    return None if is_json else ""


def _first(parts: Mapping[str, object]) -> str | None:
    for key, each in parts.items():
        inner = flaw(each)
        if inner is not None:
            return f"{key}.{inner}".removesuffix(".")
    return None
