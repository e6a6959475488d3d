"""Bars of a small chart: how long each is, and what stands beside it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

WIDTH = 160  # of the longest bar
ROW = 24


@dataclass(frozen=True, kw_only=True, slots=True)
class Bar:
    """One bar."""

    label: str
    figure: str
    width: float
    y: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Chart:
    """Bars below each other, under a title."""

    title: str
    bars: tuple[Bar, ...]
    height: int


def chart(title: str, rows: Sequence[tuple[str, float | None]], shown: Callable[[float], str]) -> Chart | None:
    """Returns a chart of what is known, or None if nothing is; what is unknown has a bar of no length."""
    largest = max((value for _, value in rows if value), default=0)
    if not largest:
        return None
    bars = tuple(
        Bar(
            label=label,
            figure=shown(value) if value is not None else "-",
            width=round(max(value or 0, 0) / largest * WIDTH, 1),
            y=index * ROW,
        )
        for index, (label, value) in enumerate(rows)
    )
    return Chart(title=title, bars=bars, height=len(rows) * ROW)
