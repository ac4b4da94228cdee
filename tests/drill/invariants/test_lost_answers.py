"""How many model answers a fault can lose."""

from collections import Counter

import pytest

from drill.faults.faults import Fault, FaultKind
from drill.faults.kill_stages import HOLDS_ANSWER, STAGES, Kill, Scope
from drill.invariants.lost_answers import LEASE, WORKERS, answers_at_risk
from verdicts.generation import fulfil

BY_ID = {stage.id: stage for stage in STAGES}


def at_risk(*, kills=(), faults=(), replaced=None) -> int:
    return answers_at_risk(kills, faults, Counter(replaced or {}))


def test_the_stages_that_hold_an_answer_exist():
    assert set(BY_ID) >= HOLDS_ANSWER


@pytest.mark.parametrize("stage", STAGES, ids=BY_ID)
def test_a_killed_process_loses_an_answer_only_where_it_holds_one(stage):
    assert at_risk(kills=[Kill(stage, Scope.PROCESS)]) == (stage.id in HOLDS_ANSWER)


def test_a_killed_group_loses_as_many_answers_as_its_pool_has_workers():
    assert at_risk(kills=[Kill(BY_ID["generate: job taken"], Scope.GROUP)]) == WORKERS
    assert at_risk(kills=[Kill(BY_ID["post: job taken"], Scope.GROUP)]) == 0


@pytest.mark.parametrize(
    ("fault", "lost"),
    [
        (Fault(1, FaultKind.POOL_KILLED, cluster="generate"), WORKERS),
        (Fault(1, FaultKind.POOL_KILLED, cluster="post"), 0),
        (Fault(1, FaultKind.DATABASE_RESTART), WORKERS),
        (Fault(1, FaultKind.CLOCK_STEP, seconds=150), WORKERS),
        (Fault(1, FaultKind.CLOCK_STEP, seconds=60), 0),
        (Fault(1, FaultKind.CLOCK_STEP, seconds=-45), 0),
        (Fault(1, FaultKind.DISK_FULL), 0),
        (Fault(1, FaultKind.MODEL_RETIRED), 0),
    ],
)
def test_a_fault_loses_the_answers_of_the_pool_that_it_interrupts(fault, lost):
    assert at_risk(faults=[fault]) == lost


def test_the_lease_is_the_products():
    assert fulfil.LEASE.total_seconds() == LEASE


def test_a_replaced_pool_loses_as_many_answers_as_a_killed_one():
    assert at_risk(replaced={"generate": 1, "post": 3}) == WORKERS
