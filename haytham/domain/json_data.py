"""JSON data: what a caller may hand in for a journal to keep, copied and compared exactly."""

import math
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from haytham.domain.errors import InvalidInput
from haytham.domain.identifiers import check_text

DEEPEST = 100
_LONGEST_INTEGER = 4096  # bits; Python itself refuses to write numbers that are much longer
_HINT = "use None, bool, int, finite float, str, list and dict with str keys."


def copy_of(value: object, where: str, depth: int = 0) -> Any:
    """Returns a copy that shares nothing mutable with the value; raises InvalidInput if it is no JSON data."""
    kind = type(value)
    if kind is str:
        return check_text(value, where)
    if value is None or kind is bool or (isinstance(value, int) and kind is int and _is_short(value)):
        return value
    if isinstance(value, float):
        if not math.isfinite(value):
            raise InvalidInput(f"{where} is {value!r}, which JSON does not know.", hint=_HINT)
        return float(value)
    if depth >= DEEPEST:
        raise InvalidInput(f"{where} is nested more than {DEEPEST} levels deep.", hint="flatten it, or pass text.")
    if isinstance(value, Mapping):
        return {_key(key, where): copy_of(each, f"{where}.{key}", depth + 1) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [copy_of(each, f"{where}[{index}]", depth + 1) for index, each in enumerate(value)]
    return _plain(value, where)


def read_only(value: Any) -> Any:
    """Returns JSON data in a form that nobody can change; `copy_of` leads back."""
    if isinstance(value, Mapping):
        return MappingProxyType({key: read_only(each) for key, each in value.items()})
    return tuple(map(read_only, value)) if isinstance(value, (list, tuple)) else value


def same(left: object, right: object) -> bool:
    """Tells whether two values are the same JSON text: 1, 1.0 and True differ, and so do two orders of keys."""
    if left is right:
        return True
    if type(left) is not type(right):
        return False
    if isinstance(left, dict) and isinstance(right, dict):
        return list(left) == list(right) and all(same(value, right[key]) for key, value in left.items())
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(same, left, right))
    if isinstance(left, float):
        return repr(left) == repr(right)  # 0.0 is not -0.0
    return left == right


def _key(key: object, where: str) -> str:
    if not isinstance(key, str):
        raise InvalidInput(f"{where} has the key {key!r}, which is not text.", hint=_HINT)
    return check_text(str.__str__(key), f"a key of {where}")


def _plain(value: object, where: str) -> Any:
    """Returns a member of a subclass of str or int, such as an enum's, as the plain value that it is."""
    if isinstance(value, str):
        return check_text(str.__str__(value), where)
    if isinstance(value, int) and not _is_short(value):
        raise InvalidInput(f"{where} is a number of more than {_LONGEST_INTEGER} bits.", hint="pass it as text.")
    if isinstance(value, int):
        return int(value)
    raise InvalidInput(f"{where} is a {type(value).__name__}, which is no JSON data.", hint=_HINT)


def _is_short(number: int) -> bool:
    return number.bit_length() <= _LONGEST_INTEGER
