from drill.invariants.facts import CustomerFacts
from drill.invariants.load_invariants import judge_crowd
from drill.load.crowd import Felt
from drill.report import CrowdReport, clock, table


def crowd_report(felt: Felt) -> CrowdReport:
    return CrowdReport(
        orders=2,
        seed=7,
        database="SQLite",
        invariants=judge_crowd(felt, CustomerFacts()),
        slowest=(0.1, "GET /"),
        pace=1.0,
        felt=felt,
    )


def test_hits_in_the_crowd_stand_beside_those_before_it():
    felt = Felt(calm=[0.01] * 50, crowded=[0.025] * 50)
    assert (
        "95 of 100 hits took up to 10 ms before the crowd and 25 ms in it: 2.5 times as long."
        in crowd_report(felt).lines()
    )


def test_an_order_that_was_never_begun_is_told_as_what_it_is():
    report = crowd_report(Felt(paid=[1, 2], begun=[2], turned_away=1))
    assert "No order was begun after more than 2 that were paid for later." in report.lines()
    assert [one.violations for one in report.invariants][-1] == ["not every paid order was begun"]


def test_numbers_stand_to_the_right_and_words_to_the_left():
    assert list(table(("Injected", "times"), [("clock stepped", "1,204"), ("disk", "2")])) == [
        "  Injected       times",
        "  -------------  -----",
        "  clock stepped  1,204",
        "  disk               2",
    ]
    assert list(table(("Not injected", "why"), [("a", "not possible"), ("b", "7")])) == [
        "  Not injected  why",
        "  ------------  ------------",
        "  a             not possible",
        "  b             7",
    ]


def test_times_are_minutes_and_seconds():
    assert [clock(seconds) for seconds in (0.4, 59.6, 61, 3_700)] == [
        "0:00",
        "1:00",
        "1:01",
        "61:40",
    ]
