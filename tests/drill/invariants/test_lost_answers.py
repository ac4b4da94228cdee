"""What a fault can cost of the model's answers, and what it cannot."""

from collections import Counter

import pytest

from drill.faults.faults import Fault
from drill.faults.kill_stages import ALONE, STAGES, WITH_GROUP
from drill.invariants.lost_answers import CLAIM, HOLDING, WORKERS, answers_at_risk
from verdicts.generation.fulfil import LEASE


def at_risk(*, kills=(), faults=(), ended=None) -> int:
    return answers_at_risk(kills, faults, Counter(ended or {}))


def test_every_stage_that_holds_an_answer_is_a_stage():
    assert {f"{stage.role}: {stage.name}" for stage in STAGES} >= HOLDING


@pytest.mark.parametrize("stage", STAGES, ids=lambda stage: stage.file)
def test_a_worker_costs_an_answer_only_where_it_holds_one(stage):
    name = f"{stage.role}: {stage.name}"
    assert at_risk(kills=[f"{name}, {ALONE}"]) == (name in HOLDING)


def test_a_group_costs_what_its_pool_can_hold():
    assert at_risk(kills=[f"generate: job taken, {WITH_GROUP}"]) == WORKERS
    assert at_risk(kills=[f"post: job taken, {WITH_GROUP}"]) == 0


@pytest.mark.parametrize(
    ("fault", "cost"),
    [
        (Fault(1, "pool", cluster="generate"), WORKERS),
        (Fault(1, "pool", cluster="post"), 0),
        (Fault(1, "database"), WORKERS),
        (Fault(1, "clock", seconds=150), WORKERS),
        (Fault(1, "clock", seconds=60), 0),
        (Fault(1, "clock", seconds=-45), 0),
        (Fault(1, "disk full"), 0),
        (Fault(1, "model retired"), 0),
    ],
)
def test_a_fault_costs_what_it_can_stop(fault, cost):
    assert at_risk(faults=[fault]) == cost


def test_a_claim_lasts_as_long_as_the_product_has_it():
    assert LEASE.total_seconds() == CLAIM


def test_a_pool_that_its_watch_ends_is_lost_like_a_killed_one():
    assert at_risk(ended={"generate": 1, "post": 3}) == WORKERS
