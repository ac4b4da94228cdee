from datetime import date, timedelta

import pytest

from verdicts.core.charts.columns import HEIGHT, LEFT, WIDTH, bars, by_day, columns, nice

DAYS = [date(2026, 1, 1) + timedelta(days=day) for day in range(30)]


def test_columns_stay_within_the_picture_and_stack():
    chart = by_day("Orders", DAYS, {"one": [5] * 30, "two": [3] * 30}, ["one", "two"])
    assert len(chart.boxes) == 60
    for box in chart.boxes:
        assert LEFT <= box.x <= box.x + box.width <= WIDTH
        assert 0 <= box.y <= box.y + box.height <= HEIGHT
    first, second = chart.boxes[:2]
    assert first.y == pytest.approx(second.y + second.height, abs=0.02)
    assert first.title == "01 Jan: 5 one"


def test_every_chart_has_its_figures_in_words_and_as_a_table():
    chart = by_day("Orders", DAYS, {"one": [0] * 29 + [1200]}, ["one"])
    assert chart.alternative == "Orders: 1,200 one."
    assert chart.rows == [["30 Jan", "1,200"]]
    assert chart.across[0].label == "30 Jan"


def test_what_is_rare_can_still_be_seen():
    chart = by_day("Hits", DAYS, {"many": [9000] * 30, "few": [1] * 30}, ["one", "two"])
    assert min(box.height for box in chart.boxes) >= 1.5


def test_a_chart_is_written_with_every_word_escaped():
    chart = by_day("Odd", DAYS[:1], {"<b>": [2]}, ["one"])
    assert "<title>01 Jan: 2 &lt;b&gt;</title></rect>" in chart.drawn()
    assert chart.told() == "<tr><td>01 Jan</td><td>2</td></tr>"
    odd = columns("Odd", ["<i>"], {"one": [2]}, ["one"], {}, heading="place")
    assert odd.told() == "<tr><td>&lt;i&gt;</td><td>2</td></tr>"


def test_nothing_at_all_is_said_so():
    assert by_day("Orders", DAYS, {"one": [0] * 30}, ["one"]).is_empty
    assert bars({"flag": 0}) == []


def test_bars_are_ranked():
    rows = bars({"short_summary": 1, "field_missing": 4})
    assert [(row.label, row.percent) for row in rows] == [
        ("field missing", 100.0),
        ("short summary", 25.0),
    ]


@pytest.mark.parametrize(("most", "end"), [(0, 1), (1, 1), (3, 4), (9, 10), (11, 20), (1130, 2000)])
def test_an_axis_ends_with_a_round_figure(most, end):
    assert nice(most) == end
