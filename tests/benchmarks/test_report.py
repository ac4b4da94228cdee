import pytest

from benchmarks.report import (
    Limit,
    Section,
    Table,
    as_markdown,
    as_text,
    number,
    print_report,
    summary_line,
)


@pytest.mark.parametrize(
    ("limit", "is_met", "required"),
    [
        (Limit("a", 1.25, maximum=1.25), True, "at most 1.25"),
        (Limit("a", 1.26, maximum=1.25), False, "at most 1.25"),
        (Limit("a", 6.0, minimum=6.0, unit=" ×"), True, "at least 6.00 ×"),
        (Limit("a", 5.99, minimum=6.0), False, "at least 6.00"),
        (Limit("a", 100.0, maximum=90.0, unit=" MB"), False, "at most 90.0 MB"),
    ],
)
def test_a_limit_is_inclusive(limit, is_met, required):
    assert (limit.is_met, limit.required) == (is_met, required)


SECTION = Section(
    "Reads",
    "How it was measured.",
    [Table(["", "each"], [["one", "1 ms"], ["another", "20 ms"]])],
    [Limit("one / another", 0.05, maximum=0.1), Limit("another / one", 20.0, maximum=10.0)],
    notes=["A note."],
)


def test_a_section_as_text():
    assert as_text(SECTION) == (
        "Reads\n=====\n\n"
        "            each\n  -------- -----\n  one       1 ms\n  another  20 ms\n\n"
        "  Limit          Measured  Required      Result\n"
        "  -------------- --------- ------------- ------\n"
        "  one / another      0.05  at most 0.10  met\n"
        "  another / one      20.0  at most 10.0  MISSED\n\n"
        "A note.\n"
    )


def test_a_section_as_markdown():
    page = as_markdown(SECTION)
    assert "## Reads\n\nHow it was measured.\n" in page
    assert "|  | each |\n|---|---:|\n| one | 1 ms |\n" in page
    assert "| another / one | 20.0 | at most 10.0 | MISSED |" in page
    assert not SECTION.is_met


NOT_MEASURED = Limit(
    "ours / nginx", None, minimum=0.3, unit=" ×", skip_reason="nginx is not installed"
)


def test_an_unmeasured_limit_is_not_met_and_has_a_reason(capsys):
    section = Section("Reads", limits=[NOT_MEASURED])
    assert not NOT_MEASURED.is_met
    assert print_report(section) == 1
    line = "ours / nginx         –  at least 0.30 ×  not measured: nginx is not installed"
    assert line in capsys.readouterr().out
    row = "| ours / nginx | – | at least 0.30 × | not measured: nginx is not installed |"
    assert row in as_markdown(section)


def test_the_summary_counts_unmeasured_limits():
    met, missed = SECTION.limits
    assert summary_line([met]) == "1 of 1 limits met."
    assert summary_line([met, missed]) == "1 of 2 limits met."
    assert summary_line([met, missed, NOT_MEASURED]) == "1 of 3 limits met, 1 not measured."


def test_numbers_have_three_significant_digits():
    assert [number(x) for x in (0.123, 9.99, 12.34, 123.4, 12345.6)] == [
        "0.12",
        "9.99",
        "12.3",
        "123",
        "12,346",
    ]
