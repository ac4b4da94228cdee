"""A miss: one call, one gate, one answer; and every way in which it can come to nothing."""

import contextlib
import json
from datetime import timedelta

import pytest
from django.db.models.functions import Now
from django.utils import timezone

from audit.models import CrosscheckLog, LogEntry, ModelCall
from tests.support.stripe_objects import charge_object
from verdicts import clients
from verdicts.core.errors import ModelBusy
from verdicts.core.request_config import locked_request
from verdicts.generation.client import waiting_for_quota
from verdicts.models import CachedVerdict, Delivery, Order, Status, Verdict
from verdicts.payments.client import Event
from verdicts.payments.events import receive
from verdicts.privacy.erase import erase
from verdicts.results import cache
from verdicts.results.outcome import Outcome
from verdicts.results.regenerate import in_progress, regenerate

pytestmark = pytest.mark.django_db


def pass_time(**gone: int) -> None:
    """As the database's clock would: the last regeneration was begun that long ago."""
    Order.objects.update(regen_at=Now() - timedelta(**gone), regen_until=None)


def evict() -> None:
    CachedVerdict.objects.all().delete()


def test_a_miss_is_answered_with_a_regeneration_that_names_the_emailed_verdict(ask, missed):
    order = missed("full", "GREEN")
    answer = ask(order.session_id)
    assert answer.status_code == 200
    body = answer.json()
    assert list(body) == [
        "tier", "query", "verdict", "cached_at", "regen", "regen_reason", "divergence"
    ]  # fmt: skip
    assert (body["regen"], body["regen_reason"]) == (True, "cache_miss")
    assert body["divergence"] == {
        "status": "pending",
        "level": None,
        "emailed_verdict": "GREEN",
        "disclaimer": None,
    }


def test_verdict_crosscheck_log_line_cache_and_comparison_come_together(ask, missed, run_jobs):
    order = missed("quick")
    ask(order.session_id)
    regen = Verdict.objects.get(kind="regen")
    assert regen.crosscheck.approved
    assert regen.call.kind == "regen"
    assert CachedVerdict.objects.get().verdict == regen
    assert json.loads(LogEntry.objects.last().entry)["kind"] == "regen"
    assert regen.compare_due_at
    run_jobs()
    assert regen.crosscheck.divergence.level


def test_once_it_is_back_the_model_is_left_alone(ask, sandbox, missed):
    order = missed("quick")
    bodies = {ask(order.session_id).content for _ in range(5)}
    assert len(bodies) == 1
    assert len(sandbox.requests("gemini")) == 1


def test_an_entry_that_has_expired_is_a_miss(ask, sandbox, delivered, settings):
    settings.ORACLE_CACHE_DAYS = 1
    order = delivered("quick")
    assert ask(order.session_id).json()["regen"] is False
    CachedVerdict.objects.update(expires_at=1_700_000_000)
    assert ask(order.session_id).json()["regen"] is True
    assert CachedVerdict.objects.get().expires_at > 1_700_000_000


def test_an_entry_without_an_approved_decision_is_dropped(ask, sandbox, delivered):
    order = delivered("quick")
    CachedVerdict.objects.update(approved=False, body="{}")
    assert ask(order.session_id).json()["regen"] is True
    assert CachedVerdict.objects.get().approved


def test_sealed_serves_the_stored_original_and_asks_nobody(ask, sandbox, delivered, settings):
    order = delivered("quick")
    before = ask(order.session_id)
    settings.ORACLE_CACHE_MISS = "stored"
    evict()
    after = ask(order.session_id)
    assert (after.content, after["ETag"]) == (before.content, before["ETag"])
    assert sandbox.requests("gemini") == []
    assert CachedVerdict.objects.exists()


def test_a_rejected_regeneration_leaves_nothing_but_its_record(ask, sandbox, missed):
    order = missed("full", "AMBER")
    sandbox.fault("gemini", "contradictory")
    answer = ask(order.session_id)
    assert answer.status_code == 422
    assert answer.json()["type"] == "rejected"
    assert answer.json()["emailed_verdict"] == "AMBER"
    assert "AMBER, stands" in answer.json()["detail"]
    assert not CachedVerdict.objects.exists()
    assert Verdict.objects.get().kind == "original"
    assert CrosscheckLog.objects.get(approved=False).kind == "regen"


def test_within_five_minutes_of_a_failure_it_is_too_soon(ask, sandbox, missed):
    order = missed("full", "RED")
    sandbox.fault("gemini", "contradictory")
    ask(order.session_id)
    answer = ask(order.session_id)
    assert answer.status_code == 429
    assert answer.json()["type"] == "too-soon"
    assert answer.json()["emailed_verdict"] == "RED"
    assert 290 < int(answer["Retry-After"]) <= 300
    assert len(sandbox.requests("gemini")) == 1


@pytest.mark.parametrize(("gone", "calls"), [({"seconds": 298}, 1), ({"seconds": 301}, 2)])
def test_the_window_is_five_minutes_by_the_databases_clock(ask, sandbox, missed, gone, calls):
    order = missed("quick")
    ask(order.session_id)
    evict()
    pass_time(**gone)
    assert ask(order.session_id).status_code == 200
    assert len(sandbox.requests("gemini")) == calls


def test_evicted_within_the_window_the_stored_regeneration_comes_back(
    ask, sandbox, missed, run_jobs
):
    order = missed("full", "GREEN")
    sandbox.fault("gemini", "verdict", label="RED")
    ask(order.session_id)
    run_jobs()
    before = ask(order.session_id)
    assert before.json()["divergence"]["status"] == "checked"
    evict()
    after = ask(order.session_id)
    assert (after.status_code, after.content) == (200, before.content)
    assert len(sandbox.requests("gemini")) == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    "fault", ["unavailable", "error", "rate_limited", "hang_up", "bad_request"]
)
def test_a_model_that_does_not_answer_is_503_and_the_email_stands(
    ask, sandbox, missed, settings, fault
):
    settings.ORACLE_REGENERATION_DEADLINE = 2
    order = missed("full", "GREEN")
    sandbox.fault("gemini", fault, times=None)
    answer = ask(order.session_id)
    assert answer.status_code == 503
    assert answer.json()["type"] == "try-later"
    assert answer.json()["emailed_verdict"] == "GREEN"
    assert 1 <= int(answer["Retry-After"]) <= 300
    assert ModelCall.objects.filter(kind="regen").count() == 1
    assert ask(order.session_id).status_code == 429


def test_a_dribbling_model_is_cut_off(ask, sandbox, missed, settings):
    settings.ORACLE_REGENERATION_DEADLINE = 1
    order = missed("quick")
    sandbox.fault("gemini", "dribble", times=None)
    assert ask(order.session_id).status_code == 503


def test_a_retired_model_is_its_own_error_and_operators_hear_once(
    ask, sandbox, missed, run_jobs, settings
):
    orders = [missed("quick", "GREEN"), missed("quick", "GREEN")]
    settings.ORACLE_MODEL = "gemini-2.5-pro"
    sandbox.fault("gemini", "not_found", times=None)
    for order in orders:
        answer = ask(order.session_id)
        assert answer.status_code == 503
        assert answer.json()["type"] == "model-retired"
        assert answer.json()["emailed_verdict"] == "GREEN"
    run_jobs()
    (told,) = Delivery.objects.filter(kind=Delivery.Kind.RETIRED)
    assert told.about == "gemini-2.5-pro"


def test_while_somebody_is_at_it_the_others_wait(missed, settings):
    order = missed("quick")
    seen: list[Outcome] = []

    def ask_slowly(_request):
        other = Order.objects.get(pk=order.pk)
        seen.append(regenerate(other, model=settings.ORACLE_MODEL, ask=ask_slowly))
        raise RuntimeError("killed")

    with pytest.raises(RuntimeError):
        regenerate(order, model=settings.ORACLE_MODEL, ask=ask_slowly)
    assert [one.name for one in seen] == ["regenerating"]
    assert seen[0].retry_after == 2


def test_whoever_died_at_it_is_waited_for_no_longer_than_its_lease(ask, sandbox, missed):
    order = missed("quick", "GREEN")
    Order.objects.update(regen_at=Now(), regens=1, regen_until=Now() + timedelta(seconds=30))
    assert ask(order.session_id).json()["status"] == "regenerating"
    Order.objects.update(regen_until=Now() - timedelta(seconds=1))
    assert ask(order.session_id).status_code == 429
    assert sandbox.requests("gemini") == []


def test_without_a_slot_no_attempt_is_counted(ask, sandbox, missed, settings, monkeypatch):
    order = missed("quick")
    monkeypatch.setattr(in_progress, "in_use", settings.SERVING.regenerations)
    answer = ask(order.session_id)
    assert (answer.status_code, answer.json()["status"]) == (202, "regenerating")
    order.refresh_from_db()
    assert (order.regens, order.regen_at) == (0, None)
    monkeypatch.setattr(in_progress, "in_use", 0)
    assert ask(order.session_id).status_code == 200
    assert in_progress.in_use == 0


def test_while_another_reader_waits_for_the_quota_nobody_else_asks(
    ask, sandbox, missed, monkeypatch
):
    order = missed("quick")
    monkeypatch.setattr(waiting_for_quota, "in_use", 1)
    answer = ask(order.session_id)
    assert (answer.status_code, answer.json()["status"]) == (202, "regenerating")
    order.refresh_from_db()
    assert (order.regens, order.regen_at) == (0, None)
    assert sandbox.requests("gemini") == []
    monkeypatch.setattr(waiting_for_quota, "in_use", 0)
    assert ask(order.session_id).status_code == 200


def test_who_meets_a_full_quota_behind_another_has_not_begun(ask, sandbox, missed, settings):
    order = missed("quick")
    sandbox.fault("gemini", "rate_limited")

    def behind_another(request):
        with waiting_for_quota.acquire(limit=1):
            return clients.ask_model_again(request)

    outcome = regenerate(order, model=settings.ORACLE_MODEL, ask=behind_another)
    assert outcome.name == "regenerating"
    assert len(sandbox.requests("gemini")) == 1
    assert ModelCall.objects.get(kind="regen").outcome == "busy"
    order.refresh_from_db()
    assert (order.regens, order.regen_at, order.regen_until) == (0, None, None)
    assert ask(order.session_id).status_code == 200
    assert waiting_for_quota.in_use == 0


def test_a_slot_is_given_back_whatever_happens(missed, settings):
    def die(_request):
        raise RuntimeError("killed")

    with pytest.raises(RuntimeError):
        regenerate(missed("quick"), model=settings.ORACLE_MODEL, ask=die)
    assert in_progress.in_use == 0


@pytest.mark.parametrize("fault", ["", "contradictory"])
def test_what_was_erased_meanwhile_is_not_brought_back(sandbox, missed, settings, fault):
    order = missed("full", query="My secret plan?")

    def ask_and_erase(request):
        Order.objects.update(status=Status.ERASED, query="")
        if fault:
            sandbox.fault("gemini", fault)
        return clients.ask_model_again(request)

    outcome = regenerate(order, model=settings.ORACLE_MODEL, ask=ask_and_erase)
    assert outcome.name == "erased"
    assert not CachedVerdict.objects.exists()
    assert not Verdict.objects.filter(kind="regen").exists()
    assert CrosscheckLog.objects.get(kind="regen").evidence == ""
    assert "secret" not in LogEntry.objects.last().entry


@pytest.mark.parametrize("end", ["answered", "busy", "crashed"])
def test_a_call_of_what_was_erased_meanwhile_keeps_no_digest(sandbox, missed, settings, end):
    order = missed("full", query="My secret plan?")

    def ask_and_erase(request):
        erase(order, who="ada", reason="asked")
        if end == "busy":
            raise ModelBusy("try later")
        if end == "crashed":
            raise RuntimeError("killed")
        return clients.ask_model_again(request)

    with contextlib.suppress(RuntimeError):
        regenerate(order, model=settings.ORACLE_MODEL, ask=ask_and_erase)
    call = ModelCall.objects.get(kind="regen")
    assert (call.prompt_sha256, "seed" in call.asked, "seed" in call.sent) == ("", False, False)


def test_what_was_erased_before_the_claim_says_so(sandbox, missed, settings):
    order = missed("quick")
    Order.objects.update(status=Status.ERASED)
    outcome = regenerate(order, model=settings.ORACLE_MODEL, ask=clients.ask_model_again)
    assert (outcome.name, outcome.emailed) == ("erased", "")


def test_a_refund_while_the_model_is_asked_is_in_the_answer(sandbox, missed, settings):
    order = missed("quick")

    def ask_and_refund(request):
        charge = charge_object(payment_intent=order.payment_intent)
        receive(Event("evt_1", "charge.refunded", charge))
        return clients.ask_model_again(request)

    regenerate(order, model=settings.ORACLE_MODEL, ask=ask_and_refund)
    assert json.loads(CachedVerdict.objects.get().body)["refunded_at"]


@pytest.mark.slow
def test_an_old_regeneration_does_not_stand_in_for_one_that_failed(ask, sandbox, missed):
    """What fails once goes on failing until it is tried again, instead of changing its mind."""
    order = missed("quick")
    assert ask(order.session_id).status_code == 200
    evict()
    Verdict.objects.update(created_at=timezone.now() - timedelta(hours=1))
    pass_time(minutes=6)
    sandbox.fault("gemini", "unavailable", times=None)
    assert [ask(order.session_id).status_code for _ in range(3)] == [503, 429, 429]


def test_a_delivery_between_the_two_looks_is_a_hit(ask, sandbox, paid_order, run_jobs, monkeypatch):
    """The cache was empty when we looked, and the order delivered a moment later."""
    order = paid_order("quick")
    real, looks = cache.find, []

    def find(session_id):
        looks.append(real(session_id))
        if len(looks) == 1:
            run_jobs()
        return looks[-1]

    monkeypatch.setattr(cache, "find", find)
    assert ask(order.session_id).json()["regen"] is False
    assert looks[0] is None
    assert len(sandbox.requests("gemini")) == 1


def test_the_seed_of_the_delivered_original_is_sent_again(ask, sandbox, missed, settings):
    order = missed("quick", query="Which seed?")
    delivered = ModelCall.objects.get().sent["seed"]
    settings.ORACLE_MODEL = "gemini-2.5-pro"
    ask(order.session_id)
    (request,) = sandbox.requests("gemini")
    sent = json.loads(request["body"])["generationConfig"]["seed"]
    own = locked_request(model="gemini-2.5-pro", tier="quick", query="Which seed?").applied.seed
    assert sent == delivered != own


def test_a_miss_makes_no_more_queries_than_it_needs(ask, missed, django_assert_max_num_queries):
    """Two looks at the cache, order, claim, original, call with its order held; then six writes.

    And the savepoints.
    """
    order = missed("quick")
    with django_assert_max_num_queries(18):
        assert ask(order.session_id).status_code == 200
