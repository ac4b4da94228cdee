"""Whole orders, from the form to the mailbox, over HTTP and through the real client libraries."""

import json
import re
import signal
import time

import pytest

from audit.core.chain import GENESIS, verify
from audit.core.vocabulary import TIERS
from drill.sites.live_site import LiveSite, live_site
from drill.sites.processes import wait_for

# Ends the lease of the order and the lock of its job, which would take minutes.
EXPIRE_LEASES = """
from datetime import timedelta
from django.utils import timezone
from django_q.models import OrmQ
from verdicts.models import Order
past = timezone.now() - timedelta(seconds=1)
Order.objects.filter(status="generating").update(due_at=past)
OrmQ.objects.filter(key="generate").update(lock=past)
"""

# Marked so that it runs on each kind of database; the site itself uses a new one.
pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    with live_site(tmp_path_factory.mktemp("lifecycle")) as running:
        yield running


def log_entries(site: LiveSite, session_id: str) -> list[dict]:
    written = [json.loads(line) for line in site.log.read_text().splitlines()]
    return [line for line in written if line["session_id"] == session_id]


@pytest.mark.parametrize("tier", TIERS)
def test_an_order_is_paid_judged_emailed_and_shown(site, tier):
    email = f"{tier}@example.com"
    page = site.http.get("/")
    token = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', page.text).group(1)
    form = {"csrfmiddlewaretoken": token, "tier": tier, "query": "A bakery?\r\nIn East York?"}
    ordered = site.http.post("/", data={**form, "email": email})
    assert ordered.status_code == 303
    paid = site.http.post(ordered.headers["Location"], data={"email": email})
    assert paid.status_code == 303
    session_id = paid.headers["Location"].rpartition("session_id=")[2]
    assert site.result(session_id).status_code in (200, 202)

    (message,) = site.wait_for_mail(email)
    wait_for(lambda: site.result(session_id).status_code == 200)
    result = site.result(session_id).text
    (entry,) = log_entries(site, session_id)
    fingerprint = re.search(r"Fingerprint (\w{12})", message["text"]).group(1)
    assert f"Fingerprint {fingerprint}" in result
    assert entry["verdict_label"] in message["subject"]
    assert (entry["approved"], entry["tier"], entry["kind"]) == (True, tier, "original")
    assert entry["query_preview"] == "A bakery?\nIn East York?"
    assert f"session_id={session_id}" in message["text"]


def test_twenty_simultaneous_webhooks_cause_one_order_one_call_and_one_email(site):
    email = "twenty@example.com"
    session = site.http.post("/api/checkout", json={"tier": "quick", "query": "Twenty?"}).json()
    paid = site.sandbox.pay(session["session_id"], email=email, announce=False)
    results = site.sandbox.resend(paid["event_id"], count=20, parallel=True)
    assert results == [200] * 20
    site.wait_for_mail(email)
    again = site.sandbox.resend(paid["event_id"], count=3)
    assert again == [200] * 3
    last = site.buy("quick", "The next one?", "next@example.com")
    site.wait_for_mail("next@example.com")  # so all jobs queued before it are done
    assert len(site.sandbox.messages(to=email)) == 1
    calls = [r for r in site.sandbox.requests("gemini") if "Twenty?" in r["body"]]
    assert len(calls) == 1
    assert len(log_entries(site, session["session_id"])) == 1
    assert last


def test_a_rejection_is_reported_to_the_customer_and_to_staff(site):
    site.sandbox.fault("gemini", "contradictory", match="A perpetual motion machine")
    session_id = site.buy("full", "A perpetual motion machine", "held@example.com")
    (message,) = site.wait_for_mail("held@example.com")
    answer = site.result(session_id)
    assert "held back" in message["subject"]
    assert answer.status_code == 422
    assert "oracle@42sisters.ai" in answer.text
    (entry,) = log_entries(site, session_id)
    assert not entry["approved"]
    (staff_email,) = site.wait_for_mail("staff@oracle.example")
    assert "rejected" in staff_email["text"]


def test_an_order_survives_a_worker_that_is_killed_during_its_model_call(site):
    site.sandbox.fault("gemini", "slow", seconds=1.5, match="Kill the worker")
    session_id = site.buy("quick", "Kill the worker", "killed@example.com")
    wait_for(lambda: any("Kill the worker" in r["body"] for r in site.sandbox.requests("gemini")))
    _main, *pool = site.workers("generate")
    for one in pool:
        one.kill()
    site.buy("quick", "The worker is back", "back@example.com")
    site.wait_for_mail("back@example.com")
    assert site.result(session_id).status_code == 202
    site.manage("shell", "-c", EXPIRE_LEASES)
    (message,) = site.wait_for_mail("killed@example.com")
    assert session_id in message["text"]


def test_a_payment_without_a_webhook_is_repaired_by_reconcile(site):
    email = "lost-webhook@example.com"
    session_id = site.sandbox.create_session(
        amount_subtotal=200,
        amount_total=200,
        currency="cad",
        created=int(time.time()) - 300,  # long enough ago that its webhook counts as lost
        metadata={"tier": "quick", "query_0": "Was the webhook lost?"},
        customer_details={"email": email},
        payment_status="paid",
        status="complete",
    )["id"]
    # None if the site's own hourly run was faster.
    output = site.manage("reconcile", "--apply")
    assert output.endswith(("1 discrepancy, 1 repaired.\n", "No discrepancies.\n"))
    (message,) = site.wait_for_mail(email)
    assert session_id in message["text"]
    assert site.manage("reconcile", "--apply").endswith("No discrepancies.\n")
    assert len(site.sandbox.messages(to=email)) == 1


def test_the_log_is_one_hash_chain(site):
    prev = GENESIS
    written = site.log.read_text().splitlines(keepends=True)
    assert len(written) >= 5
    for line in written:
        assert verify(line, prev) is None
        prev = json.loads(line)["hash"]


def test_the_service_log_has_no_session_ids_or_addresses(site):
    site.http.get("/oracle/result", params={"session_id": "cs_test_unknownSession1"})
    _, output = site.runs.end(signal.SIGTERM)
    assert "cs_test_" not in output
    assert "@example.com" not in output
