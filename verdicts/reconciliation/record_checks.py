"""Compares delivered orders with what is stored for them: verdicts, emails, cache, log.

All of these commit together, so a discrepancy here is a defect, a manual change in the database or
a disk fault. Only orders paid, and regenerations made, since the start of the run's period are
checked.
"""

import time
from collections.abc import Iterator
from functools import partial
from itertools import chain
from typing import Final

from django.conf import settings
from django.db import transaction
from django.db.models import Count, Q
from django.utils import timezone

from audit.log import log
from audit.models import CrosscheckLog, LogEntry
from verdicts.jobs import queue
from verdicts.mail.outbox import enqueue_email
from verdicts.models import CachedVerdict, Delivery, Order, Recovered, Status, Verdict
from verdicts.reconciliation.discrepancies import (
    BATCH_SIZE,
    Discrepancy,
    ReconcileRun,
    RepairResult,
    RepairStatus,
    console_url,
    iterate,
)
from verdicts.reconciliation.payment_checks import SEARCH_OTHER_LOGS
from verdicts.reconciliation.sweep import OVERDUE_AFTER
from verdicts.results import cache


def record_discrepancies(run: ReconcileRun) -> Iterator[Discrepancy]:
    """Raises DeadlineExceeded."""
    yield from chain(_delivered_orders(run), _uncompared_regenerations(run), _log())


def _delivered_orders(run: ReconcileRun) -> Iterator[Discrepancy]:
    delivered = Order.objects.filter(status=Status.DELIVERED, paid_at__gte=run.since)
    ids = list(delivered.order_by("pk").values_list("pk", flat=True))
    for start in range(0, len(ids), BATCH_SIZE):
        orders = list(delivered.filter(pk__in=ids[start : start + BATCH_SIZE]).order_by("pk"))
        run.advance(len(orders))
        yield from _verdicts_and_emails(orders)
        yield from _cached_responses(orders)


def _verdicts_and_emails(orders: list[Order]) -> Iterator[Discrepancy]:
    emails = Delivery.objects.filter(order__in=orders, kind=Delivery.Kind.VERDICT)
    originals = Verdict.objects.filter(order__in=orders, kind="original")
    emailed = set(emails.values_list("order_id", flat=True))
    stored = set(originals.values_list("order_id", flat=True))
    for order in orders:  # a recreated order has neither (R10)
        if order.pk in stored and order.pk not in emailed and not order.refunded_at:
            yield Discrepancy.of_order(
                order, "no email", "no email of its verdict", repair=partial(_enqueue, order)
            )
        elif order.pk in emailed and order.pk not in stored:
            page = console_url("order", order.pk)
            description = "delivered, but no verdict is stored"
            yield Discrepancy.of_order(order, "no verdict", description, page)
        elif order.recovered == Recovered.UNCLEAR and order.pk not in emailed:
            yield Discrepancy.of_order(order, "no email", order.reason, SEARCH_OTHER_LOGS)


def _cached_responses(orders: list[Order]) -> Iterator[Discrepancy]:
    """Cached responses that differ from the stored verdict. A missing one is just a cache miss."""
    alive = Q(expires_at=None) | Q(expires_at__gt=time.time())
    by_session = {order.session_id: order for order in orders}
    entries = CachedVerdict.objects.filter(alive, session_id__in=list(by_session))
    for entry in entries.select_related("verdict__order", "verdict__crosscheck__divergence"):
        order = by_session[entry.session_id]
        if not cache.matches_record(order, entry):
            yield Discrepancy.of_order(
                order,
                "cache",
                "the cached response differs from the stored verdict",
                repair=partial(_rerender, order),
            )


def _uncompared_regenerations(run: ReconcileRun) -> Iterator[Discrepancy]:
    checked = CrosscheckLog.objects.filter(created_at__gte=run.since, kind="regen")
    uncompared = Verdict.objects.filter(
        crosscheck__in=checked.filter(divergence=None),
        compare_due_at=None,
        order__status=Status.DELIVERED,
    )
    for regen in iterate(uncompared.select_related("order"), run):
        yield Discrepancy.of_order(
            regen.order,
            "not compared",
            "a regeneration was never compared with the emailed verdict",
            repair=partial(_compare, regen),
        )


def _log() -> Iterator[Discrepancy]:
    before = timezone.now() - OVERDUE_AFTER  # the sweep writes every minute
    unwritten = Q(written_at=None, created_at__lt=before)
    unerased = Q(erased_at__lt=before, erased_in_file_at=None)
    for pending, problem in (
        (unwritten, "not yet in the file"),
        (unerased, "erased, but not in the file"),
    ):
        hosts = LogEntry.objects.filter(pending).values_list("host").annotate(n=Count("pk"))
        for host, count in hosts.order_by("host"):
            description = f"{count:,} line{'s' if count > 1 else ''} of {host}: {problem}"
            if host == settings.ORACLE_LOG_NAME:
                yield Discrepancy("log", description, repair=partial(_write_log, pending))
            else:
                remedy = f"on {host}: manage.py audit_verify --repair"
                yield Discrepancy("log", description, remedy)
    try:
        is_cut = log.is_cut_short()
    except OSError as error:
        remedy = f"check disk and permissions of {settings.ORACLE_LOG_PATH}"
        yield Discrepancy("log", f"the file cannot be read: {error.strerror}", remedy)
        return
    if is_cut:
        remedy = "manage.py audit_verify --repair"
        description = "the last lines are missing from the file"
        yield Discrepancy("log", description, remedy, repair=_restore_lines)


# Repairs

_CANNOT_WRITE: Final = RepairResult(
    "the file cannot be written: see the service log", RepairStatus.FAILED
)


def _enqueue(order: Order) -> RepairResult:
    with transaction.atomic():
        locked = order.lock()
        if locked.status != Status.DELIVERED:
            detail = f"the order is now {locked.get_status_display()}"
            return RepairResult(detail, RepairStatus.ALREADY_REPAIRED)
        enqueue_email(locked, Delivery.Kind.VERDICT)
    return RepairResult("email queued")


def _rerender(order: Order) -> RepairResult:
    with transaction.atomic():
        locked = order.lock()
        if locked.status != Status.DELIVERED or not cache.correct(locked):
            detail = "it is no longer cached"
            return RepairResult(detail, RepairStatus.ALREADY_REPAIRED)
    return RepairResult("rendered again from the stored verdict")


def _compare(regen: Verdict) -> RepairResult:
    with transaction.atomic():
        unqueued = Verdict.objects.filter(pk=regen.pk, compare_due_at=None)
        if unqueued.update(compare_due_at=timezone.now()):
            queue.enqueue(queue.COMPARE, regen.pk)
    return RepairResult("comparison queued")


def _write_log(pending: Q) -> RepairResult:
    log.sweep()
    if LogEntry.objects.filter(pending, host=settings.ORACLE_LOG_NAME).exists():
        return _CANNOT_WRITE
    return RepairResult("written")


def _restore_lines() -> RepairResult:
    log.sweep()
    return _CANNOT_WRITE if log.is_cut_short() else RepairResult("missing lines written")
