"""Finds the lines that an unfinished merge leaves behind."""

import re

from haytham.documents.blocks import FENCE, HEADING, Block
from haytham.documents.outline import Source
from haytham.documents.prose import VERBATIM

_MARKER = re.compile(r"(?:<{7}|>{7}|\|{7})(?: |\Z)|={7}\Z")
_RUNS = ("<<<<<<<", ">>>>>>>", "|||||||", "=======")


def markers(source: Source, blocks: tuple[Block, ...]) -> list[tuple[int, str]]:
    """Returns the marker lines outside of verbatim text, as offset and marker."""
    end = blocks[-1].end if blocks else 0
    if not any(source.text.find(run, 0, end) >= 0 for run in _RUNS):
        return []
    found = [
        (offset, match[0].rstrip(), block.kind)
        for block in blocks
        if not (block.kind == FENCE and block.info == VERBATIM)
        for offset, line in source.lines(block)
        if (match := _MARKER.match(line.rstrip()))
    ]
    # Alone, seven "=" may also underline a heading.
    is_sure = any(not marker.startswith("=") for _, marker, _ in found)
    return [(offset, marker) for offset, marker, kind in found if is_sure or kind != HEADING]
