import pytest

from audit.core.calibration.summary import Calibration
from audit.core.crosscheck import crosscheck
from audit.core.tmm import OMEGA
from tests.support.verdict_payloads import complete
from verdicts.core.charts.columns import LEFT, WIDTH
from verdicts.core.charts.scores import place, score_plot

GOOD = crosscheck(complete("quick"), "quick")
BAD = crosscheck("{", "quick")
NEARLY = crosscheck({**complete("quick"), "summary": ""}, "quick")


def plot(*decided):
    found = Calibration()
    for decision, label in decided:
        found.add(decision, label)
    return score_plot(found)


@pytest.mark.parametrize(
    ("score", "at"),
    [(None, None), (-1.0, None), (OMEGA, 0), (OMEGA - 1e-9, -1), (0.99, 1), (1.0, 1)],
)
def test_no_column_lies_on_both_sides_of_the_threshold(score, at):
    assert place(score) == at


def test_approved_columns_stand_right_of_the_line_and_rejected_ones_left_of_it():
    chart = plot((GOOD, None), (NEARLY, None), (BAD, None))
    below, nearly, approved = sorted(chart.boxes)
    assert LEFT <= below.x < nearly.x + nearly.width <= chart.line.at <= approved.x
    assert approved.x + approved.width <= WIDTH
    assert [name for name, *_ in chart.legend] == ["checks"]
    assert below.title == "below 0: 1 checks"


def test_labels_make_two_series_and_what_nobody_judged_a_third():
    chart = plot((GOOD, True), (BAD, False))
    assert [name for name, *_ in chart.legend] == ["should pass", "should not"]
    chart = plot((GOOD, True), (BAD, False), (GOOD, None))
    assert [total for *_, total in chart.legend] == ["1", "1", "1"]
