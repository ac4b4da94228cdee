"""Column and bar charts: geometry for an SVG, and the same numbers as a table.

Pure: no I/O, no clock, no Django. Needs no script and loads nothing. Colours are CSS classes
that the embedding page defines, so that charts suit a light and a dark theme.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from html import escape
from typing import Final, NamedTuple

from verdicts.core.formatting import format_chart_day

WIDTH: Final = 560
HEIGHT: Final = 190
LEFT: Final = 44
BOTTOM: Final = 22
TOP: Final = 10
BASELINE: Final = HEIGHT - BOTTOM
MAX_DAY_TICKS: Final = 6
_PLOT_WIDTH: Final = WIDTH - LEFT
_PLOT_HEIGHT: Final = BASELINE - TOP
_COLUMN_SHARE: Final = 0.76  # of the distance between columns; the rest is the gutter
_MIN_BOX_HEIGHT: Final = 1.5  # keeps a small count visible beside a large one


class Box(NamedTuple):
    x: float
    y: float
    width: float
    height: float
    tone: str
    title: str


class Tick(NamedTuple):
    at: float
    label: str
    anchor: str = "middle"


@dataclass(frozen=True, slots=True)
class ColumnChart:
    """Stacked columns, one per category on the x axis."""

    title: str
    alt_text: str
    boxes: list[Box]
    x_ticks: list[Tick]
    y_ticks: list[Tick]
    legend: list[tuple[str, str, str]]  # name, tone, total
    header: list[str]
    rows: list[list[str]]
    threshold: Tick | None = None
    width: int = WIDTH
    height: int = HEIGHT
    left: int = LEFT
    baseline: int = BASELINE
    is_empty: bool = False

    # Rendered here and not in the template: a quarter of a year has hundreds of boxes and
    # cells, and a template loop over them took longer than the rest of the page.

    def boxes_svg(self) -> str:
        """The boxes as SVG, all text escaped."""
        return "".join(map(_rect, self.boxes))

    def rows_html(self) -> str:
        """The table's rows as HTML, all text escaped."""
        return "".join(map(_cells, self.rows))


@dataclass(frozen=True, slots=True)
class Bar:
    label: str
    count: str
    percent: float


def columns_by_day(
    title: str, days: list[date], series: dict[str, list[int]], tones: list[str]
) -> ColumnChart:
    """One column a day, its series stacked. The last day always has a tick."""
    labels = [format_chart_day(day) for day in days]
    every = max(1, -(-len(days) // MAX_DAY_TICKS))
    x_ticks = {at: labels[at] for at in range(len(days) - 1, -1, -every)}
    return column_chart(title, labels, series, tones, x_ticks, heading="day")


def column_chart(
    title: str,
    categories: list[str],
    series: dict[str, list[int]],
    tones: list[str],
    x_ticks: dict[int, str],
    *,
    heading: str,
) -> ColumnChart:
    """`series` has a count for each category, `tones` a colour for each series, and `x_ticks`
    a label for each category that gets one. `heading` names the categories in the table."""
    columns = [
        _Column(category, at, [counts[at] for counts in series.values()])
        for at, category in enumerate(categories)
    ]
    step = _PLOT_WIDTH / max(1, len(categories))
    top = round_up_axis(max((column.total for column in columns), default=0))
    named = list(zip(series, tones, strict=True))
    sums = {name: sum(counts) for name, counts in series.items()}
    summary = ", ".join(f"{total:,} {name}" for name, total in sums.items())
    return ColumnChart(
        title=title,
        alt_text=f"{title}: {summary}.",
        boxes=[box for column in columns for box in _stack(column, named, step, top)],
        x_ticks=[_x_tick(at, label, step, len(categories)) for at, label in x_ticks.items()],
        y_ticks=[
            Tick(_r(BASELINE - share * _PLOT_HEIGHT), f"{top * share:,.0f}")
            for share in ((0, 0.5, 1) if top > 1 else (0, 1))
        ],
        legend=[(name, tone, f"{sums[name]:,}") for name, tone in named],
        header=[heading, *series],
        rows=[
            [column.category, *(f"{count:,}" for count in column.counts)]
            for column in columns
            if column.total
        ],
        is_empty=not any(sums.values()),
    )


def ranked_bars(counts: dict[str, int]) -> list[Bar]:
    """The counts above zero as bars, longest first."""
    longest = max(counts.values(), default=0)
    ranked = sorted(counts.items(), key=lambda one: (-one[1], one[0]))
    return [
        Bar(name.replace("_", " "), f"{count:,}", _r(100 * count / longest))
        for name, count in ranked
        if count
    ]


def round_up_axis(number: int) -> int:
    """The next round number, as the end of an axis."""
    if number <= 2:
        return max(1, number)
    step = 1
    while True:
        for factor in (2, 4, 5, 6, 8, 10):
            if number <= factor * step:
                return factor * step
        step *= 10


class _Column(NamedTuple):
    category: str
    at: int
    counts: list[int]  # one per series

    @property
    def total(self) -> int:
        return sum(self.counts)


def _stack(column: _Column, named: list[tuple[str, str]], step: float, top: int) -> Iterator[Box]:
    """The column's boxes, upwards from the baseline."""
    y = float(BASELINE)
    x, width = LEFT + step * (column.at + (1 - _COLUMN_SHARE) / 2), step * _COLUMN_SHARE
    for (name, tone), count in zip(named, column.counts, strict=True):
        if count:
            height = max(_MIN_BOX_HEIGHT, count / top * _PLOT_HEIGHT)
            y -= height
            title = f"{column.category}: {count:,} {name}"
            yield Box(_r(x), _r(y), _r(width), _r(height), tone, title)


def _x_tick(at: int, label: str, step: float, categories: int) -> Tick:
    if at == categories - 1:  # centred below the last column it would be cut off
        return Tick(WIDTH, label, "end")
    return Tick(_r(LEFT + (at + 0.5) * step), label)


def _rect(box: Box) -> str:
    geometry = f'x="{box.x}" y="{box.y}" width="{box.width}" height="{box.height}"'
    return (
        f'<rect class="t-{escape(box.tone)}" {geometry}><title>{escape(box.title)}</title></rect>'
    )


def _cells(row: list[str]) -> str:
    return "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>"


def _r(number: float) -> float:
    return round(number, 2)
