from collections import Counter

from drill.faults.kill_stages import STAGES, Kill, Scope
from drill.invariants.facts import ClientFacts
from drill.invariants.load_invariants import judge_load
from drill.invariants.quiescence import Wait
from drill.report import FaultReport, LoadReport, minutes
from drill.scenarios.fault_scenario import RunResult
from drill.scenarios.load_scenario import Measurements


def load_report(measured: Measurements) -> LoadReport:
    return LoadReport(
        orders=2,
        seed=7,
        database="SQLite",
        invariants=judge_load(measured, ClientFacts()),
        slowest=(0.1, "GET /"),
        pace=1.0,
        measured=measured,
    )


def fault_report(**changes: object) -> FaultReport:
    plain = {
        "orders": 2,
        "seed": 7,
        "database": "SQLite",
        "invariants": [],
        "slowest": (0.1, "GET /"),
        "disk": "a disk",
        "injected": Counter(),
        "not_injected": {},
        "kills": [],
        "result": RunResult(61.0, Wait(5.0, 3_700), [], Counter()),
        "responses": Counter({0: 1, 200: 1_204}),
    }
    return FaultReport(**{**plain, **changes})


def test_hits_under_load_are_compared_with_those_before_it():
    measured = Measurements(baseline_hits=[0.01] * 50, loaded_hits=[0.025] * 50)
    assert (
        "The p95 of cache hits was 10 ms before the load and 25 ms under load: "
        "2.5 times as long." in load_report(measured).lines()
    )


def test_an_order_that_was_never_started_is_reported():
    report = load_report(Measurements(paid=[1, 2], started=[2], told_to_wait=1))
    assert "No order was overtaken by more than 2 that were paid later." in report.lines()
    violations = [one.violations for one in report.invariants]
    assert violations[-1] == ["not every paid order was processed"]


def test_numbers_are_right_aligned_and_text_is_left_aligned():
    injected = Counter({"clock step": 1_204, "refund": 2})
    not_injected = {"a": "not possible", "bb": "7"}
    lines = "\n".join(fault_report(injected=injected, not_injected=not_injected).lines())
    assert (
        "Injected                            times\n"
        "----------------------------------- -----\n"
        "clock stepped                       1,204\n"
        "refund                                  2\n"
    ) in lines
    assert (
        "Not injected  why\n"
        "------------- ------------\n"
        "a             not possible\n"
        "bb            7\n"
    ) in lines


def test_kills_are_counted_by_role_with_the_stages_that_were_reached():
    by_id = {stage.id: stage for stage in STAGES}
    claimed = Kill(by_id["web: regeneration claimed"], Scope.PROCESS)
    stored = Kill(by_id["web: order stored"], Scope.PROCESS)
    lines = "\n".join(fault_report(kills=[claimed, claimed, stored]).lines())
    assert "web killed, at 2 of 11 stages           3\n" in lines
    assert "web killed during a regeneration        2\n" in lines
    assert "generate killed, at 0 of 10 stages      0\n" in lines


def test_the_run_is_summarized():
    lines = list(fault_report().lines())
    assert "Orders placed in 1:01; quiet 0:05 later, with 61:40 of retry pauses skipped." in lines
    assert "Stuck pools replaced by their worker: none." in lines
    assert "Responses: 1 × no response, 1,204 × 200." in lines


def test_times_are_minutes_and_seconds():
    assert [minutes(seconds) for seconds in (0.4, 59.6, 61, 3_700)] == [
        "0:00",
        "1:00",
        "1:01",
        "61:40",
    ]
