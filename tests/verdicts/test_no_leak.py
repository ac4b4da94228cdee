"""Rejected model output is visible only to staff, whatever the model writes."""

import json

import pytest
from django.test import Client
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from audit.core.crosscheck import crosscheck
from audit.core.vocabulary import DIMENSIONS, LABELS, TIERS
from audit.models import CrosscheckLog, LogEntry
from tests.support.verdict_payloads import complete
from verdicts.generation.client import Answer
from verdicts.generation.fulfil import fulfil
from verdicts.mail.outbox import deliver
from verdicts.models import CachedVerdict, Status, Verdict

pytestmark = [pytest.mark.django_db, pytest.mark.slow]

MARK = "zyzzyva"  # occurs only in texts of the model
marked = st.sampled_from(["", " ", MARK, f"{MARK} goes on for long enough", f"<b>{MARK}</b>\0"])
labels = st.sampled_from([*LABELS, "green", MARK])
entries = st.fixed_dictionaries({}, optional={"verdict": labels, "analysis": marked})


@st.composite
def outputs(draw) -> tuple[str, str]:
    """A tier and a possible model output: complete, invalid or not JSON."""
    tier = draw(st.sampled_from(TIERS))
    payload = complete(tier, draw(st.sampled_from(LABELS)))
    if draw(st.booleans()):  # without these hardly any would be approved
        return tier, json.dumps(payload | {"summary": f"{MARK}, and why."})
    payload["summary"] = draw(marked)
    if tier != "quick":
        payload["breakdown"] |= {
            name: draw(entries) for name in draw(st.sets(st.sampled_from(DIMENSIONS)))
        }
    if tier == "strategy" and draw(st.booleans()):
        payload["strategy"] = {"next_step": draw(marked), "tests": draw(st.lists(marked))}
    text = json.dumps(payload)
    return tier, draw(
        st.sampled_from([text, text, text[:-3], f"{MARK}: {text}", f"```\n{text}\n```"])
    )


@pytest.fixture
def judge(paid_order):
    """Processes an order with that output: whether it was delivered, and all visible text."""

    def run(tier: str, output: str) -> tuple[bool, str]:
        order = paid_order(tier)
        answer = Answer(output, "STOP", "", "v", "r", 1, 1)
        fulfil(order.pk, model="gemini-2.5-flash", ask=lambda _: answer)
        order.refresh_from_db()
        emails = []
        for delivery in order.deliveries.all():
            deliver(delivery.pk, send=emails.append)
        page = Client().get("/oracle/result", {"session_id": order.session_id})
        cached = CachedVerdict.objects.filter(session_id=order.session_id)
        stored = Verdict.objects.filter(order=order)
        logged = LogEntry.objects.filter(entry__contains=order.session_id)
        visible = [page.content.decode(), order.reason]
        visible += [f"{one.subject} {one.text} {one.html}" for one in emails]
        visible += [one.body for one in cached] + [json.dumps(one.payload) for one in stored]
        visible += [one.entry for one in logged]
        assert len(logged) == 1
        return order.status == Status.DELIVERED, "\n".join(visible)

    return run


def test_rejected_text_reaches_no_cache_email_response_or_log(judge):
    counts = {True: 0, False: 0}

    @settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
    @given(outputs())
    def holds(drawn):
        tier, output = drawn
        delivered, visible = judge(tier, output)
        counts[delivered] += 1
        assert delivered == crosscheck(output, tier).approved
        if not delivered:
            assert MARK not in visible
            evidence = CrosscheckLog.objects.order_by("-pk").first().evidence
            assert (MARK in evidence) == (MARK in output)

    holds()
    assert min(counts.values()) >= 5


def test_approved_text_is_visible_to_the_customer(judge):
    payload = complete("quick")
    payload["summary"] = f"Because of {MARK}."
    delivered, visible = judge("quick", json.dumps(payload))
    assert delivered
    assert visible.count(MARK) >= 4
