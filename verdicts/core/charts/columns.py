"""Charts as plain geometry, written as SVG with the same figures as a table.

Pure: no I/O, no clock, no Django. No script and nothing from elsewhere; the
colours are classes of whoever shows it, so that light and dark are both readable.
"""

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
_PLOT: Final = (WIDTH - LEFT, HEIGHT - TOP - BOTTOM)


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
class Columns:
    """Stacked columns: one for each place on the axis."""

    title: str
    alternative: str
    boxes: list[Box]
    across: list[Tick]
    upwards: list[Tick]
    legend: list[tuple[str, str, str]]  # name, tone, total
    header: list[str]
    rows: list[list[str]]
    line: Tick | None = None
    width: int = WIDTH
    height: int = HEIGHT
    left: int = LEFT
    floor: int = HEIGHT - BOTTOM
    is_empty: bool = False

    # A quarter of a year is hundreds of boxes and cells: a template's loop
    # over them took longer than all the rest of the page.

    def drawn(self) -> str:
        """The boxes as SVG, every word escaped."""
        return "".join(map(_rect, self.boxes))

    def told(self) -> str:
        """The rows as HTML, every word escaped."""
        return "".join(map(_cells, self.rows))


@dataclass(frozen=True, slots=True)
class Row:
    label: str
    count: str
    percent: float
    tone: str


def by_day(title: str, days: list[date], series: dict[str, list[int]], tones: list[str]) -> Columns:
    """One column a day, a series on top of the other."""
    labels = [format_chart_day(day) for day in days]
    every = max(1, -(-len(days) // 6))
    across = {place: labels[place] for place in range(len(days) - 1, -1, -every)}
    return columns(title, labels, series, tones, across, heading="day")


def columns(
    title: str,
    places: list[str],
    series: dict[str, list[int]],
    tones: list[str],
    across: dict[int, str],
    *,
    heading: str,
) -> Columns:
    wide, high = _PLOT
    step = wide / max(1, len(places))
    totals = [sum(each[at] for each in series.values()) for at in range(len(places))]
    top = nice(max(totals, default=0))
    boxes = []
    for at, place in enumerate(places):
        floor = float(HEIGHT - BOTTOM)
        for (name, counts), tone in zip(series.items(), tones, strict=True):
            if counts[at]:
                # Whatever happened can be seen, however much else did.
                tall = max(1.5, counts[at] / top * high)
                floor -= tall
                label = f"{place}: {counts[at]:,} {name}"
                boxes.append(
                    Box(
                        _r(LEFT + at * step + step * 0.12),
                        _r(floor),
                        _r(step * 0.76),
                        _r(tall),
                        tone,
                        label,
                    )
                )
    sums = {name: sum(counts) for name, counts in series.items()}
    told = ", ".join(f"{total:,} {name}" for name, total in sums.items())
    return Columns(
        title=title,
        alternative=f"{title}: {told}.",
        boxes=boxes,
        across=[
            # The last one would not fit under the middle of its column.
            Tick(WIDTH, label, "end")
            if at == len(places) - 1
            else Tick(_r(LEFT + at * step + step / 2), label)
            for at, label in across.items()
        ],
        upwards=[
            Tick(_r(HEIGHT - BOTTOM - share * high), f"{top * share:,.0f}")
            for share in ((0, 0.5, 1) if top > 1 else (0, 1))
        ],
        legend=[(name, tone, f"{sums[name]:,}") for name, tone in zip(series, tones, strict=True)],
        header=[heading, *series],
        rows=[
            [place, *(f"{counts[at]:,}" for counts in series.values())]
            for at, place in enumerate(places)
            if totals[at]
        ],
        is_empty=not any(totals),
    )


def bars(counts: dict[str, int], tones: dict[str, str] | None = None) -> list[Row]:
    """Rows as long as they are many, the most first."""
    most = max(counts.values(), default=0)
    ranked = sorted(counts.items(), key=lambda one: (-one[1], one[0]))
    return [
        Row(
            name.replace("_", " "),
            f"{count:,}",
            _r(100 * count / most) if most else 0,
            (tones or {}).get(name, "one"),
        )
        for name, count in ranked
        if count
    ]


def nice(number: int) -> int:
    """The next round figure, to end an axis with."""
    if number <= 2:
        return max(1, number)
    step = 1
    while True:
        for factor in (2, 4, 5, 6, 8, 10):
            if number <= factor * step:
                return factor * step
        step *= 10


def _rect(box: Box) -> str:
    place = f'x="{box.x}" y="{box.y}" width="{box.width}" height="{box.height}"'
    return f'<rect class="t-{escape(box.tone)}" {place}><title>{escape(box.title)}</title></rect>'


def _cells(row: list[str]) -> str:
    return "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>"


def _r(number: float) -> float:
    return round(number, 2)
