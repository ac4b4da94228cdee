import pytest
from django.utils import timezone

from audit.log import log
from audit.models import ModelCall
from verdicts import tasks

pytestmark = pytest.mark.django_db


def test_reads_are_counted_by_outcome(value, ask, missed):
    order = missed("quick")
    ask(order.session_id)
    ask(order.session_id)
    ask("nonsense")
    assert value("reads_total", outcome="verdict") == 1
    assert value("cache_hits_total") == 1
    assert value("reads_total", outcome="malformed") == 1
    assert value("regenerations_total", outcome="approved") == 1


def test_rate_limited_reads_are_counted_by_reason(value, ask, sandbox, missed):
    order = missed("quick")
    sandbox.fault("gemini", "contradictory")
    sandbox.fault("gemini", "malformed")
    ask(order.session_id)
    assert ask(order.session_id).status_code == 429
    assert value("rate_limited_total", reason="too-soon") == 1
    assert value("rate_limited_total", reason="too-many") == 0
    assert value("regenerations_total", outcome="rejected") == 1


def test_crosschecks_calls_tokens_and_durations_are_counted(value, scrape, delivered):
    delivered("full")
    found = scrape()
    call = ModelCall.objects.get()

    def of(name: str, **labels: str) -> float:
        return found[f"oracle_{name}", frozenset(labels.items())]

    assert of("crosschecks_total", kind="original", tier="full", reason="pass") == 1
    assert of("coherence_score_bucket", tier="full", le="+Inf") == 1
    assert of("coherence_score_bucket", tier="full", le="0.0") == 0
    assert of("model_calls_total", kind="original", tier="full", outcome="answered") == 1
    assert of("model_call_seconds_count", kind="original", tier="full") == 1
    seconds = of("model_call_seconds_sum", kind="original", tier="full")
    assert seconds == pytest.approx(call.duration_ms / 1000)
    assert of("model_tokens_total", tier="full", direction="prompt") == call.prompt_tokens > 0
    assert of("model_tokens_total", tier="full", direction="output") == call.output_tokens > 0
    assert of("emails_total", kind="verdict", state="sent") == 1


def test_a_slow_call_is_counted_in_the_infinity_bucket_only(value, delivered):
    delivered("quick")
    ModelCall.objects.update(duration_ms=70_000)
    labels = {"kind": "original", "tier": "quick"}
    assert value("model_call_seconds_bucket", **labels, le="60.0") == 0
    assert value("model_call_seconds_bucket", **labels, le="+Inf") == 1


def test_divergences_are_counted_by_level_and_cause(value, ask, sandbox, missed, run_jobs):
    order = missed("full", "GREEN")
    sandbox.fault("gemini", "verdict", label="RED")
    ask(order.session_id)
    run_jobs()
    assert value("divergences_total", tier="full", level="significant") == 1
    assert value("causes_total", tier="full", cause="infrastructure") == 1


def test_a_failed_email_is_counted(value, sandbox, missed, ask, run_jobs):
    order = missed("full", "GREEN")
    sandbox.fault("gemini", "verdict", label="RED")
    sandbox.fault("graph", "error", times=9)
    ask(order.session_id)
    run_jobs(now=True)
    assert value("emails_total", kind="divergence", state="failed") == 1
    assert value("emails_total", kind="divergence", state="sent") is None


@pytest.mark.django_db(transaction=True)
def test_a_failed_write_to_the_log_is_counted(value, settings, tmp_path):
    settings.ORACLE_LOG_PATH = tmp_path / "no such folder" / "oracle_log.jsonl"
    log.append({"event": "x"})
    assert value("log_write_failures_total") == 1
    assert value("log_pending_lines", log="test") == 1


def test_repairs_and_failures_of_reconciliation_are_counted(value, sandbox, elsewhere):
    assert value("discrepancies_repaired_total", kind="missed webhook") == 0
    assert value("reconciled_timestamp_seconds") is None
    elsewhere(180)
    tasks.reconcile()
    assert value("discrepancies_repaired_total", kind="missed webhook") == 1
    assert value("discrepancies_repaired_total", kind="lost job") == 0
    completed = value("reconciled_timestamp_seconds")
    assert completed == pytest.approx(timezone.now().timestamp(), abs=60)
    sandbox.fault("stripe", "unavailable", times=None)
    tasks.reconcile()
    assert value("reconcile_failures_total") == 1
    assert value("reconciled_timestamp_seconds") == completed
