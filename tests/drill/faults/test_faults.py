from collections import Counter

from drill.faults.faults import (
    MAX_CLOCK_OFFSET,
    MIN_CLOCK_OFFSET,
    MIN_ORDERS_FOR_POOL_KILL,
    FaultKind,
    plan_faults,
)
from drill.faults.kill_stages import STAGES


def plan(orders: int, seed: int = 1, **possible: bool):
    return plan_faults(seed, orders, **{"restarts": True, "clock": True, **possible})


def test_the_seed_repeats_the_faults_in_their_order():
    faults = plan(500)
    assert faults == plan(500)
    assert [fault.after for fault in faults] == sorted(fault.after for fault in faults)


def test_a_drill_of_full_size_kills_at_every_stage():
    for seed in range(20):
        killed = {fault.stage for fault in plan(1000, seed) if fault.kind is FaultKind.KILL}
        assert killed == set(STAGES)


def test_a_full_disk_is_freed_and_a_retired_model_replaced():
    for seed in range(50):
        kinds = Counter(fault.kind for fault in plan(60, seed))
        assert kinds[FaultKind.DISK_FULL] == kinds[FaultKind.DISK_FREED] >= 1
        assert kinds[FaultKind.MODEL_RETIRED] == kinds[FaultKind.MODEL_CHANGED] == 1


def test_stripes_signatures_stay_valid_whatever_the_clock_offset():
    for seed in range(50):
        offset = 0
        for fault in plan(2000, seed):
            offset += fault.seconds
            assert -300 < MIN_CLOCK_OFFSET <= offset <= MAX_CLOCK_OFFSET < 300


def test_faults_that_are_not_possible_are_not_drawn():
    possible = {FaultKind.DATABASE_RESTART, FaultKind.CLOCK_STEP}
    kinds = {fault.kind for fault in plan(1000, restarts=False, clock=False)}
    assert not kinds & possible
    assert possible <= {fault.kind for fault in plan(30)}


def pool_kills(orders: int) -> list[str]:
    return [one.cluster for one in plan(orders) if one.kind is FaultKind.POOL_KILLED]


def test_pools_are_killed_only_in_drills_that_are_long_enough():
    assert sorted(pool_kills(MIN_ORDERS_FOR_POOL_KILL)) == ["generate", "post"]
    assert pool_kills(MIN_ORDERS_FOR_POOL_KILL - 1) == []
