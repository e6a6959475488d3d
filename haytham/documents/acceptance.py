"""A quick yes for values that fit their schema: most of what is read is valid, and jsonschema takes its time.

It knows just the keywords that our schemas use, and refuses to guess at others.
A no is no verdict: jsonschema has the last word, and finds the words.
"""

import math
import re
from collections.abc import Callable, Mapping
from typing import Any

Check = Callable[[Any], bool]

_LONGEST_INTEGER = 4096  # bits; Python itself refuses to write numbers that are much longer
_ANNOTATIONS = {"$schema", "title", "description", "layout", "itemTitle"}


def is_integer(value: object) -> bool:
    """Tells whether a value is a whole number that can be written."""
    return isinstance(value, int) and not isinstance(value, bool) and value.bit_length() <= _LONGEST_INTEGER


def is_number(value: object) -> bool:
    """Tells whether a value is a number that can be written."""
    return math.isfinite(value) if isinstance(value, float) else is_integer(value)


def acceptor(schema: Mapping[str, Any], is_format: Callable[[Any, str], bool]) -> Check:
    """Makes a check by a schema; raises KeyError at a keyword that it does not know."""
    checks = [_MAKERS[keyword](schema, is_format) for keyword in schema if keyword not in _ANNOTATIONS]

    def check(value: Any) -> bool:
        for each in checks:  # noqa: SIM110 - a generator would double the time
            if not each(value):
                return False
        return True

    return check


_TYPES: Mapping[str, Check] = {
    "array": lambda value: isinstance(value, list),
    "boolean": lambda value: isinstance(value, bool),
    "integer": is_integer,
    "null": lambda value: value is None,
    "number": is_number,
    "object": lambda value: isinstance(value, dict),
    "string": lambda value: isinstance(value, str),
}

_Format = Callable[[Any, str], bool]


def _type(schema: Mapping[str, Any], _: _Format) -> Check:
    names = schema["type"]
    if isinstance(names, str):
        return _TYPES[names]
    first, second = (_TYPES[name] for name in names)
    return lambda value: first(value) or second(value)


def _properties(schema: Mapping[str, Any], is_format: _Format) -> Check:
    parts = {key: acceptor(each, is_format) for key, each in schema["properties"].items()}

    def check(value: Any) -> bool:
        return not isinstance(value, dict) or all(parts[key](each) for key, each in value.items() if key in parts)

    return check


def _additional(schema: Mapping[str, Any], is_format: _Format) -> Check:
    known = schema.get("properties", {}).keys()
    rule = schema["additionalProperties"]
    if rule is False:
        return lambda value: not isinstance(value, dict) or value.keys() <= known
    part = acceptor(rule, is_format)
    return lambda value: not isinstance(value, dict) or all(part(value[key]) for key in value.keys() - known)


def _items(schema: Mapping[str, Any], is_format: _Format) -> Check:
    part = acceptor(schema["items"], is_format)
    return lambda value: not isinstance(value, list) or all(map(part, value))


def _required(schema: Mapping[str, Any], _: _Format) -> Check:
    keys = set(schema["required"])
    return lambda value: not isinstance(value, dict) or keys <= value.keys()


def _pattern(schema: Mapping[str, Any], _: _Format) -> Check:
    search = re.compile(schema["pattern"]).search
    return lambda value: not isinstance(value, str) or search(value) is not None


def _enum(schema: Mapping[str, Any], _: _Format) -> Check:
    allowed = schema["enum"]
    return lambda value: (value is None or isinstance(value, str)) and value in allowed


_MAKERS: Mapping[str, Callable[[Mapping[str, Any], _Format], Check]] = {
    "type": _type,
    "properties": _properties,
    "additionalProperties": _additional,
    "items": _items,
    "required": _required,
    "pattern": _pattern,
    "enum": _enum,
    "format": lambda schema, is_format: lambda value: is_format(value, schema["format"]),
    "minimum": lambda schema, _: lambda value: not is_number(value) or value >= schema["minimum"],
    "minLength": lambda schema, _: lambda value: not isinstance(value, str) or len(value) >= schema["minLength"],
    "minItems": lambda schema, _: lambda value: not isinstance(value, list) or len(value) >= schema["minItems"],
}
