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
    """The output on stdout and stderr; fails unless the exit code is `code`."""
    out = StringIO()
    if code == 0:
        call_command("reconcile", *arguments, stdout=out)
        return out.getvalue(), ""
    with pytest.raises(CommandError) as caught:
        call_command("reconcile", *arguments, stdout=out)
    assert caught.value.returncode == code
    return out.getvalue(), str(caught.value)


def test_without_discrepancies(sandbox, delivered):
    delivered()
    output, errors = run()
    assert output.splitlines()[0].endswith("UTC. 0 finished sessions at Stripe.")
    assert output.splitlines()[-1] == "No discrepancies."
    assert errors == ""


def test_a_missed_webhook_is_listed_and_then_repaired(sandbox, run_jobs, monkeypatch):
    monkeypatch.setattr(payment_checks, "WEBHOOK_GRACE", timedelta(0))
    account = stripe_account()
    made = start_checkout(account=account, tier="quick", query="A bakery?", email=BUYER)
    sandbox.pay(made.id)
    order = Order.objects.get()

    output, errors = run(code=1)
    (row,) = [line for line in output.splitlines() if line.startswith("payment not noted")]
    assert row.split("  ", 1)[1].split()[:2] == [str(order.pk), short_hash(made.id)]
    assert row.endswith(
        "paid CA$2.00, but recorded as waiting for payment  manage.py reconcile --apply"
    )
    assert output.splitlines()[-1] == "1 discrepancy, 0 repaired."
    assert errors == "1 discrepancy for --apply to repair."
    assert OrmQ.objects.count() == 0

    output, errors = run("--apply")
    assert f"repaired: order {order.pk} is paid; its verdict is being generated" in output
    assert output.splitlines()[-1] == "1 discrepancy, 1 repaired."
    run_jobs()
    order.refresh_from_db()
    assert order.status == Status.DELIVERED
    (message,) = sandbox.messages(to=BUYER)
    assert made.id in message["text"]

    output, errors = run("--apply")
    assert output.splitlines()[-1] == "No discrepancies."
    assert run_jobs() == []


def test_a_discrepancy_for_staff_is_listed_with_its_console_page(sandbox, elsewhere):
    elsewhere(180, amount_subtotal=100)
    elsewhere(180)
    output, errors = run("--apply", code=1)
    assert "not repaired: held for staff: http" in output
    assert errors == "1 discrepancy for staff to repair."
    output, _ = run("--apply", code=1)
    assert "for staff: http" in output
    elsewhere(180)
    _, errors = run(code=1)
    assert errors == "1 discrepancy for --apply to repair and 1 discrepancy for staff to repair."


def test_the_output_contains_no_personal_data(sandbox, elsewhere, paid_order):
    paid_order(query="My secret bakery")
    Order.objects.update(due_at=timezone.now() - timedelta(hours=1))
    elsewhere(180, metadata={"tier": "full", "query_0": "My secret bakery"})
    for form in ("table", "json"):
        output, errors = run("--format", form, code=1)
        assert output.count("lost job") == output.count("missed webhook") == 1
        for secret in (BUYER, "bakery", "cs_test_", "pi_"):
            assert secret not in output + errors


@pytest.mark.slow
def test_stripe_unreachable_is_exit_code_2_with_what_could_be_checked(sandbox, paid_order):
    paid_order()
    Order.objects.update(due_at=timezone.now() - timedelta(hours=1))
    sandbox.fault("stripe", "unavailable", times=None)
    output, errors = run(code=2)
    assert "lost job" in output
    assert "0 finished sessions at Stripe (incomplete)." in output
    assert errors.startswith("Not everything could be checked: Stripe is unreachable")
    assert errors.endswith("Try again later.")
    Order.objects.update(due_at=timezone.now())
    output, _ = run(code=2)
    assert output.splitlines()[-1] == "No discrepancies in what could be checked."


def test_an_api_key_that_stripe_rejects_is_reported(sandbox, settings):
    settings.STRIPE_SECRET_KEY = "sk_bad"
    _, errors = run(code=2)
    assert "Stripe refused our key" in errors


def test_all_pages_of_sessions_are_read(sandbox, elsewhere):
    for _ in range(201):
        elsewhere(180, metadata={"shop": "other"})
    elsewhere(210)
    output, _ = run(code=1)
    assert output.splitlines()[0].endswith("202 finished sessions at Stripe: 201 not ours.")
    assert "missed webhook" in output


def test_ignored_sessions_are_counted(sandbox, elsewhere):
    elsewhere(180, metadata={})
    elsewhere(3 * 24 * 3600)
    output, _ = run()
    summary = "2 finished sessions at Stripe: 1 not ours, 1 older than this site, ignored."
    assert summary in output


def test_json_is_one_object(sandbox, elsewhere):
    session_id = elsewhere(180)
    output, errors = run("--format", "json", code=1)
    found = json.loads(output)
    assert found["sessions"] == {"finished": 1, "not_ours": 0, "erased": 0, "older": 0}
    assert (found["applied"], found["complete"], found["unreachable"]) == (False, True, None)
    assert found["gaps"] == [
        {
            "kind": "missed webhook",
            "order": None,
            "session": short_hash(session_id),
            "what": "paid CA$5.00, but there is no order",
            "remedy": "manage.py reconcile --apply",
            "done": None,
            "settled": False,
        }
    ]
    assert errors == "1 discrepancy for --apply to repair."
    output, _ = run("--format", "json", "--apply")
    (discrepancy,) = json.loads(output)["gaps"]
    assert discrepancy["settled"]
    assert discrepancy["done"].startswith("order ")


def test_queues_without_workers_are_reported(sandbox, paid_order):
    paid_order()
    OrmQ.objects.update(lock=timezone.now() - timedelta(minutes=10))
    output, _ = run()
    assert "No worker takes jobs from the queue generate: start its workers" in output


@pytest.mark.parametrize(
    ("text", "ago"), [("36h", timedelta(hours=36)), ("10d", timedelta(days=10))]
)
def test_since_as_a_period(text, ago):
    assert abs(timezone.now() - ago - _since(text)) < timedelta(minutes=1)


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("2026-05-01", datetime(2026, 5, 1, tzinfo=UTC)),
        ("2026-05-01T12:30", datetime(2026, 5, 1, 12, 30, tzinfo=UTC)),
        ("2026-05-01 12:30+02:00", datetime(2026, 5, 1, 10, 30, tzinfo=UTC)),
    ],
)
def test_since_as_a_date(text, at):
    assert _since(text) == at


INVALID_TIMES = "3 0d -1d 2026-02-30 2026-05-01T25:00 2999-01-01 ٣d 99999d"


@pytest.mark.parametrize("text", ["", *INVALID_TIMES.split()])
def test_since_rejects_anything_but_a_time_in_the_past(text):
    with pytest.raises(ArgumentTypeError):
        _since(text)
