from collections import Counter

from drill.faults.faults import FURTHEST, LARGE, blows
from drill.faults.kill_stages import STAGES


def draw(orders: int, seed: int = 1, **possible: bool):
    return blows(seed, orders, **{"restarts": True, "clock": True, **possible})


def test_the_seed_repeats_the_blows_in_their_order():
    drawn = draw(500)
    assert drawn == draw(500)
    assert [blow.after for blow in drawn] == sorted(blow.after for blow in drawn)


def test_a_drill_of_full_size_kills_at_every_stage():
    for seed in range(20):
        killed = {blow.stage for blow in draw(1000, seed) if blow.kind == "kill"}
        assert killed == set(STAGES)


def test_a_full_disk_is_freed_and_a_retired_model_replaced():
    for seed in range(50):
        kinds = Counter(blow.kind for blow in draw(60, seed))
        assert kinds["disk full"] == kinds["disk freed"] >= 1
        assert kinds["model retired"] == kinds["model changed"] == 1


def test_the_clock_stays_where_stripes_signatures_are_believed():
    for seed in range(50):
        offset = 0
        for blow in draw(2000, seed):
            offset += blow.seconds
            assert -60 <= offset <= FURTHEST < 300


def test_what_is_not_possible_is_not_drawn():
    kinds = {blow.kind for blow in draw(1000, restarts=False, clock=False)}
    assert not kinds & {"database", "clock"}
    assert {"database", "clock"} <= {blow.kind for blow in draw(30)}


def test_pools_are_killed_where_there_is_time_for_it():
    assert Counter(blow.cluster for blow in draw(LARGE) if blow.kind == "pool") == {
        "generate": 1,
        "post": 1,
    }
    assert not [blow for blow in draw(LARGE - 1) if blow.kind == "pool"]
