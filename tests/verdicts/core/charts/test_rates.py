import pytest

from audit.core.wilson import wilson
from verdicts.core.charts.columns import HEIGHT, LEFT, WIDTH
from verdicts.core.charts.rates import Rate, rates_chart

OLD, NEW = "flash-001", "flash-002"


def rate(hits: int, total: int = 50, source: str = OLD, day: str = "01 Jan 26") -> Rate:
    return Rate(day, source, hits, total)


def test_every_mark_stands_within_its_interval_and_the_picture():
    chart = rates_chart("Rate", [rate(hits) for hits in (0, 1, 25, 50)], line=0.05)
    across = [mark.x for mark in chart.marks]
    assert across == sorted(across)
    for mark in chart.marks:
        assert LEFT < mark.x < WIDTH
        assert 0 < mark.high <= mark.y <= mark.low <= HEIGHT
    assert chart.marks[0].y == chart.floor
    assert chart.marks[-1].y == chart.top


def test_the_axis_holds_the_widest_interval_and_twice_the_line():
    few = rates_chart("Rate", [rate(0, 3)], line=0.05)
    assert few.upwards[-1].label == "60%"  # Wilson's upper end for 0 of 3 is 56%
    many = rates_chart("Rate", [rate(0, 900)], line=0.05)
    assert many.upwards[-1].label == "10%"
    assert many.line.at == pytest.approx((many.floor + many.top) / 2)


def test_another_source_is_marked_where_it_begins_and_has_its_own_tone():
    chart = rates_chart("Rate", [rate(1), rate(1), rate(4, source=NEW)], line=0.05)
    (begins,) = chart.changes
    assert chart.marks[1].x < begins < chart.marks[2].x
    assert [name for name, _ in chart.legend] == [OLD, NEW]
    assert chart.marks[0].tone == chart.marks[1].tone != chart.marks[2].tone


def test_the_figures_are_there_in_words_and_as_a_table_newest_first():
    chart = rates_chart("Rate", [rate(0), rate(5, source=NEW, day="08 Jan 26")], line=0.05)
    low, high = wilson(5, 50)
    interval = f"{low:.1%} to {high:.1%}"
    assert chart.alternative == f"Rate: 2 probes, the latest 10.0% ({interval})."
    assert chart.rows[0] == ["08 Jan 26", "5 of 50", "10.0%", interval, NEW]
    assert chart.marks[1].title == f"08 Jan 26: 5 of 50 differed, 10.0% ({interval}), {NEW}"


def test_days_are_named_as_far_as_there_is_room_and_the_last_always():
    chart = rates_chart("Rate", [rate(0, day=f"day {n}") for n in range(30)], line=0.05)
    assert len(chart.across) == 6
    assert chart.across[0].label == "day 29"
