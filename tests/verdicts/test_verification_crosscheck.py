"""SPEC_ORACLE_TMM_CROSSCHECK: one test for each verification criterion, by number.

On each database, since they process whole orders.
"""

import inspect
import json

import pytest

from audit.core import tmm
from audit.core.crosscheck import crosscheck
from audit.core.vocabulary import DIMENSIONS
from audit.models import CrosscheckLog
from tests.support.verdict_payloads import complete
from verdicts.models import CachedVerdict, Delivery, Verdict

pytestmark = pytest.mark.django_db(transaction=True)  # the log follows the commit
FIELDS = [
    "event", "session_id", "tier", "query_preview", "verdict_label", "coherence_score", "threshold",
    "phi", "approved", "flags", "crosscheck_reason", "timestamp",
]  # fmt: skip


def test_vc_1_a_perfect_verdict_passes(sandbox, paid_order, run_jobs):
    summary = "A summary of twenty-five or more characters."
    decision = crosscheck({"verdict": "GREEN", "summary": summary}, "quick")
    assert (decision.coherence_score, decision.approved) == (1.0, True)
    paid_order("quick")
    run_jobs()
    row = CrosscheckLog.objects.get()
    assert (row.coherence_score, row.approved) == (1.0, True)


def test_vc_2_a_malformed_verdict_is_blocked(sandbox, paid_order, run_jobs):
    decision = crosscheck({"summary": ""}, "quick")
    assert (decision.approved, decision.crosscheck_reason) == (False, "field_missing")
    sandbox.fault("gemini", "missing_field", field="verdict")
    paid_order("quick")
    run_jobs()
    row = CrosscheckLog.objects.get()
    assert (row.approved, row.crosscheck_reason) == (False, "field_missing")


def test_vc_3_a_dimension_conflict_is_detected(sandbox, paid_order, run_jobs):
    payload = complete("full", "GREEN")
    payload["breakdown"] = {
        name: {**payload["breakdown"][name], "verdict": "RED"} for name in DIMENSIONS
    }
    decision = crosscheck(payload, "full")
    assert decision.v_r >= 2.0
    assert decision.coherence_score is not None
    assert decision.approved is (decision.coherence_score >= decision.threshold)
    # The worst case: every analysis empty as well.
    sandbox.fault("gemini", "contradictory")
    paid_order("full")
    run_jobs()
    row = CrosscheckLog.objects.get()
    assert row.v_r >= 2.0
    assert "dimension_conflict" in row.flags
    assert not row.approved


@pytest.mark.parametrize("approved", [True, False])
def test_vc_4_a_log_entry_is_always_written(sandbox, paid_order, run_jobs, settings, approved):
    if not approved:
        sandbox.fault("gemini", "contradictory")
    order = paid_order("full")
    run_jobs()
    (line,) = settings.ORACLE_LOG_PATH.read_text().splitlines()
    entry = json.loads(line)
    assert list(entry)[: len(FIELDS)] == FIELDS
    assert (entry["event"], entry["session_id"]) == ("tmm_crosscheck", order.session_id)
    assert entry["approved"] is approved


@pytest.mark.parametrize("path", ["webhook", "regeneration"])
def test_vc_5_the_gate_is_pre_delivery(ask, sandbox, paid_order, missed, run_jobs, path):
    """A rejected output has no cache entry and no verdict email, on either path."""
    if path == "webhook":
        sandbox.fault("gemini", "contradictory")
        order = paid_order("full")
        run_jobs()
        assert not Verdict.objects.exists()
        assert not Delivery.objects.filter(kind=Delivery.Kind.VERDICT).exists()
        assert "verdict:" not in " ".join(m["subject"] for m in sandbox.messages())
    else:
        order = missed("full")
        sent = sandbox.messages()
        sandbox.fault("gemini", "contradictory")
        assert ask(order.session_id).status_code == 422
        run_jobs()
        assert sandbox.messages() == sent
        assert not Verdict.objects.filter(kind="regen").exists()
    assert not CachedVerdict.objects.exists()


def test_vc_6_the_constants_are_correct(db):
    assert tmm.PHI == 0.042
    assert pytest.approx(0.97404, abs=1e-5) == tmm.OMEGA
    assert tmm.OMEGA == 1 - (0.042 / 1.61803398875)
    for function in (crosscheck, tmm.coherence):
        parameters = {name.lower() for name in inspect.signature(function).parameters}
        assert not parameters & {"phi", "omega", "threshold"}
