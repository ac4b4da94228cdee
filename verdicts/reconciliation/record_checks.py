"""What was delivered beside what is stored of it: verdicts, emails, cached answers, the log.

All of these commit together, so a gap here is a defect, a hand in the database or
a disk. Only what was paid, or made again, since the look's beginning is read.
"""

import time
from collections.abc import Iterator
from functools import partial
from itertools import chain
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import Count, Q
from django.utils import timezone

from audit.log import log
from audit.models import CrosscheckLog, LogEntry
from verdicts.jobs import queue
from verdicts.mail.outbox import enqueue_email
from verdicts.models import CachedVerdict, Delivery, Order, Recovered, Status, Verdict
from verdicts.reconciliation.discrepancies import BATCH, Discrepancy, Look, Repaired, console, each
from verdicts.reconciliation.payment_checks import OTHER_LOGS
from verdicts.reconciliation.sweep import STALE
from verdicts.results import cache


def record_discrepancies(look: Look) -> Iterator[Discrepancy]:
    """Raises OutOfTime."""
    yield from chain(_delivered(look), _uncompared(look), _log())


def _delivered(look: Look) -> Iterator[Discrepancy]:
    delivered = Order.objects.filter(status=Status.DELIVERED, paid_at__gte=look.since)
    ids = list(delivered.order_by("pk").values_list("pk", flat=True))
    for start in range(0, len(ids), BATCH):
        orders = list(delivered.filter(pk__in=ids[start : start + BATCH]).order_by("pk"))
        look.saw(len(orders))
        yield from _verdicts(orders)
        yield from _cached(orders)


def _verdicts(orders: list[Order]) -> Iterator[Discrepancy]:
    emails = Delivery.objects.filter(order__in=orders, kind=Delivery.Kind.VERDICT)
    originals = Verdict.objects.filter(order__in=orders, kind="original")
    emailed = set(emails.values_list("order_id", flat=True))
    stored = set(originals.values_list("order_id", flat=True))
    for order in orders:  # one with neither was emailed from elsewhere (R10)
        if order.pk in stored and order.pk not in emailed and not order.refunded_at:
            repair = partial(_owe_verdict, order)
            yield Discrepancy(
                "no email", "its verdict was never to be emailed", repair=repair, **_about(order)
            )
        elif order.pk in emailed and order.pk not in stored:
            page = console("order", order.pk)
            yield Discrepancy(
                "no verdict", "delivered, but no verdict is stored", page, **_about(order)
            )
        elif order.recovered == Recovered.UNCLEAR and order.pk not in emailed:
            yield Discrepancy("no email", order.reason, OTHER_LOGS, **_about(order))


def _cached(orders: list[Order]) -> Iterator[Discrepancy]:
    """Answers that say something else than the record. None at all is no gap: it is a miss."""
    alive = Q(expires_at=None) | Q(expires_at__gt=time.time())
    by_session = {order.session_id: order for order in orders}
    entries = CachedVerdict.objects.filter(alive, session_id__in=list(by_session))
    for entry in entries.select_related("verdict__order", "verdict__crosscheck__divergence"):
        order = by_session[entry.session_id]
        if not cache.matches_record(order, entry):
            repair = partial(_correct, order)
            what = "the cached answer is not what is on record"
            yield Discrepancy("cache", what, repair=repair, **_about(order))


def _uncompared(look: Look) -> Iterator[Discrepancy]:
    checked = CrosscheckLog.objects.filter(created_at__gte=look.since, kind="regen")
    lost = Verdict.objects.filter(
        crosscheck__in=checked.filter(divergence=None),
        compare_due_at=None,
        order__status=Status.DELIVERED,
    )
    for regen in each(lost.select_related("order"), look):
        repair = partial(_compare, regen)
        what = "a regeneration was never compared with its email"
        yield Discrepancy("not compared", what, repair=repair, **_about(regen.order))


def _log() -> Iterator[Discrepancy]:
    stale = timezone.now() - STALE  # the sweep writes every minute
    unwritten = Q(written_at=None, created_at__lt=stale)
    unerased = Q(erased_at__lt=stale, erased_in_file_at=None)
    for waiting, what in (
        (unwritten, "not in the file yet"),
        (unerased, "erased, but not in the file"),
    ):
        hosts = LogEntry.objects.filter(waiting).values_list("host").annotate(n=Count("pk"))
        for host, count in hosts.order_by("host"):
            lines = f"{count:,} line{'s' if count > 1 else ''} of {host}: {what}"
            if host == settings.ORACLE_LOG_NAME:
                yield Discrepancy("log", lines, repair=partial(_write_log, waiting))
            else:
                yield Discrepancy("log", lines, f"on {host}: manage.py audit_verify --repair")
    try:
        cut = log.is_cut_short()
    except OSError as error:
        remedy = f"mend disk or rights of {settings.ORACLE_LOG_PATH}"
        yield Discrepancy("log", f"the file cannot be read: {error.strerror}", remedy)
        return
    if cut:
        remedy = "manage.py audit_verify --repair"
        yield Discrepancy("log", "the file ends before the record does", remedy, repair=_put_back)


# What mends


def _owe_verdict(order: Order) -> Repaired:
    with transaction.atomic():
        held = order.lock()
        if held.status != Status.DELIVERED:
            return Repaired(f"it is {held.get_status_display()} by now", "faster")
        enqueue_email(held, Delivery.Kind.VERDICT)
    return Repaired("queued to be sent")


def _correct(order: Order) -> Repaired:
    with transaction.atomic():
        held = order.lock()
        if held.status != Status.DELIVERED or not cache.correct(held):
            return Repaired("it is gone by now", "faster")
    return Repaired("rendered anew from what is stored")


def _compare(regen: Verdict) -> Repaired:
    with transaction.atomic():
        mine = Verdict.objects.filter(pk=regen.pk, compare_due_at=None)
        if mine.update(compare_due_at=timezone.now()):
            queue.enqueue(queue.COMPARE, regen.pk)
    return Repaired("queued")


def _write_log(waiting: Q) -> Repaired:
    log.sweep()
    if LogEntry.objects.filter(waiting, host=settings.ORACLE_LOG_NAME).exists():
        return Repaired("it cannot be written: see the service log", "failed")
    return Repaired("done")


def _put_back() -> Repaired:
    log.sweep()
    if log.is_cut_short():
        return Repaired("it cannot be written: see the service log", "failed")
    return Repaired("put back")


def _about(order: Order) -> dict[str, Any]:
    return {"order_id": order.pk, "session_id": order.session_id or ""}
