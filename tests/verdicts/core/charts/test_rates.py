import pytest

from audit.core.wilson import wilson
from verdicts.core.charts.columns import HEIGHT, LEFT, WIDTH
from verdicts.core.charts.rates import Rate, rates_chart

OLD, NEW = "flash-001", "flash-002"


def rate(hits: int, total: int = 50, source: str = OLD, day: str = "01 Jan 26") -> Rate:
    return Rate(day, source, hits, total)


def test_marks_lie_inside_their_interval_and_the_chart():
    chart = rates_chart("Rate", [rate(hits) for hits in (0, 1, 25, 50)], threshold=0.05)
    positions = [mark.x for mark in chart.marks]
    assert positions == sorted(positions)
    for mark in chart.marks:
        assert LEFT < mark.x < WIDTH
        assert 0 < mark.high <= mark.y <= mark.low <= HEIGHT
    assert chart.marks[0].y == chart.baseline
    assert chart.marks[-1].y == chart.top


def test_the_axis_includes_the_widest_interval_and_twice_the_threshold():
    few = rates_chart("Rate", [rate(0, 3)], threshold=0.05)
    assert few.y_ticks[-1].label == "60%"  # Wilson's upper end for 0 of 3 is 56%
    many = rates_chart("Rate", [rate(0, 900)], threshold=0.05)
    assert many.y_ticks[-1].label == "10%"
    assert many.threshold.at == pytest.approx((many.baseline + many.top) / 2)


def test_a_new_source_has_a_divider_and_a_tone():
    chart = rates_chart("Rate", [rate(1), rate(1), rate(4, source=NEW)], threshold=0.05)
    (begins,) = chart.changes
    assert chart.marks[1].x < begins < chart.marks[2].x
    assert [name for name, _ in chart.legend] == [OLD, NEW]
    assert chart.marks[0].tone == chart.marks[1].tone != chart.marks[2].tone


def test_the_figures_are_in_the_alt_text_and_in_a_table_newest_first():
    chart = rates_chart("Rate", [rate(0), rate(5, source=NEW, day="08 Jan 26")], threshold=0.05)
    low, high = wilson(5, 50)
    interval = f"{low:.1%} to {high:.1%}"
    assert chart.alt_text == f"Rate: 2 probes, the latest 10.0% ({interval})."
    assert chart.rows[0] == ["08 Jan 26", "5 of 50", "10.0%", interval, NEW]
    assert chart.marks[1].title == f"08 Jan 26: 5 of 50 differed, 10.0% ({interval}), {NEW}"


def test_day_ticks_are_limited_and_include_the_last_day():
    chart = rates_chart("Rate", [rate(0, day=f"day {n}") for n in range(30)], threshold=0.05)
    assert len(chart.x_ticks) == 6
    assert chart.x_ticks[0].label == "day 29"
