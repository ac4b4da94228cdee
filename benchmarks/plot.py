"""Bar and line charts as standalone SVG, without scripts or external resources."""

from collections.abc import Mapping, Sequence
from html import escape
from math import log10
from typing import Final

INK: Final = "#3a3f47"
GRID: Final = "#d9dce1"
OURS: Final = "#1f6f54"
OTHERS: Final = "#9aa3af"
COLOURS: Final = ("#1f6f54", "#b4552d", "#3b5ba9", "#8a6d1f", "#7a4a86", "#4f7f8c")
_FONT: Final = 'font-family="system-ui, sans-serif" font-size="13"'


def bars(title: str, values: Mapping[str, float], *, ours: Sequence[str], unit: str) -> str:
    """One labelled bar per value, longest first; those in `ours` are highlighted."""
    ordered = sorted(values.items(), key=lambda item: -item[1])
    left, width, step, top = 270, 430, 30, 46
    longest = max(values.values())
    height = top + step * len(ordered) + 12
    drawn = [_text(16, 24, title, weight="600")]
    for position, (name, value) in enumerate(ordered):
        y = top + position * step
        colour = OURS if name in ours else OTHERS
        length = max(2.0, width * value / longest)
        drawn += [
            _text(left - 10, y + 15, name, anchor="end", weight="600" if name in ours else "400"),
            f'<rect x="{left}" y="{y}" width="{length:.1f}" height="20" rx="2" fill="{colour}"/>',
            _text(
                left + length + 8,
                y + 15,
                f"{value:.2g}{unit}" if value < 10 else f"{value:.0f}{unit}",
            ),
        ]
    return _svg(left + width + 80, height, drawn)


def lines(title: str, sizes: Sequence[int], series: Mapping[str, Sequence[float]]) -> str:
    """Values relative to the first of each series: x is the size (logarithmic), y the ratio."""
    left, top, width, height = 56, 50, 430, 220
    highest = max(2.0, *(value for values in series.values() for value in values)) * 1.05

    def x(size: int) -> float:
        span = log10(sizes[-1] / sizes[0]) or 1.0
        return left + width * log10(size / sizes[0]) / span

    def y(ratio: float) -> float:
        return top + height * (1 - ratio / highest)

    drawn = [_text(16, 24, title, weight="600")]
    for tick in (0.5, 1.0, 1.5, 2.0, 3.0, 4.0):
        if tick <= highest:
            drawn.append(
                f'<line x1="{left}" x2="{left + width}" y1="{y(tick):.1f}" y2="{y(tick):.1f}" '
                f'stroke="{INK if tick == 1 else GRID}" stroke-width="1"/>'
            )
            drawn.append(_text(left - 8, y(tick) + 4, f"{tick:g}×", anchor="end"))
    for size in sizes:
        anchor = "end" if size == sizes[-1] else "middle"  # leaves room for the names on the right
        drawn.append(_text(x(size), top + height + 22, f"{size:,}", anchor=anchor))
    # Labels are ordered by the ends of the lines, and at least one text line apart.
    names = sorted(series, key=lambda name: -series[name][-1])
    label_y = 0.0
    for position, name in enumerate(names):
        colour = COLOURS[position % len(COLOURS)]
        points = [
            f"{x(size):.1f},{y(value):.1f}" for size, value in zip(sizes, series[name], strict=True)
        ]
        label_y = max(y(series[name][-1]) + 4, label_y + 16)
        drawn += [
            f'<polyline points="{" ".join(points)}" fill="none" stroke="{colour}"/>',
            _text(left + width + 10, label_y, f"{name} {series[name][-1]:.2f}×", colour=colour),
        ]
    return _svg(left + width + 220, max(top + height + 40, int(label_y) + 12), drawn)


def _text(
    x: float,
    y: float,
    text: str,
    *,
    anchor: str = "start",
    weight: str = "400",
    colour: str = INK,
) -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" {_FONT} text-anchor="{anchor}" font-weight="{weight}" '
        f'fill="{colour}">{escape(text)}</text>'
    )


def _svg(width: float, height: float, drawn: Sequence[str]) -> str:
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}" role="img">'
    )
    return "\n".join(
        [head, '<rect width="100%" height="100%" fill="#ffffff"/>', *drawn, "</svg>\n"]
    )
