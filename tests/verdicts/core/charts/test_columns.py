from datetime import date, timedelta

import pytest

from verdicts.core.charts.columns import (
    HEIGHT,
    LEFT,
    WIDTH,
    column_chart,
    columns_by_day,
    ranked_bars,
    round_up_axis,
)

DAYS = [date(2026, 1, 1) + timedelta(days=day) for day in range(30)]


def test_columns_stack_inside_the_chart():
    chart = columns_by_day("Orders", DAYS, {"one": [5] * 30, "two": [3] * 30}, ["one", "two"])
    assert len(chart.boxes) == 60
    for box in chart.boxes:
        assert LEFT <= box.x <= box.x + box.width <= WIDTH
        assert 0 <= box.y <= box.y + box.height <= HEIGHT
    first, second = chart.boxes[:2]
    assert first.y == pytest.approx(second.y + second.height, abs=0.02)
    assert first.title == "01 Jan: 5 one"


def test_the_figures_are_in_the_alt_text_and_in_a_table():
    chart = columns_by_day("Orders", DAYS, {"one": [0] * 29 + [1200]}, ["one"])
    assert chart.alt_text == "Orders: 1,200 one."
    assert chart.rows == [["30 Jan", "1,200"]]
    assert chart.x_ticks[0].label == "30 Jan"


def test_a_small_count_stays_visible_beside_a_large_one():
    chart = columns_by_day("Hits", DAYS, {"many": [9000] * 30, "few": [1] * 30}, ["one", "two"])
    assert min(box.height for box in chart.boxes) >= 1.5


def test_svg_and_html_are_escaped():
    chart = columns_by_day("Odd", DAYS[:1], {"<b>": [2]}, ["one"])
    assert "<title>01 Jan: 2 &lt;b&gt;</title></rect>" in chart.boxes_svg()
    assert chart.rows_html() == "<tr><td>01 Jan</td><td>2</td></tr>"
    odd = column_chart("Odd", ["<i>"], {"one": [2]}, ["one"], {}, heading="category")
    assert odd.rows_html() == "<tr><td>&lt;i&gt;</td><td>2</td></tr>"


def test_a_chart_without_counts_is_empty():
    assert columns_by_day("Orders", DAYS, {"one": [0] * 30}, ["one"]).is_empty
    assert ranked_bars({"flag": 0}) == []


def test_bars_are_ranked_longest_first():
    rows = ranked_bars({"short_summary": 1, "field_missing": 4})
    assert [(row.label, row.percent) for row in rows] == [
        ("field missing", 100.0),
        ("short summary", 25.0),
    ]


@pytest.mark.parametrize(("most", "end"), [(0, 1), (1, 1), (3, 4), (9, 10), (11, 20), (1130, 2000)])
def test_an_axis_ends_at_a_round_number(most, end):
    assert round_up_axis(most) == end
