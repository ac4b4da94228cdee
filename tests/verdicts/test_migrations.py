"""Migrations of an installation that already has data."""

import pydoc
from importlib import import_module

import pytest
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django_q.models import Schedule

from verdicts.core.sessions import session_number
from verdicts.jobs import queue
from verdicts.models import CachedVerdict, Order, StripeEvent
from verdicts.results.read_rollup import add_up

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]


@pytest.fixture
def migrate():
    """Migrates to the given migrations, or to the newest."""

    def to(*targets: tuple[str, str]):
        executor = MigrationExecutor(connection)
        destination = list(targets) or executor.loader.graph.leaf_nodes()
        return executor.migrate(destination).apps

    yield to
    to()


def test_orders_and_emails_that_need_staff_get_a_case(migrate):
    old = migrate(("verdicts", "0003_regeneration"))
    orders = old.get_model("verdicts", "Order").objects
    created = {
        status: orders.create(
            session_id=f"cs_test_before{status}", status=status, tier="full", price_cents=500
        )
        for status in ("rejected", "failed", "held", "delivered")
    }
    old.get_model("verdicts", "Delivery").objects.create(
        order=created["delivered"], kind="divergence", state="uncertain", message_id="<x@y>"
    )
    cases = migrate().get_model("verdicts", "Case").objects
    assert set(cases.values_list("kind", "order__status")) == {
        ("rejected", "rejected"),
        ("failed", "failed"),
        ("held", "held"),
        ("email", "delivered"),
    }


def test_unused_event_contents_are_deleted_and_reconciliation_is_scheduled_hourly(migrate):
    old = migrate(("verdicts", "0009_see_probes"))
    events = old.get_model("verdicts", "StripeEvent").objects
    for kind in ("customer.created", "charge.refunded"):
        events.create(event_id=f"evt_{kind}", type=kind, object='{"email": "me@example.com"}')
    new = migrate()
    stored = new.get_model("verdicts", "StripeEvent").objects.values_list("type", "object")
    assert dict(stored) == {
        "customer.created": "{}",
        "charge.refunded": '{"email": "me@example.com"}',
    }
    schedule = Schedule.objects.get(name="reconcile")
    assert (schedule.func, schedule.schedule_type, schedule.repeats, schedule.cluster) == (
        "verdicts.tasks.reconcile",
        Schedule.HOURLY,
        -1,
        queue.POST,
    )
    assert callable(pydoc.locate(schedule.func))


def test_each_email_gets_a_unique_name_even_if_it_was_sent_under_two_message_ids(migrate):
    old = migrate(("verdicts", "0013_as_it_grows"))
    order = old.get_model("verdicts", "Order").objects.create(tier="full", price_cents=500)
    ids = ("<verdict.ab@old.example>", "<verdict.ab@new.example>", "<refund.ab@new.example>")
    for message_id in ids:
        old.get_model("verdicts", "Delivery").objects.create(
            order=order, kind="verdict", message_id=message_id
        )
    emails = migrate().get_model("verdicts", "Delivery").objects
    assert dict(emails.values_list("message_id", "name")) == {
        "<verdict.ab@old.example>": "verdict.ab",
        "<verdict.ab@new.example>": "<verdict.ab@new.example>",
        "<refund.ab@new.example>": "refund.ab",
    }


def test_cached_verdicts_are_kept_and_found_by_their_numeric_key(delivered, migrate, monkeypatch):
    orders = [delivered("quick") for _ in range(3)]
    fields = ("session_id", "body", "etag", "cached_at", "approved", "verdict_id")
    before = list(CachedVerdict.objects.order_by("session_id").values(*fields))
    monkeypatch.setattr(import_module("verdicts.migrations.0018_number_verdicts"), "PORTION", 2)
    old = migrate(("verdicts", "0016_filters_by_index"))
    assert connection.vendor == "sqlite" or _has_toast_target()
    kept = old.get_model("verdicts", "CachedVerdict").objects
    assert list(kept.order_by("session_id").values(*fields)) == before
    kept.filter(session_id=orders[0].session_id).update(etag='"other"')
    migrate()
    assert CachedVerdict.objects.count() == 3
    assert connection.vendor == "sqlite" or _has_toast_target()
    found = CachedVerdict.objects.get(pk=session_number(orders[0].session_id))
    assert (found.session_id, found.etag) == (orders[0].session_id, '"other"')


def _has_toast_target() -> bool:
    """The storage parameter that migration 0012 sets."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT reloptions FROM pg_class WHERE relname = 'verdicts_cachedverdict'")
        return cursor.fetchall() == [(["toast_tuple_target=8160"],)]


def test_reads_counted_by_session_are_added_to_their_orders(ask, missed, migrate):
    order = missed("quick")
    ask(order.session_id)  # regenerates it
    # As on an order of another installation.
    order.verdicts.filter(kind="original").update(kind="regen")
    old = migrate(("verdicts", "0019_verdicts_by_number"))
    counted = {order.session_id: 3, "cs_test_unknownSession": 1}
    old.get_model("verdicts", "Reads").objects.create(sessions=counted, others={"working": 1})
    migrate()
    add_up(most=1)
    order.refresh_from_db()
    assert order.hits == 3


def test_stored_sentences_become_enum_values(delivered, migrate):
    orders = [delivered("quick").pk for _ in range(3)]
    old = migrate(("verdicts", "0021_standard_names"))
    reasons = (
        "made again from the log, which has its verdict: it was emailed before",
        "another host may have emailed its verdict, or nobody",
        "something else",
    )
    for pk, reason in zip(orders, reasons, strict=True):
        old.get_model("verdicts", "Order").objects.filter(pk=pk).update(reason=reason)
    events = old.get_model("verdicts", "StripeEvent").objects
    outcomes = ("already further on", "erased, refunded in part", "no such payment here")
    for outcome in outcomes:
        events.create(event_id=outcome, type="x", object="{}", outcome=outcome)
    migrate()
    assert list(Order.objects.order_by("pk").values_list("recovered", flat=True)) == [
        *("judged", "unclear", "")
    ]
    now = StripeEvent.objects.filter(type="x").values_list("event_id", "outcome")
    assert [dict(now)[name] for name in outcomes] == [
        *("already_advanced", "refunded_in_part", "unknown_payment")
    ]
