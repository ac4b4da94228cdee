import json
from argparse import ArgumentTypeError
from datetime import UTC, datetime, timedelta
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone
from django_q.models import OrmQ

from audit.core.redaction import short_hash
from verdicts.clients import stripe_account
from verdicts.management.commands.reconcile import _since
from verdicts.models import Order, Status
from verdicts.payments.checkout import start_checkout
from verdicts.reconciliation import payment_checks

pytestmark = pytest.mark.django_db

BUYER = "buyer@example.com"


def run(*arguments: str, code: int = 0) -> tuple[str, str]:
    """What it says on its two streams; `code` is the exit code that it is to have."""
    out = StringIO()
    if code == 0:
        call_command("reconcile", *arguments, stdout=out)
        return out.getvalue(), ""
    with pytest.raises(CommandError) as caught:
        call_command("reconcile", *arguments, stdout=out)
    assert caught.value.returncode == code
    return out.getvalue(), str(caught.value)


def test_where_all_is_well_it_says_so(sandbox, delivered):
    delivered()
    said, errors = run()
    assert said.splitlines()[0].endswith("UTC. 0 finished sessions at Stripe.")
    assert said.splitlines()[-1] == "No discrepancies."
    assert errors == ""


def test_a_missed_webhook_is_listed_then_repaired_then_gone(sandbox, run_jobs, monkeypatch):
    monkeypatch.setattr(payment_checks, "GRACE", timedelta(0))
    account = stripe_account()
    made = start_checkout(account=account, tier="quick", query="A bakery?", email=BUYER)
    sandbox.pay(made.id)
    order = Order.objects.get()

    said, errors = run(code=1)
    (row,) = [line for line in said.splitlines() if line.startswith("payment not noted")]
    assert row.split("  ", 1)[1].split()[:2] == [str(order.pk), short_hash(made.id)]
    assert row.endswith("paid CA$2.00, but waiting for payment here  manage.py reconcile --apply")
    assert said.splitlines()[-1] == "1 discrepancy, 0 repaired."
    assert errors == "1 discrepancy for --apply to repair."
    assert OrmQ.objects.count() == 0

    said, errors = run("--apply")
    assert f"repaired: order {order.pk} is paid, its verdict is being made" in said
    assert said.splitlines()[-1] == "1 discrepancy, 1 repaired."
    run_jobs()
    order.refresh_from_db()
    assert order.status == Status.DELIVERED
    (message,) = sandbox.messages(to=BUYER)
    assert made.id in message["text"]

    said, errors = run("--apply")
    assert said.splitlines()[-1] == "No discrepancies."
    assert run_jobs() == []


def test_a_discrepancy_for_staff_stays_listed_with_its_page(sandbox, elsewhere):
    elsewhere(180, amount_subtotal=100)
    elsewhere(180)
    said, errors = run("--apply", code=1)
    assert "not repaired: held for staff: http" in said
    assert errors == "1 discrepancy for a person to repair."
    said, _ = run("--apply", code=1)
    assert "for a person: http" in said
    elsewhere(180)
    _, errors = run(code=1)
    assert errors == "1 discrepancy for --apply to repair and 1 discrepancy for a person to repair."


def test_nothing_of_the_customer_is_shown(sandbox, elsewhere, paid_order):
    paid_order(query="My secret bakery")
    Order.objects.update(due_at=timezone.now() - timedelta(hours=1))
    elsewhere(180, metadata={"tier": "full", "query_0": "My secret bakery"})
    for form in ("table", "json"):
        said, errors = run("--format", form, code=1)
        assert said.count("lost job") == said.count("missed webhook") == 1
        for secret in (BUYER, "bakery", "cs_test_", "pi_"):
            assert secret not in said + errors


@pytest.mark.slow
def test_stripe_out_of_reach_is_exit_code_2_and_says_what_could_be_seen(sandbox, paid_order):
    paid_order()
    Order.objects.update(due_at=timezone.now() - timedelta(hours=1))
    sandbox.fault("stripe", "unavailable", times=None)
    said, errors = run(code=2)
    assert "lost job" in said
    assert "0 finished sessions at Stripe as far as it could be asked." in said
    assert errors.startswith("Not everything could be checked: Stripe is unreachable")
    assert errors.endswith("Try again later.")
    Order.objects.update(due_at=timezone.now())
    said, _ = run(code=2)
    assert said.splitlines()[-1] == "No discrepancies in what could be checked."


def test_a_key_that_stripe_refuses_is_said(sandbox, settings):
    settings.STRIPE_SECRET_KEY = "sk_bad"
    _, errors = run(code=2)
    assert "Stripe refused our key" in errors


def test_it_reads_over_the_pages_of_the_list(sandbox, elsewhere):
    for _ in range(201):
        elsewhere(180, metadata={"shop": "other"})
    elsewhere(210)
    said, _ = run(code=1)
    assert said.splitlines()[0].endswith("202 finished sessions at Stripe: 201 not ours.")
    assert "missed webhook" in said


def test_sessions_of_other_sites_are_counted(sandbox, elsewhere):
    elsewhere(180, metadata={})
    elsewhere(3 * 24 * 3600)
    said, _ = run()
    beside = "2 finished sessions at Stripe: 1 not ours, 1 from before this site, left alone."
    assert beside in said


def test_json_is_one_object(sandbox, elsewhere):
    session_id = elsewhere(180)
    said, errors = run("--format", "json", code=1)
    found = json.loads(said)
    assert found["sessions"] == {"finished": 1, "not_ours": 0, "erased": 0, "older": 0}
    assert (found["applied"], found["complete"], found["unreachable"]) == (False, True, None)
    assert found["gaps"] == [
        {
            "kind": "missed webhook",
            "order": None,
            "session": short_hash(session_id),
            "what": "paid CA$5.00, no order here",
            "remedy": "manage.py reconcile --apply",
            "done": None,
            "settled": False,
        }
    ]
    assert errors == "1 discrepancy for --apply to repair."
    said, _ = run("--format", "json", "--apply")
    (discrepancy,) = json.loads(said)["gaps"]
    assert discrepancy["settled"]
    assert discrepancy["done"].startswith("order ")


def test_queues_without_workers_are_named(sandbox, paid_order):
    paid_order()
    OrmQ.objects.update(lock=timezone.now() - timedelta(minutes=10))
    said, _ = run()
    assert "No worker takes jobs from the queue generate: start its workers" in said


@pytest.mark.parametrize(
    ("text", "ago"), [("36h", timedelta(hours=36)), ("10d", timedelta(days=10))]
)
def test_since_is_a_span(text, ago):
    assert abs(timezone.now() - ago - _since(text)) < timedelta(minutes=1)


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("2026-05-01", datetime(2026, 5, 1, tzinfo=UTC)),
        ("2026-05-01T12:30", datetime(2026, 5, 1, 12, 30, tzinfo=UTC)),
        ("2026-05-01 12:30+02:00", datetime(2026, 5, 1, 10, 30, tzinfo=UTC)),
    ],
)
def test_since_is_a_date(text, at):
    assert _since(text) == at


NO_TIMES = "3 0d -1d 2026-02-30 2026-05-01T25:00 2999-01-01 ٣d 99999d"


@pytest.mark.parametrize("text", ["", *NO_TIMES.split()])
def test_since_refuses_what_is_no_time_in_the_past(text):
    with pytest.raises(ArgumentTypeError):
        _since(text)
