"""One order in a site where each step fails: the session and redaction of every log line."""

import json
import signal
from typing import Any

import pytest

from audit.core.redaction import short_hash
from drill.sites.live_site import live_site
from drill.sites.processes import wait_for

EMAIL = "buyer.of.bread@example.com"
QUERY = "Should the miller's daughter spin straw?"
# An invalid tier, so that every job of the order fails, and a job of an unknown delivery.
BREAK_ORDER = """
from verdicts.jobs import queue
from verdicts.models import Order
Order.objects.update(tier="gold", status="paid")
queue.enqueue(queue.FULFIL, Order.objects.get().pk)
queue.enqueue(queue.DELIVER, 4711)
"""
FAILED = """
from django_q.models import Failure
print(*Failure.objects.order_by("name").values_list("name", flat=True))
"""

# Runs on both databases: the site gets a new database of the configured kind.
pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def logged(tmp_path_factory) -> tuple[str, dict[str, list[dict[str, Any]]], str]:
    """The session id, the JSON lines of each program, and the whole output."""
    folder = tmp_path_factory.mktemp("service-log")
    with live_site(folder, ORACLE_LOG_FORMAT="json") as site:
        session = _buy_and_fail(site)
        _, output = site.runs.end(signal.SIGTERM)
    lines: dict[str, list[dict[str, Any]]] = {}
    for one in output.splitlines():
        prefix, _, line = one.partition(" | ")  # honcho's prefix: time, and name.number
        if line.startswith("{"):
            program = prefix.split()[1].removesuffix(".1")
            lines.setdefault(program, []).append(json.loads(line))
    return session, lines, output


def _buy_and_fail(site) -> str:
    """An order created by its Stripe event; each step fails once."""
    meta = {"tier": "full", "query_0": QUERY}
    session = site.sandbox.create_session(metadata=meta, amount_subtotal=500)["id"]
    site.sandbox.fault("gemini", "unavailable", times=3)  # all attempts of one call
    site.sandbox.fault("graph", "error")
    site.sandbox.pay(session, email=EMAIL)
    site.wait_for_mail(EMAIL)
    site.manage("evict", session, "--reason", "to see it")
    site.sandbox.fault("gemini", "unavailable", times=None)
    assert site.api(session).status_code == 503
    site.sandbox.clear_faults()
    site.manage("shell", "--no-imports", "-c", BREAK_ORDER)
    assert site.result(session).status_code == 500
    wait_for(
        lambda: (
            site.manage("shell", "--no-imports", "-c", FAILED).split()
            == ["deliver", "fulfil_order"]
        )
    )
    return session


def test_every_line_about_the_order_has_its_session(logged):
    session, lines, _ = logged
    found = {
        program: [
            (one["logger"], one["message"], one.get("session"))
            for one in each
            # Scheduled jobs, which may or may not run.
            if one["logger"]
            not in ("verdicts.reconciliation.sweep", "verdicts.reconciliation.reconcile_hourly")
        ]
        for program, each in lines.items()
    }
    session_hash = short_hash(session)
    refused = "the model answered 503"
    assert found == {
        "web": [
            ("verdicts.payments.accept_payment", "order 1 made from its session", session_hash),
            ("verdicts.results.regenerate", f"no regeneration of order 1: {refused}", session_hash),
            ("django.request", "Service Unavailable: /api/verdict", session_hash),
            ("django.request", "Internal Server Error: /oracle/result", session_hash),
        ],
        "generate": [
            ("verdicts.generation.fulfil", f"no answer to order 1: {refused}", session_hash),
            ("verdicts.tasks", "fulfil_order failed", session_hash),
        ],
        "worker": [
            (
                "verdicts.mail.outbox",
                "delivery 1, attempt 1: Graph gave no token (500)",
                session_hash,
            ),
            ("verdicts.tasks", "deliver failed", None),  # the delivery does not exist
        ],
    }


def test_no_line_contains_the_session_id_or_personal_data(logged):
    session, _, output = logged
    for secret in (session, EMAIL, EMAIL.partition("@")[0], QUERY, "miller"):
        assert secret not in output
