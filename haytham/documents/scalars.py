"""One value on one line: how numbers, texts, times and short lists are written and read.

A text that could be taken for something else is written as a JSON string; all others stand as they are.
"""

import json
import math
import re
from collections.abc import Mapping
from typing import Any

from haytham.domain import suggestions

Schema = Mapping[str, Any]

NOTHING = "-"

_NOTHINGS = {"", NOTHING}
_TRUE = {"true", "yes", "y", "x", "[x]", "✓", "☑", "✅"}
_FALSE = {"false", "no", "n", "[ ]", "[]", "☐", "❌"}
_INTEGER = re.compile(r"[+-]?\d+\Z")
_GROUPED = re.compile(r"[+-]?\d{1,3}(,\d{3})+(\.\d+)?\Z")
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?\Z")
_PLAIN_ITEM = re.compile(r"[\w.:/@+-]+( [\w.:/@+-]+)*\Z")
_PLAIN_KEY = re.compile(r"[A-Za-z0-9][\w ./@+-]*(?<! )\Z")
_QUOTED_ITEM = re.compile(r'\s*("(?:[^"\\]|\\.)*")\s*(?:,|\Z)')
_KEY = re.compile(r'("(?:[^"\\]|\\.)*")\s*:\s*(.*)\Z', re.DOTALL)
_LONGEST_INTEGER = 4000  # digits; Python refuses to convert more


def shown(value: object) -> str:
    """Writes one value so that `read` with its schema gives it back."""
    if value is None:
        return NOTHING
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(_item_shown(item) for item in value)}]"
    return _text_shown(str(value))


def shown_any(value: object) -> str:
    """Writes a value of any JSON type so that `read_any` gives it back."""
    if isinstance(value, str) and _is_plain(value) and not _is_json(value):
        return value
    return _quoted(value)


def shown_key(key: str) -> str:
    """Writes the key of a map so that `split_key` gives it back."""
    return key if _PLAIN_KEY.match(key) else _quoted(key)


def read(text: str, schema: Schema) -> Any:
    """Reads one value by the types that its schema allows; what fits none is returned as the text it is."""
    text = text.strip()
    if choices := schema.get("enum"):
        return None if text in _NOTHINGS and None in choices else _read_choice(text, choices)
    types = schema.get("type")
    if types is None:
        return read_any(text)
    if text in _NOTHINGS and types != "string":
        return None
    return _read_typed(text, types)


def read_any(text: str) -> Any:
    """Reads a value of any JSON type; what is no JSON is the text itself."""
    try:
        return json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        return text


def split_key(text: str) -> tuple[str, str] | None:
    """Splits `key: value`, where the key may be a JSON string; None if there is no colon."""
    if match := _KEY.match(text):
        return str(_unquoted(match.group(1))), match.group(2)
    key, colon, value = text.partition(":")
    key = key.strip()
    if key.startswith("**"):  # bold, with the colon inside or outside
        key, value = key.strip("*").strip(), value.removeprefix("**")
    return (key, value.strip()) if colon else None


def _read_typed(text: str, types: str | list[str]) -> Any:
    if "string" in types:
        return _unquoted(text)
    if "boolean" in types:
        return _read_boolean(text)
    return _read_list(text) if "array" in types else _read_number(text, whole="integer" in types)


def _text_shown(text: str) -> str:
    return text if _is_plain(text) else _quoted(text)


def _quoted(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if text.isprintable() else json.dumps(value)


def _is_plain(text: str) -> bool:
    return bool(text) and text.isprintable() and text == text.strip() and text != NOTHING and text[0] != '"'


def _is_json(text: str) -> bool:
    return not isinstance(read_any(text), str)


def _item_shown(item: object) -> str:
    text = str(item)
    return text if _PLAIN_ITEM.match(text) and text.isprintable() else _quoted(text)


def _unquoted(text: str) -> str:
    if text.startswith('"'):
        value = read_any(text)
        return value if isinstance(value, str) else text
    return text


def _read_choice(text: str, choices: list[str | None]) -> str:
    if text in choices:
        return text
    by_form = {suggestions.normalised(each): each for each in choices if each is not None}
    return by_form.get(suggestions.normalised(_bare(text)), text)


def _read_boolean(text: str) -> bool | str:
    word = _bare(text).casefold()
    if word in _TRUE:
        return True
    return False if word in _FALSE else text


def _read_number(text: str, *, whole: bool) -> float | str:
    figure = text.removeprefix("$").removesuffix("s").strip()
    if _GROUPED.match(figure):
        figure = figure.replace(",", "")
    if _INTEGER.match(figure) and len(figure) < _LONGEST_INTEGER:
        return int(figure)
    if _NUMBER.match(figure) and not whole and math.isfinite(number := float(figure)):
        return number
    return text


def _read_list(text: str) -> list[str]:
    inner = text[1:-1] if text.startswith("[") and text.endswith("]") else text
    items, start = [], 0
    while start < len(inner):
        if match := _QUOTED_ITEM.match(inner, start):
            items.append(_unquoted(match[1]))
            start = match.end()
        else:
            comma = inner.find(",", start)
            end = len(inner) if comma < 0 else comma
            items.append(inner[start:end].strip())
            start = end + 1
    return [item for item in items if item]


def _bare(text: str) -> str:
    return text.strip("*_`. ") or text


def _refuse_constant(name: str) -> Any:
    raise ValueError(name)
