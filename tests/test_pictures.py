"""The tool that takes pictures of the commands."""

from pathlib import Path

import pytest

from tests import pictures


def _text(lines: list[list[pictures.Run]]) -> list[str]:
    return ["".join(run.text for run in line) for line in lines]


def test_screen_is_what_a_terminal_shows() -> None:
    """Colours, weights and places come from the bytes; what was overwritten is gone."""
    lines = pictures.screen(b"gone\r\x1b[1;31mred \x1b[0m  plain\r\n\r\n\x1b[2Kend\r\n\r\n")
    red, plain = lines[0]
    assert (red.column, red.text, red.colour, red.bold) == (0, "red", pictures.COLOURS["red"], True)
    assert (plain.text.strip(), plain.colour, plain.bold) == ("plain", pictures.INK, False)
    assert [lines[1], _text(lines)[2], len(lines)] == [[], "end", 3]


def test_drawing_escapes_what_it_shows() -> None:
    """A picture shows markup as text."""
    drawn = pictures.svg(pictures.screen(b"<script>&"))
    assert "&lt;script&gt;&amp;</text>" in drawn
    assert "<script" not in drawn


def test_scene_is_played_and_drawn(tmp_path: Path) -> None:
    """A scene leaves an SVG and a PNG of what the command said."""
    try:
        lines = pictures.take("no-such-command", tmp_path)
    except OSError:
        pytest.skip("the font of the pictures is not installed")
    assert _text(lines)[:2] == ["$ haytham stauts", "Error: there is no command 'stauts'."]
    assert "there is no command" in (tmp_path / "no-such-command.svg").read_text(encoding="utf-8")
    assert (tmp_path / "no-such-command.png").read_bytes().startswith(b"\x89PNG")
