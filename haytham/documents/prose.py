"""Free text inside a document: how it is fenced in, so that nothing in it can become structure.

Plain paragraphs stand as they are, because people read them.
Anything that could end a section, start a fence or lose a byte is put between two fences marked "verbatim".
"""

import re

VERBATIM = "verbatim"
OWN_COMMENT = "<!-- haytham"

_RISKY_LINE = re.compile(r"^\s*(#|```|~~~|<|=|-+\s*$)", re.MULTILINE)
_TILDES = re.compile(r"~{3,}")
_FENCED = re.compile(r"(?P<indent> *)(?P<fence>~{3,})verbatim *\n(?P<body>.*)\n *(?P=fence) *\Z", re.DOTALL)
_INDENT = "  "


def shown(text: str) -> str:
    """Writes free text so that `read` gives it back byte for byte."""
    return text if _is_plain(text) else fenced(text)


def shown_item(text: str) -> str:
    """Writes the text of a list item, with its further lines indented below the bullet."""
    if text and _is_plain(text) and all(line == line.rstrip() for line in text.split("\n")):
        return f" {_indented(text)}"
    return f"\n{_INDENT}{_indented(fenced(text))}"


def fenced(text: str) -> str:
    """Puts a text between fences that nothing in it can close."""
    longest = max((len(run) for run in _TILDES.findall(text)), default=2)
    fence = "~" * (longest + 1)
    return f"{fence}{VERBATIM}\n{text}\n{fence}"


def read(source: str, *, crlf: bool) -> str:
    """Reads the source of a section of free text; `crlf` says that an editor wrote the whole file so."""
    source = source.replace("\r\n", "\n") if crlf else source
    text = unfenced(source.strip("\n"))
    if text is not None:
        return text
    lines = source.split("\n")
    while lines and not lines[0].strip():
        lines.pop(0)
    return "\n".join(lines).rstrip()


def unfenced(source: str) -> str | None:
    """Returns what stands between verbatim fences, without their indentation, or None if there are none."""
    match = _FENCED.match(source)
    if match is None:
        return None
    body, indent = match["body"], match["indent"]
    if not indent:
        return body
    return "\n".join(line.removeprefix(indent) for line in body.split("\n"))


def dedented(lines: list[str]) -> str:
    """Joins the further lines of a list item without the indentation that shows they belong to it."""
    return "\n".join(line.removeprefix(_INDENT) for line in lines)


def _is_plain(text: str) -> bool:
    if text != text.strip() or text.startswith("\ufeff") or _RISKY_LINE.search(text):
        return False
    return all(line.isprintable() or line.replace("\t", "").isprintable() for line in text.split("\n"))


def _indented(text: str) -> str:
    first, *rest = text.split("\n")
    return "\n".join([first, *(f"{_INDENT}{line}" if line else line for line in rest)])
