import pytest

from audit.core.calibration.summary import Calibration
from audit.core.crosscheck import crosscheck
from audit.core.tmm import OMEGA
from tests.support.verdict_payloads import complete
from verdicts.core.charts.columns import LEFT, WIDTH
from verdicts.core.charts.scores import bucket, score_chart

GOOD = crosscheck(complete("quick"), "quick")
BAD = crosscheck("{", "quick")
NEARLY = crosscheck({**complete("quick"), "summary": ""}, "quick")


def chart_of(*decided):
    found = Calibration()
    for decision, label in decided:
        found.add(decision, label)
    return score_chart(found)


@pytest.mark.parametrize(
    ("score", "at"),
    [(None, None), (-1.0, None), (OMEGA, 0), (OMEGA - 1e-9, -1), (0.99, 1), (1.0, 1)],
)
def test_no_column_contains_the_threshold(score, at):
    assert bucket(score) == at


def test_the_threshold_separates_approved_from_rejected_columns():
    chart = chart_of((GOOD, None), (NEARLY, None), (BAD, None))
    below, nearly, approved = sorted(chart.boxes)
    assert LEFT <= below.x < nearly.x + nearly.width <= chart.threshold.at <= approved.x
    assert approved.x + approved.width <= WIDTH
    assert [name for name, *_ in chart.legend] == ["checks"]
    assert below.title == "below 0: 1 checks"


def test_reviewed_outputs_are_two_series_and_unreviewed_ones_a_third():
    chart = chart_of((GOOD, True), (BAD, False))
    assert [name for name, *_ in chart.legend] == ["should pass", "should not"]
    chart = chart_of((GOOD, True), (BAD, False), (GOOD, None))
    assert [total for *_, total in chart.legend] == ["1", "1", "1"]
