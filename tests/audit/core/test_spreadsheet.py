import csv
import io

import pytest

from audit.core.spreadsheet import escape_formulas


@pytest.mark.parametrize(
    "formula", ["=1+1", "+1", "-1", "@SUM(A1)", "\tx", "\rx", " =1", '"=1+1"', "＝1", "\x00=1"]
)
def test_a_formula_is_escaped(formula):
    assert escape_formulas(formula) == f"'{formula}"


@pytest.mark.parametrize(
    "plain", ["", "quick", "a=b", "'x", "a;b", "one\ntwo", "2026-11-16", "a, -b"]
)
def test_other_text_is_unchanged(plain):
    assert escape_formulas(plain) == plain


@pytest.mark.parametrize(
    "formula",
    ["tea;=1+1", "tea\n=1+1", "tea\t+1", "tea|@SUM(A1)", 'tea;"=1+1"', "\n-1\r\n-2", ";;=1"],
)
@pytest.mark.parametrize("delimiter", ",;\t|")
def test_a_formula_after_another_separator_is_escaped(formula, delimiter):
    written = io.StringIO()
    csv.writer(written).writerow([1, escape_formulas(formula), "last"])
    read = csv.reader(io.StringIO(written.getvalue(), newline=""), delimiter=delimiter)
    cells = [cell for row in read for cell in row]
    assert not [cell for cell in cells if cell.lstrip(' "').startswith(("=", "+", "-", "@"))]


def test_escaping_is_idempotent():
    for text in ("\t=1;-2\n+3", '"=1"', "\r\n@a"):
        assert escape_formulas(escape_formulas(text)) == escape_formulas(text)
