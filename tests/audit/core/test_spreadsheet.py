import csv
import io

import pytest

from audit.core.spreadsheet import escape_formulas


@pytest.mark.parametrize(
    "evil", ["=1+1", "+1", "-1", "@SUM(A1)", "\tx", "\rx", " =1", '"=1+1"', "＝1", "\x00=1"]
)
def test_a_formula_is_defused(evil):
    assert escape_formulas(evil) == f"'{evil}"


@pytest.mark.parametrize(
    "plain", ["", "quick", "a=b", "'x", "a;b", "one\ntwo", "2026-11-16", "a, -b"]
)
def test_other_text_is_left_as_it_is(plain):
    assert escape_formulas(plain) == plain


@pytest.mark.parametrize(
    "evil", ["tea;=1+1", "tea\n=1+1", "tea\t+1", "tea|@SUM(A1)", 'tea;"=1+1"', "\n-1\r\n-2", ";;=1"]
)
@pytest.mark.parametrize("delimiter", ",;\t|")
def test_so_is_one_that_another_separator_would_lay_bare(evil, delimiter):
    written = io.StringIO()
    csv.writer(written).writerow([1, escape_formulas(evil), "last"])
    read = csv.reader(io.StringIO(written.getvalue(), newline=""), delimiter=delimiter)
    cells = [cell for row in read for cell in row]
    assert not [cell for cell in cells if cell.lstrip(' "').startswith(("=", "+", "-", "@"))]


def test_what_is_defused_stays_as_it_is():
    for text in ("\t=1;-2\n+3", '"=1"', "\r\n@a"):
        assert escape_formulas(escape_formulas(text)) == escape_formulas(text)
