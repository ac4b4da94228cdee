"""One order through a site that fails wherever it can: whose is each line, and what is in it?"""

import json
import signal
from typing import Any

import pytest

from audit.core.redaction import short_hash
from drill.sites.live_site import live_site
from drill.sites.processes import wait_for

EMAIL = "buyer.of.bread@example.com"
QUERY = "Should the miller's daughter spin straw?"
# A tier that there is not, so that whoever touches the order fails; and a job of nobody's.
SPOIL = """
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

# Once on each database, which the site itself is given a new one of.
pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def told(tmp_path_factory) -> tuple[str, dict[str, list[dict[str, Any]]], str]:
    """The session, the lines of each program, and everything that was said."""
    folder = tmp_path_factory.mktemp("service-log")
    with live_site(folder, ORACLE_LOG_FORMAT="json") as site:
        session = _walk(site)
        _, output = site.runs.end(signal.SIGTERM)
    lines: dict[str, list[dict[str, Any]]] = {}
    for one in output.splitlines():
        prefix, _, line = one.partition(" | ")  # honcho's: the time, and the name with its number
        if line.startswith("{"):
            program = prefix.split()[1].removesuffix(".1")
            lines.setdefault(program, []).append(json.loads(line))
    return session, lines, output


def _walk(site) -> str:
    """Made elsewhere, so that its event makes the order; each step fails once."""
    meta = {"tier": "full", "query_0": QUERY}
    session = site.sandbox.create_session(metadata=meta, amount_subtotal=500)["id"]
    site.sandbox.fault("gemini", "unavailable", times=3)  # as often as one call tries
    site.sandbox.fault("graph", "error")
    site.sandbox.pay(session, email=EMAIL)
    site.wait_for_mail(EMAIL)
    site.manage("evict", session, "--reason", "to see it")
    site.sandbox.fault("gemini", "unavailable", times=None)
    assert site.api(session).status_code == 503
    site.sandbox.clear_faults()
    site.manage("shell", "--no-imports", "-c", SPOIL)
    assert site.result(session).status_code == 500
    wait_for(
        lambda: (
            site.manage("shell", "--no-imports", "-c", FAILED).split()
            == ["deliver", "fulfil_order"]
        )
    )
    return session


def test_every_line_about_the_order_says_whose_it_is(told):
    session, lines, _ = told
    found = {
        program: [
            (one["logger"], one["message"], one.get("session"))
            for one in each
            # Both run when their time has come.
            if one["logger"]
            not in ("verdicts.reconciliation.sweep", "verdicts.reconciliation.reconcile_hourly")
        ]
        for program, each in lines.items()
    }
    ours = short_hash(session)
    refused = "the model answered 503"
    assert found == {
        "web": [
            ("verdicts.payments.accept_payment", "order 1 made from its session", ours),
            ("verdicts.results.regenerate", f"no regeneration of order 1: {refused}", ours),
            ("django.request", "Service Unavailable: /api/verdict", ours),
            ("django.request", "Internal Server Error: /oracle/result", ours),
        ],
        "generate": [
            ("verdicts.generation.fulfil", f"no answer to order 1: {refused}", ours),
            ("verdicts.tasks", "fulfil_order failed", ours),
        ],
        "worker": [
            (
                "verdicts.mail.outbox",
                "delivery 1, attempt 1: Graph gave no token (500)",
                ours,
            ),
            ("verdicts.tasks", "deliver failed", None),  # of a delivery that there is not
        ],
    }


def test_no_line_has_the_key_to_the_verdict_or_anything_of_the_customers(told):
    session, _, said = told
    for secret in (session, EMAIL, EMAIL.partition("@")[0], QUERY, "miller"):
        assert secret not in said
