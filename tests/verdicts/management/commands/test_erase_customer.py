import json
from datetime import timedelta
from io import StringIO
from threading import Thread

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.db import connection
from django.urls import reverse
from django.utils import timezone

from audit.core.chain import GENESIS, parse, verify
from audit.core.redaction import short_hash
from audit.models import Action, CrosscheckLog, DivergenceEvent, LogEntry, ModelCall
from tests.support.service_log import listening
from tests.support.stripe_objects import charge_object, session_object
from verdicts.mail.outbox import deliver, enqueue_email
from verdicts.models import CachedVerdict, Case, Delivery, Order, Status, StripeEvent, Verdict
from verdicts.payments.client import Event
from verdicts.payments.events import process, receive
from verdicts.results.restore import restore

pytestmark = pytest.mark.django_db(transaction=True)

EMAIL = "buyer@example.com"
QUERY = "Should I open a bakery?"


@pytest.fixture(autouse=True)
def log_path(settings, tmp_path):
    settings.ORACLE_LOG_NAME = "here"
    settings.ORACLE_LOG_PATH = tmp_path / "oracle_log.jsonl"
    return settings.ORACLE_LOG_PATH


def erase(*arguments, email=EMAIL):
    out = StringIO()
    call_command("erase_customer", email, *map(str, arguments), stdout=out)
    return out.getvalue()


def everything_stored():
    """Every row of every table, as text."""
    found = []
    with connection.cursor() as cursor:
        for table in connection.introspection.table_names():
            cursor.execute(f'SELECT * FROM "{table}"')  # noqa: S608 - our own tables
            found += [f"{table}: {row}" for row in cursor.fetchall()]
    return "\n".join(found)


def event(order, number=1, kind="checkout.session.completed", **changes):
    raw = session_object(
        id=order.session_id,
        payment_intent=order.payment_intent,
        metadata={"tier": order.tier, "query_0": QUERY},
        **changes,
    )
    return receive(Event(f"evt_{number}", kind, raw))


def charge(order, number):
    raw = charge_object(
        payment_intent=order.payment_intent, billing_details={"email": EMAIL, "name": "B. Uyer"}
    )
    return receive(Event(f"evt_{number}", "charge.refunded", raw))


def test_no_personal_data_is_left_in_database_or_log(ask, delivered, log_path, run_jobs):
    order = delivered("full")
    event(order)
    CachedVerdict.objects.all().delete()
    assert ask(order.session_id).json()["regen"] is True  # so that a regeneration is stored, too
    run_jobs()
    CrosscheckLog.objects.filter(kind="regen").update(evidence="the quarantined text")
    Case.objects.create(
        kind=Case.Kind.EMAIL, order=order, note="B. Uyer rang", closed_at=timezone.now()
    )
    Delivery.objects.update(about="about the bakery", error=f"550 <{EMAIL}>")
    summaries = [one.payload["summary"] for one in Verdict.objects.all()]
    labels = list(Verdict.objects.order_by("pk").values_list("label", flat=True))
    hashes = list(LogEntry.objects.order_by("sequence").values_list("hash", flat=True))
    output = erase("--yes", email="Buyer@EXAMPLE.com")
    assert output.startswith("Erased 1 order and 2 log previews.\nKept: ")
    left = everything_stored() + log_path.read_text()
    for text in (EMAIL, "bakery", "quarantined", "B. Uyer", *summaries):
        assert text not in left
    assert list(Verdict.objects.order_by("pk").values_list("label", flat=True)) == labels
    assert CrosscheckLog.objects.count() == 2
    assert list(LogEntry.objects.order_by("sequence").values_list("hash", flat=True))[:-1] == hashes
    order.refresh_from_db()
    assert (order.status, order.payment_intent, order.price_cents) == ("erased", "pi_1", 500)
    assert set(ModelCall.objects.values_list("prompt_sha256", flat=True)) == {""}
    assert not any("seed" in call.sent for call in ModelCall.objects.all())
    call_command("audit_verify", stdout=StringIO())


def test_the_erasure_is_recorded_without_the_address(delivered, log_path):
    order = delivered("quick")
    erase("--yes", "--by", "Ada", "--reason", "letter of 3 May")
    action = Action.objects.get()
    assert (action.session_id, action.action, action.who, action.reason) == (
        order.session_id,
        "erase",
        "Ada",
        "letter of 3 May",
    )
    prev, lines = GENESIS, log_path.read_text().splitlines(keepends=True)
    for line in lines:
        assert verify(line, prev) is None
        prev = parse(line)["hash"]
    last = parse(lines[-1])
    assert (last["event"], last["action"]) == ("staff_action", "erase")
    assert last["session_id"] == order.session_id


def test_other_customers_are_not_affected(delivered, ask):
    delivered("quick")
    other = delivered("quick", customer_details={"email": "other@example.com"})
    erase("--yes")
    assert ask(other.session_id).status_code == 200
    other.refresh_from_db()
    assert other.query == QUERY
    row = LogEntry.objects.get(entry__contains=other.session_id)
    assert QUERY in row.entry


def test_reads_get_410_without_calls_to_stripe_or_the_model(delivered, ask, client, sandbox):
    order = delivered("full")
    erase("--yes")
    assert ask(order.session_id).status_code == 410
    page = client.get("/oracle/result", {"session_id": order.session_id})
    assert page.status_code == 410
    assert "erased" in page.content.decode()
    assert sandbox.requests("stripe") == sandbox.requests("gemini") == []


@pytest.mark.parametrize(
    ("kind", "changes"),
    [
        ("checkout.session.completed", {}),
        ("checkout.session.completed", {"payment_status": "unpaid"}),
        ("checkout.session.async_payment_failed", {}),
        ("checkout.session.expired", {}),
    ],
)
def test_a_later_event_does_not_recreate_the_order(delivered, run_jobs, sandbox, kind, changes):
    order = delivered("quick")
    erase("--yes")
    stored = event(order, 2, kind, **changes)
    stored.refresh_from_db()
    assert stored.outcome == "erased"
    assert "bakery" not in stored.object
    assert EMAIL not in stored.object
    assert run_jobs() == []
    order.refresh_from_db()
    assert (order.status, order.email, order.query) == (Status.ERASED, "", "")
    assert Order.objects.count() == 1


def test_an_unprocessed_event_blocks_the_erasure(delivered):
    order = delivered("quick")
    stored = event(order)
    StripeEvent.objects.update(processed_at=None)
    with pytest.raises(CommandError, match="not processed yet") as refused:
        erase("--yes")
    assert refused.value.returncode == 1
    assert Order.objects.get().email == EMAIL
    process(stored)
    erase("--yes")
    stored.refresh_from_db()
    assert json.loads(stored.object)["erased"] is True


def test_a_later_refund_is_recorded_without_an_email(delivered, run_jobs, sandbox):
    order = delivered("quick")
    erase("--yes")
    stored = charge(order, 3)
    stored.refresh_from_db()
    order.refresh_from_db()
    assert stored.outcome == "refunded"
    assert EMAIL not in stored.object
    assert order.refunded_cents == 500
    assert run_jobs() == []


def test_emails_about_an_erased_order_are_not_sent(delivered):
    order = delivered("quick")
    Delivery.objects.update(state="pending", attempts=0)
    late = enqueue_email(order, Delivery.Kind.STAFF, name="late")
    alarm = enqueue_email(order, Delivery.Kind.RETIRED, name="alarm", about="model-1")
    erase("--yes")
    states = dict(Delivery.objects.values_list("kind", "state"))
    assert states == {"verdict": "failed", "staff": "failed", "retired": "pending"}
    Delivery.objects.filter(pk=late.pk).update(state="pending")
    sent = []
    assert deliver(late.pk, send=sent.append) is None
    assert sent == []
    late.refresh_from_db()
    assert (late.state, late.error) == ("failed", "the order was erased")
    deliver(alarm.pk, send=sent.append)
    assert len(sent) == 1


def test_an_email_that_is_being_sent_blocks_the_erasure(delivered):
    delivered("quick")
    Delivery.objects.update(state="pending", attempts=0)
    refused = []

    def send(_message):
        with pytest.raises(CommandError, match="an email about it is being sent") as caught:
            erase("--yes")
        refused.append(caught.value.returncode)

    assert deliver(Delivery.objects.get().pk, send=send).state == "sending"
    assert refused == [1]
    assert Delivery.objects.get().state == "sent"
    assert "Erased 1 order" in erase("--yes")


def test_no_email_is_sent_while_its_order_is_being_erased(delivered):
    delivered("quick")
    Delivery.objects.update(state="pending", attempts=0)
    delivery_id, sent, workers = Delivery.objects.get().pk, [], []

    def work():
        deliver(delivery_id, send=sent.append)
        connection.close()

    def meanwhile(execute, sql, *arguments):
        if not workers and sql.startswith('UPDATE "verdicts_order"'):
            workers.append(Thread(target=work))
            workers[0].start()
            workers[0].join(1)  # blocked until the erasure commits
        return execute(sql, *arguments)

    with connection.execute_wrapper(meanwhile):
        erase("--yes")
    workers[0].join()
    assert sent == []


def test_a_worker_whose_lease_expired_does_not_send_an_erased_email(delivered):
    delivered("quick")
    Delivery.objects.update(state="pending", attempts=0)
    sent, erased = [], []

    def meanwhile(execute, sql, *arguments):
        """While the message is composed, its lease expires and the customer is erased."""
        result = execute(sql, *arguments)
        if not erased and sql.startswith("SELECT") and '"verdicts_verdict"."payload"' in sql:
            erased.append(True)
            Delivery.objects.update(due_at=timezone.now() - timedelta(seconds=1))
            erase("--yes")
        return result

    with connection.execute_wrapper(meanwhile):
        assert deliver(Delivery.objects.get().pk, send=sent.append) is None
    assert erased
    assert sent == []


def test_a_submitted_verdict_is_not_restored(delivered):
    order = delivered("quick")
    payload = Verdict.objects.get().payload
    erase("--yes")
    assert restore(order, payload) is None


def test_the_console_shows_erased_records(delivered, ask, client, run_jobs):
    order = delivered("full")
    CachedVerdict.objects.all().delete()
    ask(order.session_id)
    run_jobs()
    erase("--yes")
    client.force_login(User.objects.create_superuser("root"))
    page = client.get(f"/admin/verdicts/order/{order.pk}/change/")
    assert page.status_code == 200
    assert "Erased at the customer's request." in page.content.decode()
    assert "Resend the stored email" not in page.content.decode()
    event = DivergenceEvent.objects.get()
    compared = client.get(reverse("admin:audit_divergenceevent_change", args=[event.pk]))
    assert compared.status_code == 200
    exported = client.get(reverse("admin:verdicts_verdict_export", args=["jsonl"]))
    lines = [json.loads(line) for line in b"".join(exported).splitlines()]
    assert [line["payload"] for line in lines] == [{}, {}]


@pytest.mark.parametrize(
    ("status", "reason"),
    [
        ("paid", "waiting for its verdict"),
        ("generating", "being generated"),
        ("held", "held for staff"),
        ("awaiting", "payment is pending"),
        ("created", "can still be paid"),
    ],
)
def test_an_order_in_progress_blocks_the_erasure_of_all(delivered, tmp_path, status, reason):
    delivered("quick")
    Order.objects.create(
        status=status, tier="quick", query="x", email=EMAIL, price_cents=1, currency="cad"
    )
    with pytest.raises(CommandError, match=reason) as refused:
        erase("--yes", "--export", tmp_path / "data.json")
    assert refused.value.returncode == 1
    assert not Order.objects.filter(status=Status.ERASED).exists()
    assert not (tmp_path / "data.json").exists()


def test_an_order_that_changes_during_the_erasure_stops_it(delivered, paid_order, monkeypatch):
    delivered("quick")
    changed = paid_order("quick")
    monkeypatch.setattr("verdicts.management.commands.erase_customer.blocking_reason", lambda _: "")
    with pytest.raises(CommandError, match="1 order erased, then stopped"):
        erase("--yes")
    changed.refresh_from_db()
    assert (changed.status, changed.query) == (Status.PAID, QUERY)


def test_an_unpaid_order_is_erased(db):
    Order.objects.create(
        status="expired", tier="quick", query="x", email=EMAIL, price_cents=1, currency="cad"
    )
    assert "Erased 1 order" in erase("--yes")
    assert Order.objects.get().status == Status.ERASED


def test_the_data_is_exported_first(delivered, tmp_path):
    order = delivered("quick")
    summary = Verdict.objects.get().payload["summary"]
    target = tmp_path / "data.json"
    assert f"Exported 1 order to {target}." in erase("--yes", "--export", target)
    (data,) = json.loads(target.read_text())["orders"]
    assert (data["query"], data["email"], data["session_id"]) == (QUERY, EMAIL, order.session_id)
    assert data["verdicts"][0]["text"]["summary"] == summary
    assert data["payment"]["id"] == "pi_1"
    assert data["emails"][0]["kind"] == "verdict"
    assert target.stat().st_mode & 0o777 == 0o600


def test_an_existing_export_file_is_kept_and_nothing_is_erased(delivered, tmp_path):
    delivered("quick")
    target = tmp_path / "data.json"
    target.write_text("mine")
    with pytest.raises(CommandError, match="not overwritten") as refused:
        erase("--yes", "--export", target)
    assert refused.value.returncode == 2
    assert target.read_text() == "mine"
    assert Order.objects.get().email == EMAIL


@pytest.mark.parametrize(("answer", "erased"), [("erase", True), ("y", False), ("", False)])
def test_it_asks_for_confirmation(delivered, monkeypatch, answer, erased):
    delivered("quick")
    monkeypatch.setattr("builtins.input", lambda _: answer)
    if erased:
        erase()
    else:
        with pytest.raises(CommandError, match="Nothing was erased"):
            erase()
    assert (Order.objects.get().status == Status.ERASED) is erased


@pytest.mark.parametrize(
    ("email", "reason", "sentence", "code"),
    [
        ("nobody@example.com", "why", "no orders", 1),
        ("nobody", "why", "not an email address", 2),
        (EMAIL, " ", "must not be blank", 2),
        (EMAIL, f"{EMAIL} asked", "must not contain an email address", 2),
    ],
)
def test_errors_are_one_sentence(db, email, reason, sentence, code):
    with pytest.raises(CommandError, match=sentence) as refused:
        erase("--yes", "--reason", reason, email=email)
    assert refused.value.returncode == code


def test_log_failures_are_logged_with_the_session(delivered, settings, tmp_path):
    orders = [delivered("quick"), delivered("quick")]
    settings.ORACLE_LOG_PATH = tmp_path / "gone" / "oracle_log.jsonl"
    with listening() as lines:
        erase("--reason", "letter", "--yes")
    failed = [line.get("session") for line in lines if "cannot be written" in line["message"]]
    ours = [short_hash(order.session_id) for order in orders]
    assert failed == [*ours, None]  # the last is of the sweep, which has no session
