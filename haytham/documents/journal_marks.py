"""Where the entries of a journal end, told by the lines that only Haytham writes; nothing is checked or read here."""

import re

Bytes = bytes | bytearray
ENDING = re.compile(rb"\n<!-- entry ([0-9a-f]{24}) sha256:([0-9a-f]{32}) -->\n")
HEADER_END = re.compile(rb"\n<!-- haytham:journal (\d+) sha256:([0-9a-f]{32}) -->\n")


def mark_of(entry_id: str) -> bytes:
    """Returns what the last line of an entry begins with, and no other line."""
    return f"\n<!-- entry {entry_id} sha256:".encode()


def until(data: bytes, entry_id: str) -> bytes:
    """Returns the bytes of a journal up to the end of an entry, or all if it is not there."""
    place = data.find(mark_of(entry_id))
    return data if place < 0 else data[: data.find(b"\n", place + 1) + 1]


def finished_part(data: bytes) -> bytes:
    """Returns the bytes of a journal up to the last line that ends an entry, or else the first lines."""
    end = len(data)
    while (place := data.rfind(b"\n<!-- ", 0, end)) >= 0:
        if found := ENDING.match(data, place) or HEADER_END.match(data, place):
            return data[: found.end()]
        end = place
    return data


def line_at(data: Bytes, offset: int) -> int:
    """Returns the number of the line in which a byte stands, for messages."""
    return data.count(b"\n", 0, offset) + 1


def has_entry_behind(data: Bytes, start: int) -> bool:
    """Tells whether anything seems to end behind a point but one last entry: what stands there is no torn tail."""
    first = ENDING.search(data, start)
    return first is not None and first.end() < len(data)
