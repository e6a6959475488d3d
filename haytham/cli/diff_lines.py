"""The lines of a diff, each in its colour."""

from collections.abc import Iterator

_STYLES = {"+++": "bold", "---": "bold", "@@": "cyan", "+": "green", "-": "red"}
_TAB = 4


def styled(text: str) -> Iterator[tuple[str, str]]:
    """Yields the lines of a unified diff, with the style of each."""
    for line in text.removesuffix("\n").split("\n"):
        style = next((style for start, style in _STYLES.items() if line.startswith(start)), "")
        yield line.expandtabs(_TAB), style
