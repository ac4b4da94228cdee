"""Every state of an order has an accessible result page, in a real browser."""

import itertools
import json
import time

import pytest

from audit.core.vocabulary import LABELS, TIERS
from tests.support.visitor import PHONE, assert_accessible, assert_nothing_inline

SUPPORT = "oracle@42sisters.ai"

# Sets states directly that otherwise take minutes or failures.
SET_STATES = """
from datetime import timedelta
from django.utils import timezone
from django_q.models import Schedule
from audit.models import ModelCall
from verdicts.core.disclaimer import Comparison
from verdicts.models import *
from verdicts.results import cache
now = timezone.now()
made = {sessions}
def rows(name):
    return Order.objects.filter(session_id=made[name])
def lose(name):
    CachedVerdict.objects.filter(session_id=made[name]).delete()
later = now + timedelta(hours=1)
Schedule.objects.update(next_run=later)  # no sweep in between
for name in ("held", "failed", "expired", "payment_failed"):
    rows(name).update(status=name)
rows("working").update(status="generating", paid_at=now, due_at=later)
rows("checking").update(status="generating", paid_at=now, due_at=later)
rows("long").update(
    status="paid", attempts=2, paid_at=now - timedelta(minutes=9), due_at=later
)
ModelCall.objects.create(
    session_id=made["checking"], kind="original", tier="full", model="m", prompt_sha256="0" * 64,
    asked={{}}, sent={{}}, outcome="answered", duration_ms=1,
)
rows("refunded-early").update(status="failed", refunded_at=now, refunded_cents=500)
for name in ("erased", "regenerating", "try-later", "too-soon", "model-retired", "not-restored"):
    lose(name)
rows("erased").update(status="erased")
rows("regenerating").update(regen_at=now, regen_until=later)
Delivery.objects.filter(order__session_id=made["sending"]).update(
    state="sending", due_at=later, sent_at=None
)
Delivery.objects.filter(order__session_id=made["unsent"]).update(state="failed", sent_at=None)
order = rows("comparing").get()
cache.put(order, order.verdicts.get(kind="regen"), Comparison("GREEN"))
original = Verdict.objects.get(order__session_id=made["same-verdict"], kind="original")
original.payload["summary"] += " In other words."
original.save()
"""

# A text of each page.
EXPECTED_TEXT = {
    "working": "Your idea is being judged",
    "long": "It takes longer than it should",
    "checking": "Your idea is being judged",
    "awaiting": "Waiting for your payment to arrive",
    "held": "A person is looking at your order",
    "asking": "One moment, please",
    "unpaid": "nothing was charged",
    "expired": "The time to pay for this order ran out",
    "payment_failed": "Your bank did not let the payment through",
    "unknown": "We know of no such order",
    "malformed": "This address is not whole",
    "rejected": "did not pass our checks",
    "failed": "could not be brought to answer",
    "refunded-early": "CA$5.00 went back to you",
    "erased": "This order was erased",
    "regenerating": "Your result is being restored",
    "try-later": "GREEN, stands",
    "too-soon": "We try at most once in five minutes",
    "model-retired": "no longer offered",
    "not-restored": "GREEN, stands",
    "sending": "Email on its way",
    "unsent": "Not sent yet",
    "comparing": "Being compared with your email",
    "same-text": "word for word",
    "same-verdict": "its wording is not",
    "minor": "your emailed verdict GREEN stands",
    "significant": "your emailed verdict GREEN stands",
    "unrecorded": "This may differ from your email",
    "refunded": "This order was refunded",
}
NOT_PAID_FOR = (
    *("unpaid", "asking", "expired", "payment_failed", "held", "awaiting"),
    *("working", "checking", "long", "failed", "refunded-early"),
)
DELIVERED = (
    *("erased", "regenerating", "try-later", "too-soon", "model-retired", "not-restored"),
    *("sending", "unsent", "refunded"),
)
TRANSIENT = {"asking", "try-later", "model-retired", "not-restored"}
QUESTIONS = ("What happened", "What was charged", "What happens next", "Questions")


@pytest.fixture(scope="module")
def sessions(customers) -> dict[str, str]:
    """One order in each state, created together."""
    sandbox = customers.site.sandbox
    made = {"rejected": customers.buy(fault="contradictory")}
    for name in NOT_PAID_FOR:
        made[name] = customers.unpaid()
    sandbox.pay(made["awaiting"], method="delayed", email="slow-bank@example.com")
    regenerations = {
        "comparing": "GREEN",
        "same-text": "GREEN",
        "same-verdict": "GREEN",
        "minor": "AMBER",
        "significant": "RED",
    }
    for name in (*DELIVERED, *regenerations):
        made[name] = customers.buy(fault="verdict", label="GREEN")
    made["unknown"], made["malformed"] = "cs_test_neverHeardOf1", "cs_test_cut"
    long_ago = int(time.time()) - 90_000
    made["unrecorded"] = sandbox.create_session(
        metadata={"tier": "quick", "query_0": "Sold long ago?"},
        payment_status="paid",
        status="complete",
        created=long_ago,
        amount_total=200,
        currency="cad",
    )["id"]
    for name in (*DELIVERED, *regenerations):
        customers.settled(made[name])
    customers.wait(made["rejected"], 422)
    customers.miss_all({made[name]: label for name, label in regenerations.items()})
    for name in regenerations:
        customers.site.result(made[name])
    for name in (*regenerations, "unrecorded"):
        customers.settled(made[name])
    for name in ("try-later", "too-soon"):
        customers.next_time(made[name], "unavailable", times=None)
    customers.next_time(made["model-retired"], "not_found", times=None)
    customers.next_time(made["not-restored"], "contradictory")
    customers.shell(SET_STATES.format(sessions=json.dumps(made)))
    customers.site.result(made["too-soon"])
    customers.site.result(made["asking"])
    sandbox.refund(made["refunded"])
    return made


@pytest.mark.parametrize("state", EXPECTED_TEXT)
def test_each_state_has_its_page(visitor, customers, sessions, state):
    if state == "asking":  # while another request asks Stripe
        customers.site.result(sessions[state])
    page = visitor.result(sessions[state])
    assert EXPECTED_TEXT[state] in page.locator("main").inner_text()
    assert SUPPORT in page.locator("body").inner_text()
    assert page.locator("h1").count() == 1
    if page.locator("article.verdict").count() == 0:
        assert page.locator(".facts dt").all_inner_texts() == list(QUESTIONS)
    assert_nothing_inline(page)
    assert_accessible(page)


@pytest.fixture(scope="module")
def bought(customers) -> dict[tuple[str, str], str]:
    """Each tier with each verdict."""
    every = itertools.product(TIERS, LABELS)
    made = {
        (tier, label): customers.buy(tier, fault="verdict", label=label) for tier, label in every
    }
    for session in made.values():
        customers.settled(session)
    return made


@pytest.mark.parametrize("tier", TIERS)
@pytest.mark.parametrize("label", LABELS)
def test_a_verdict_has_word_shape_and_text(visitor, customers, bought, tier, label):
    session = bought[tier, label]
    page = visitor.result(session)
    band = page.locator(".band")
    assert band.locator("h1").inner_text() == label
    assert band.locator("svg.sign *").count() == 1
    assert page.title() == f"{label} - Oracle"
    answer = customers.site.http.get("/api/verdict", params={"session_id": session}).json()
    verdict = answer["verdict"]
    assert verdict["summary"] in page.locator("main").inner_text()
    rows = page.locator(".dimensions > div").all_inner_texts()
    drawn = page.locator("svg[role=img] desc").all_text_contents()
    for row, name in zip(rows, verdict.get("breakdown", {}), strict=True):
        entry = verdict["breakdown"][name]
        assert all(words in row for words in (name, entry["verdict"], entry["analysis"]))
        assert f"{name}: {entry['verdict']}." in drawn[0]
    if tier == "strategy":
        assert verdict["strategy"]["next_step"] in page.locator(".strategy").inner_text()
        assert len(page.locator(".strategy li").all()) == len(verdict["strategy"]["tests"])
    assert_accessible(page)


def test_the_fingerprint_of_page_and_email_are_the_same(visitor, customers):
    session = customers.verdict("strategy", "AMBER")
    page = visitor.result(session)
    printed = page.locator(".fingerprint").inner_text()
    number = customers.number_of(session)
    (email,) = customers.site.wait_for_mail(f"customer{number}@example.com")
    assert printed in email["text"]
    assert printed.split()[1] in email["html"]


def test_a_significant_difference_shows_both_verdicts_and_the_note(visitor, sessions):
    panel = visitor.result(sessions["significant"]).locator(".email-status")
    assert panel.locator(".label").all_inner_texts() == ["GREEN", "RED"]
    assert "Due to a technical condition" in panel.inner_text()
    assert "Both represent a valid coherence reading of your submission." in panel.inner_text()


def test_without_scripts_every_page_is_complete(visitor, sessions):
    for state, words in EXPECTED_TEXT.items():
        if state in TRANSIENT:  # covered above
            continue
        page = visitor.result(sessions[state], script=False, width=PHONE)
        assert words in page.locator("main").inner_text(), state
        page.close()


def test_too_many_unknown_orders_are_rate_limited(visitor, customers):
    for number in range(11):
        customers.site.result(f"cs_test_guessing{number:04}")
    page = visitor.result("cs_test_guessing9999")
    assert "Please wait a minute" in page.locator("h1").inner_text()
    assert_accessible(page)
