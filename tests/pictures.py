"""Takes pictures of the commands in a terminal of 80 columns, to look at: `make pictures`.

Each scene becomes an SVG and, where the font is installed, a PNG. Not a pytest file: what it makes is for eyes.
"""

import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from html import escape
from itertools import groupby
from pathlib import Path

import pyte
from PIL import Image, ImageDraw, ImageFont
from pyte.screens import Char

from tests import terminal
from tests.cli.conftest import PROGRAM, new_session
from tests.cli.waiting import attempt, decides, editor, form, waiting_session

WIDTH, HEIGHT, MARGIN, SIZE = 9, 19, 10, 15
MOST_LINES = 400
PAPER, INK = "#1d1f21", "#d0d0d0"
COLOURS = {
    "default": INK,
    "black": "#1d1f21",
    "red": "#e06c75",
    "green": "#98c379",
    "brown": "#e5c07b",  # as terminals call the dark yellow
    "blue": "#61afef",
    "magenta": "#c678dd",
    "cyan": "#56b6c2",
    "white": "#ffffff",
}
WEIGHTS = {False: "normal", True: "bold"}
FONTS = {False: "DejaVuSansMono.ttf", True: "DejaVuSansMono-Bold.ttf"}


@dataclass(frozen=True, kw_only=True)
class Run:
    """Characters of one line that look alike."""

    column: int
    text: str
    colour: str
    bold: bool


Scene = Callable[[Path], bytes]


def screen(written: bytes) -> list[list[Run]]:
    """Returns what a terminal shows after these bytes, line by line, without the empty lines at the end."""
    seen = pyte.Screen(terminal.COLUMNS, MOST_LINES)
    pyte.ByteStream(seen).feed(written)
    lines = [list(_runs([seen.buffer[row][column] for column in range(seen.columns)])) for row in range(MOST_LINES)]
    while lines and not lines[-1]:
        lines.pop()
    return lines


def _runs(cells: list[Char]) -> Iterator[Run]:
    column = 0
    for (colour, bold), of_style in groupby(cells, key=lambda cell: (cell.fg, cell.bold)):
        text = "".join(cell.data for cell in of_style)
        if text.strip():
            yield Run(column=column, text=text.rstrip(), colour=COLOURS.get(colour, f"#{colour}"), bold=bold)
        column += len(text)


def svg(lines: list[list[Run]]) -> str:
    """Draws a screen as an SVG."""
    width, height = _measures(lines)
    texts = [
        f'<text x="{MARGIN + run.column * WIDTH}" y="{MARGIN + row * HEIGHT + SIZE}" fill="{run.colour}"'
        f' textLength="{len(run.text) * WIDTH}" font-weight="{WEIGHTS[run.bold]}">{escape(run.text)}</text>'
        for row, line in enumerate(lines)
        for run in line
    ]
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" xml:space="preserve"'
    style = f'font-family="DejaVu Sans Mono, monospace" font-size="{SIZE}">'
    return "\n".join([f"{head} {style}", f'<rect width="100%" height="100%" fill="{PAPER}"/>', *texts, "</svg>\n"])


def png(lines: list[list[Run]], path: Path) -> None:
    """Draws a screen as a PNG; raises OSError where the font is not installed."""
    fonts = {bold: ImageFont.truetype(name, SIZE) for bold, name in FONTS.items()}
    image = Image.new("RGB", _measures(lines), PAPER)
    draw = ImageDraw.Draw(image)
    for row, line in enumerate(lines):
        for run in line:
            for index, char in enumerate(run.text):
                place = (MARGIN + (run.column + index) * WIDTH, MARGIN + row * HEIGHT)
                draw.text(place, char, fill=run.colour, font=fonts[run.bold])
    image.save(path)


def _measures(lines: list[list[Run]]) -> tuple[int, int]:
    return 2 * MARGIN + terminal.COLUMNS * WIDTH, 2 * MARGIN + max(1, len(lines)) * HEIGHT


def _typed(folder: Path, *words: str, keys: bytes = b"", **environment: str) -> bytes:
    """Returns a prompt with the command, and what it wrote."""
    prompt = f"$ haytham {' '.join(words)}\r\n".encode()
    return prompt + terminal.run(*PROGRAM, *words, environment=environment, keys=keys, cwd=folder)[1]


def _plain(*words: str) -> Scene:
    return lambda folder: _typed(folder, *words)


def _in_a_session(*words: str) -> Scene:
    def scene(folder: Path) -> bytes:
        new_session(folder / "projects")
        return _typed(folder, *words)

    return scene


def _after_the_demo(*words: str) -> Scene:
    def scene(folder: Path) -> bytes:
        _typed(folder, "demo", "--fast")
        return _typed(folder, *words)

    return scene


def _status_of_several(folder: Path) -> bytes:
    for name in ("Nightdesk", "A project with quite a long name, as people like to give them"):
        new_session(folder / "projects", name)
    return _typed(folder, "status")


def _status_with_trouble(folder: Path) -> bytes:
    sample = new_session(folder / "projects")
    (sample.folder / "phase_1_concept" / "concept_expansion.md").write_text("mine")
    _typed(folder, "status")
    broken = sample.folder / "phase_1_concept" / "user_feedback.md"
    broken.write_text(broken.read_text().replace("- Action:", "- Action: perhaps"))
    return _typed(folder, "status")


def _validate_with_problems(folder: Path) -> bytes:
    sample = new_session(folder / "projects")
    broken = sample.folder / "phase_1_concept" / "user_feedback.md"
    broken.write_text(
        broken.read_text().replace("- Reviewed: true", "- Reviewed: maybe").replace("## User C", "## Usr C")
    )
    (sample.folder / "phase_1_concept" / "concept_expansion.md").unlink()
    return _typed(folder, "validate")


def _review_with_a_fault(folder: Path) -> bytes:
    waiting_session(folder / "projects")
    return _typed(folder, "review", keys=b"y\n", EDITOR=editor(folder, decides("aproved"), _mended()))


def _mended() -> str:
    return "path.write_text(text.replace('aproved', 'approved'))"


def _review_left_open(folder: Path) -> bytes:
    waiting_session(folder / "projects")
    return _typed(folder, "review", EDITOR="true")


def _approved(folder: Path) -> bytes:
    waiting_session(folder / "projects")
    return _typed(folder, "approve", "-m", "The size is counted now, and the sources are named; this is what we need.")


def _refused(folder: Path) -> bytes:
    form(waiting_session(folder / "projects")).write_text("nothing of ours")
    return _typed(folder, "approve", "1")


def _diff(folder: Path) -> bytes:
    sample = waiting_session(folder / "projects")
    _typed(folder, "request-changes", "-c", "Name the sources", "-c", "Count from hospitals upwards")
    attempt(sample, 1, "the second text\n")
    return _typed(folder, "diff") + _typed(folder, "resume")


def _started(folder: Path) -> bytes:
    first = _typed(folder, "init", "an idea", "--name", "Plots") + _typed(folder, "new", "--review", "1=required")
    return first + _typed(folder, "start") + _typed(folder, "start", "2")


SCENES: dict[str, Scene] = {
    "overview": _plain("--help"),
    "demo": _plain("demo", "--fast"),
    "status": _after_the_demo("status"),
    "status-several": _status_of_several,
    "status-trouble": _status_with_trouble,
    "log": _after_the_demo("log"),
    "validate": _after_the_demo("validate"),
    "validate-problems": _validate_with_problems,
    "review-fault": _review_with_a_fault,
    "review-open": _review_left_open,
    "approve": _approved,
    "approve-refused": _refused,
    "diff-resume": _diff,
    "resume": _in_a_session("resume"),
    "start": _started,
    "next": _in_a_session("next"),
    "doctor": _plain("doctor"),
    "workflow": _plain("workflow", "show", "idea_validation"),
    "watch": _after_the_demo("watch"),
    "help-new": _plain("new", "--help"),
    "help-complete": _plain("complete", "--help"),
    "no-such-command": _plain("stauts"),
    "no-projects": _plain("status"),
    "help-status": _plain("status", "--help"),
    "help-request-changes": _plain("request-changes", "--help"),
}


def take(name: str, into: Path) -> list[list[Run]]:
    """Plays one scene in a folder of its own, writes its pictures and returns what was seen."""
    folder = Path(tempfile.mkdtemp(prefix="haytham-picture-"))
    try:
        lines = screen(SCENES[name](folder))
    finally:
        shutil.rmtree(folder)
    (into / f"{name}.svg").write_text(svg(lines), encoding="utf-8")
    png(lines, into / f"{name}.png")
    return lines


def main(arguments: list[str]) -> int:
    """Takes the pictures that are named, or all, into the folder that is named first."""
    into = Path(arguments[0])
    into.mkdir(parents=True, exist_ok=True)
    for name in arguments[1:] or SCENES:
        take(name, into)
        print(into / f"{name}.png")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
