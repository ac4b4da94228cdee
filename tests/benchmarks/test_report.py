import pytest

from benchmarks.report import (
    Limit,
    Section,
    Table,
    summary_line,
    as_markdown,
    as_text,
    number,
    print_report,
)


@pytest.mark.parametrize(
    ("limit", "kept", "promise"),
    [
        (Limit("a", 1.25, maximum=1.25), True, "at most 1.25"),
        (Limit("a", 1.26, maximum=1.25), False, "at most 1.25"),
        (Limit("a", 6.0, minimum=6.0, unit=" ×"), True, "at least 6.00 ×"),
        (Limit("a", 5.99, minimum=6.0), False, "at least 6.00"),
        (Limit("a", 100.0, maximum=90.0, unit=" MB"), False, "at most 90.0 MB"),
    ],
)
def test_a_limit_is_kept_up_to_its_very_figure(limit, kept, promise):
    assert (limit.is_met, limit.promise) == (kept, promise)


SECTION = Section(
    "Reads",
    "How it was measured.",
    [Table(["", "each"], [["one", "1 ms"], ["another", "20 ms"]])],
    [Limit("one / another", 0.05, maximum=0.1), Limit("another / one", 20.0, maximum=10.0)],
    notes=["Left out: nobody."],
)


def test_a_section_is_told_on_a_terminal():
    assert as_text(SECTION) == (
        "Reads\n=====\n\n"
        "            each\n  -------  -----\n  one       1 ms\n  another  20 ms\n\n"
        "  one / another       0.05  at most 0.10  kept\n"
        "  another / one       20.0  at most 10.0  MISSED\n\n"
        "Left out: nobody.\n"
    )


def test_a_section_is_told_on_the_page():
    page = as_markdown(SECTION)
    assert "## Reads\n\nHow it was measured.\n" in page
    assert "|  | each |\n|---|---:|\n| one | 1 ms |\n" in page
    assert "| another / one | 20.0 | at most 10.0 | MISSED |" in page
    assert not SECTION.is_met


NOT_MEASURED = Limit("ours / nginx", None, minimum=0.3, unit=" ×", why_not="nginx is not installed")


def test_what_was_not_measured_is_not_kept_and_says_why(capsys):
    section = Section("Reads", limits=[NOT_MEASURED])
    assert not NOT_MEASURED.is_met
    assert print_report(section) == 1
    said = "ours / nginx          –  at least 0.30 ×  not measured: nginx is not installed"
    assert said in capsys.readouterr().out
    row = "| ours / nginx | – | at least 0.30 × | not measured: nginx is not installed |"
    assert row in as_markdown(section)


def test_the_headline_counts_what_was_not_measured():
    kept, missed = SECTION.limits
    assert summary_line([kept]) == "1 of 1 limits kept."
    assert summary_line([kept, missed]) == "1 of 2 limits kept."
    assert summary_line([kept, missed, NOT_MEASURED]) == "1 of 3 limits kept, 1 not measured."


def test_figures_have_the_digits_that_tell_something():
    assert [number(x) for x in (0.123, 9.99, 12.34, 123.4, 12345.6)] == [
        "0.12",
        "9.99",
        "12.3",
        "123",
        "12,346",
    ]
