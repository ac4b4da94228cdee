import itertools

import pytest

from audit.core.vocabulary import DIMENSIONS, LABELS
from verdicts.core.charts.dimensions import HEIGHT, SIGN, WIDTH, picture
from verdicts.core.presentation import ReadableDimension


def drawn(*labels: str):
    pairs = zip(DIMENSIONS, labels, strict=True)
    return picture([ReadableDimension(name, label, "Because.") for name, label in pairs])


def test_what_has_no_dimensions_has_no_picture():
    assert picture(()) is None


@pytest.mark.parametrize("label", LABELS)
def test_five_equal_verdicts_are_five_signs_apart(label):
    marks = drawn(*[label] * 5).marks
    for one, other in itertools.combinations(marks, 2):
        assert (one.x - other.x) ** 2 + (one.y - other.y) ** 2 > (SIGN * 0.8) ** 2


def test_the_better_the_further_out():
    tops = [drawn(label, *["GREEN"] * 4).marks[0].y for label in ("GREEN", "AMBER", "RED", "NULL")]
    assert tops == sorted(tops)


def test_everything_is_within_the_frame():
    for mark in drawn(*["GREEN"] * 5).marks:
        assert 0 <= mark.x <= WIDTH - SIGN
        assert 0 <= mark.y <= HEIGHT - SIGN
        assert 12 <= mark.name_y < mark.label_y <= HEIGHT
