"""The terminal: what it can show, and how text, tables and trees get there. The gateway to rich.

Colours are off when the output is no terminal, when NO_COLOR is set and when TERM is dumb.
What is shown is text, never markup, and passes `visible`.
"""

import os
import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, TextIO

from haytham.cli.styles import STYLES
from haytham.cli.visible import visible, visible_lines

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.live import Live
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

WIDTH = 80


def is_conversation() -> bool:
    """Tells whether a person can be asked."""
    return sys.stdin is not None and sys.stdin.isatty() and is_terminal()


def is_terminal() -> bool:
    """Tells whether a person looks at the output."""
    return sys.stdout.isatty()


def columns(stream: TextIO) -> int | None:
    """Returns how wide the terminal is that a stream goes to, or None if it goes elsewhere."""
    try:
        return os.get_terminal_size(stream.fileno()).columns or None
    except (OSError, ValueError):
        return None


def wants_colour(stream: TextIO | None = None) -> bool:
    """Tells whether the output, or what goes to another stream, may be coloured."""
    is_seen = stream.isatty() if stream is not None else is_terminal()
    return is_seen and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def screen() -> "Console":
    """Returns the console that all output of a command goes to."""
    from rich.console import Console

    class Screen(Console):
        def on_broken_pipe(self) -> None:
            # rich would end the program itself; `reporting` does that.
            raise BrokenPipeError

    terminal = is_terminal()
    return Screen(
        width=None if terminal else WIDTH,
        force_terminal=terminal,
        color_system="auto" if wants_colour() else None,
        markup=False,
        emoji=False,
        highlight=False,
    )


def styled(text: object, style: str = "") -> "Text":
    """Returns text of unknown origin, made visible, in a style."""
    from rich.text import Text

    return Text(visible(str(text)), style=style)


def paragraph(text: str, style: str = "") -> "Text":
    """Returns text of unknown origin with its lines, each made visible."""
    from rich.text import Text

    return Text(visible_lines(text), style=style)


def word(status: str) -> "Text":
    """Returns a status or a decision in its own colour."""
    return styled(status, STYLES.get(status, ""))


def table(*columns: str, right: Sequence[str] = (), flexible: Sequence[str] = ()) -> "Table":
    """Returns an empty table: plain columns under bold heads; only the flexible ones may be folded."""
    from rich.table import Table

    made = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for name in columns:
        made.add_column(
            name,
            justify="right" if name in right else "left",
            no_wrap=name not in flexible,
            overflow="fold",
        )
    return made


def facts(console: "Console", rows: Sequence[tuple[str, "str | Text"]]) -> None:
    """Prints labels with their values below each other."""
    show(console, fact_table(rows))


def fact_table(rows: Sequence[tuple[str, "str | Text"]]) -> "Table":
    """Returns labels with their values below each other."""
    grid = table("", "", flexible=("",))
    grid.show_header = False
    for label, value in rows:
        grid.add_row(styled(label, "bold"), styled(value) if isinstance(value, str) else value)
    return grid


def live(console: "Console") -> "Live":
    """Returns a place in the terminal that shows one thing after the other."""
    from rich.live import Live

    return Live(console=console, auto_refresh=False, vertical_overflow="visible")


def stacked(*parts: "RenderableType") -> "RenderableType":
    """Returns several things below each other."""
    from rich.console import Group

    return Group(*parts)


def show(console: "Console", what: "RenderableType" = "") -> None:
    """Prints a table or a text, without the spaces that would fill its lines."""
    with console.capture() as captured:
        console.print(what)
    sys.stdout.write("".join(f"{line.rstrip(' ')}\n" for line in captured.get().splitlines()))


def plain(console: "Console", text: str, style: str = "") -> None:
    """Prints a line as it is, whatever the width: a path or a command stays in one piece."""
    with console.capture() as captured:
        console.print(styled(text, style), soft_wrap=True)
    sys.stdout.write(captured.get())


def lines(console: "Console", rows: Iterable[tuple[str, str]]) -> None:
    """Prints many lines, each in its style, whatever the width."""
    from rich.text import Text

    text = Text("\n").join(styled(line, style) for line, style in rows)
    with console.capture() as captured:
        console.print(text, soft_wrap=True)
    sys.stdout.write(captured.get())


def line(console: "Console", pieces: Sequence[tuple[str, str]], indent: int = 0) -> None:
    """Prints a line of pieces, each in its style; folded, with its indent, where it goes to a terminal."""
    text = joined([styled(piece, style) for piece, style in pieces], "")
    if is_terminal():
        show(console, indented(text, indent))
    else:
        sys.stdout.write(f"{' ' * indent}{text.plain}\n")


def joined(parts: Sequence["Text"], separator: str = ", ") -> "Text":
    """Returns texts in one line, each in its own style."""
    from rich.text import Text

    return Text(separator).join(parts)


def indented(text: "Text", columns: int) -> "Padding":
    """Returns a text that starts further right, also where it is folded."""
    from rich.padding import Padding

    return Padding(text, (0, 0, 0, columns))
