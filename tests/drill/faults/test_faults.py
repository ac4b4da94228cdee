from collections import Counter

from drill.faults.faults import FURTHEST, LARGE, plan_faults
from drill.faults.kill_stages import STAGES


def draw(orders: int, seed: int = 1, **possible: bool):
    return plan_faults(seed, orders, **{"restarts": True, "clock": True, **possible})


def test_the_seed_repeats_the_faults_in_their_order():
    drawn = draw(500)
    assert drawn == draw(500)
    assert [fault.after for fault in drawn] == sorted(fault.after for fault in drawn)


def test_a_drill_of_full_size_kills_at_every_stage():
    for seed in range(20):
        killed = {fault.stage for fault in draw(1000, seed) if fault.kind == "kill"}
        assert killed == set(STAGES)


def test_a_full_disk_is_freed_and_a_retired_model_replaced():
    for seed in range(50):
        kinds = Counter(fault.kind for fault in draw(60, seed))
        assert kinds["disk full"] == kinds["disk freed"] >= 1
        assert kinds["model retired"] == kinds["model changed"] == 1


def test_the_clock_stays_where_stripes_signatures_are_believed():
    for seed in range(50):
        offset = 0
        for fault in draw(2000, seed):
            offset += fault.seconds
            assert -60 <= offset <= FURTHEST < 300


def test_what_is_not_possible_is_not_drawn():
    kinds = {fault.kind for fault in draw(1000, restarts=False, clock=False)}
    assert not kinds & {"database", "clock"}
    assert {"database", "clock"} <= {fault.kind for fault in draw(30)}


def test_pools_are_killed_where_there_is_time_for_it():
    assert Counter(fault.cluster for fault in draw(LARGE) if fault.kind == "pool") == {
        "generate": 1,
        "post": 1,
    }
    assert not [fault for fault in draw(LARGE - 1) if fault.kind == "pool"]
