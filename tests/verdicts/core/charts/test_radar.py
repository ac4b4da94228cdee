import itertools

import pytest

from audit.core.vocabulary import DIMENSIONS, LABELS
from verdicts.core.charts.radar import HEIGHT, SYMBOL_SIZE, WIDTH, radar_chart
from verdicts.core.presentation import PresentedDimension


def chart_of(*labels: str):
    pairs = zip(DIMENSIONS, labels, strict=True)
    return radar_chart([PresentedDimension(name, label, "Because.") for name, label in pairs])


def test_without_dimensions_there_is_no_chart():
    assert radar_chart(()) is None


@pytest.mark.parametrize("label", LABELS)
def test_five_equal_labels_have_symbols_that_do_not_overlap(label):
    marks = chart_of(*[label] * 5).marks
    for one, other in itertools.combinations(marks, 2):
        assert (one.x - other.x) ** 2 + (one.y - other.y) ** 2 > (SYMBOL_SIZE * 0.8) ** 2


def test_better_labels_are_further_out():
    tops = [
        chart_of(label, *["GREEN"] * 4).marks[0].y for label in ("GREEN", "AMBER", "RED", "NULL")
    ]
    assert tops == sorted(tops)


def test_symbols_and_names_stay_inside_the_chart():
    for mark in chart_of(*["GREEN"] * 5).marks:
        assert 0 <= mark.x <= WIDTH - SYMBOL_SIZE
        assert 0 <= mark.y <= HEIGHT - SYMBOL_SIZE
        assert 12 <= mark.name_y < mark.label_y <= HEIGHT
