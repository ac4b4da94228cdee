"""Reconciliation: compares Stripe, orders, emails, cache and log; lists and repairs discrepancies.

Any number of runs may be active at once, beside webhooks, workers and the sweep: each repair is a
compare-and-swap, and repeating it has no effect.
"""

import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

from django.db.models import Q
from django.utils import timezone

from audit.log_context import log_session
from audit.models import DayCount
from verdicts.core.errors import PaymentError
from verdicts.models import Reconciled
from verdicts.payments.client import Account
from verdicts.reconciliation.discrepancies import (
    KINDS_WITH_CASE,
    DeadlineExceeded,
    Discrepancy,
    ReconcileRun,
    RepairResult,
    RepairStatus,
)
from verdicts.reconciliation.payment_checks import payment_discrepancies
from verdicts.reconciliation.record_checks import record_discrepancies
from verdicts.reconciliation.stalled_jobs import idle_queues, stalled_discrepancies

logger = logging.getLogger(__name__)

# Stripe retries a webhook for three days, and a session can be paid for one.
DEFAULT_PERIOD: Final = timedelta(days=4)
# A session that was unpaid at the last run can have been created up to a day before it.
OVERLAP: Final = timedelta(hours=25)


@dataclass(frozen=True, slots=True)
class Finding:
    discrepancy: Discrepancy
    result: RepairResult | None = None  # None: no repair was attempted

    @property
    def is_settled(self) -> bool:
        return self.result is not None and self.result.is_settled

    @property
    def has_failed(self) -> bool:
        return self._ended_as(RepairStatus.FAILED)

    @property
    def was_repaired(self) -> bool:
        return self._ended_as(RepairStatus.REPAIRED)

    @property
    def has_case(self) -> bool:
        return self._ended_as(RepairStatus.CASE_OPENED) or self.discrepancy.kind in KINDS_WITH_CASE

    def _ended_as(self, status: RepairStatus) -> bool:
        return self.result is not None and self.result.status == status


@dataclass(slots=True)
class Report:
    run: ReconcileRun
    findings: list[Finding] = field(default_factory=list)
    stripe_error: str = ""  # why Stripe could not be queried
    is_incomplete: bool = False  # Stripe unreachable, or the time limit exceeded
    idle_queues: list[str] = field(default_factory=list)  # no worker takes their jobs

    @property
    def repaired(self) -> int:
        return sum(finding.was_repaired for finding in self.findings)

    @property
    def left(self) -> int:
        return sum(not finding.is_settled for finding in self.findings)

    @property
    def without_case(self) -> list[Finding]:
        """Left for staff, who have no case for it and therefore need an alert."""
        return [one for one in self.findings if not (one.is_settled or one.has_case)]


def reconcile(
    *,
    account: Account,
    since: datetime,
    apply: bool,
    time_limit: float,
    on_progress: Callable[[int], None] = lambda _: None,
) -> Report:
    """Check everything since then; with `apply`, repair each discrepancy as it is found."""
    started = timezone.now()
    run = ReconcileRun(since, time_limit, on_progress)
    report = Report(run, idle_queues=idle_queues())
    if _collect(stalled_discrepancies(run), report, apply=apply):
        before = len(report.findings)
        completed = _collect(payment_discrepancies(run, account=account), report, apply=apply)
        # A payment that could not be recorded must stay within the next run's period.
        if completed and apply and not any(one.has_failed for one in report.findings[before:]):
            _record_completed(since, started)
        _collect(record_discrepancies(run), report, apply=apply)
    return report


def _collect(discrepancies: Iterator[Discrepancy], report: Report, *, apply: bool) -> bool:
    """False if it had to stop early."""
    try:
        for discrepancy in discrepancies:
            report.findings.append(
                _repair(discrepancy) if apply and discrepancy.repair else Finding(discrepancy)
            )
    except DeadlineExceeded:
        report.is_incomplete = True
    except PaymentError as error:
        if report.run.remaining > 0:
            report.stripe_error = str(error)
        report.is_incomplete = True
    else:
        return True
    return False


def _repair(discrepancy: Discrepancy) -> Finding:
    assert discrepancy.repair  # noqa: S101 - the caller has checked it
    with log_session(discrepancy.session_id):
        try:
            result = discrepancy.repair()
        except Exception:
            # A repair that fails must not prevent the others.
            logger.exception(
                "repair of %s failed, order %s", discrepancy.kind, discrepancy.order_id
            )
            failed = RepairResult("failed, see the service log", RepairStatus.FAILED)
            return Finding(discrepancy, failed)
    finding = Finding(discrepancy, result)
    if finding.was_repaired:
        DayCount.add(timezone.now().date(), DayCount.DISCREPANCY, key=discrepancy.kind)
    return finding


def last_completed() -> datetime | None:
    """Every payment made before then is recorded here."""
    return Reconciled.objects.filter(pk=Reconciled.ONLY).values_list("looked_at", flat=True).first()


def _record_completed(since: datetime, started: datetime) -> None:
    """Only if the period reaches back to the last completed run, or is the default period if there
    was none, so that nothing is skipped."""
    if started - since >= DEFAULT_PERIOD:
        Reconciled.objects.get_or_create(pk=Reconciled.ONLY, defaults={"looked_at": started})
    contiguous = Q(looked_at__gte=since + OVERLAP, looked_at__lt=started)
    Reconciled.objects.filter(contiguous, pk=Reconciled.ONLY).update(looked_at=started)
