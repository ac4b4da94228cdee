import pytest

from audit.core.spreadsheet import defused


@pytest.mark.parametrize("evil", ["=1+1", "+1", "-1", "@SUM(A1)", "\tx", "\rx"])
def test_a_formula_is_defused(evil):
    assert defused(evil) == f"'{evil}"


@pytest.mark.parametrize("plain", ["", "quick", "a=b", "'x"])
def test_other_text_is_left_as_it_is(plain):
    assert defused(plain) == plain
