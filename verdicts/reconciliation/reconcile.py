"""Stripe's books, our orders and what was made of them, beside each other: every gap, and mended.

Any number may run at once, beside webhooks, workers and the sweep: whatever is
mended is a compare-and-swap, and a second time there is nothing to do.
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
    HAVE_A_CASE,
    Discrepancy,
    Look,
    OutOfTime,
    Repaired,
)
from verdicts.reconciliation.payment_checks import payment_discrepancies
from verdicts.reconciliation.record_checks import record_discrepancies
from verdicts.reconciliation.stalled_jobs import idle_queues, stalled_discrepancies

logger = logging.getLogger(__name__)

# Stripe repeats a webhook for three days, and its page can be paid on for one.
USUAL: Final = timedelta(days=4)
# Whatever was not paid at the last look can have been made a day before it.
OVERLAP: Final = timedelta(hours=25)


@dataclass(frozen=True, slots=True)
class Finding:
    discrepancy: Discrepancy
    repaired: Repaired | None = None  # None: nobody has tried

    @property
    def is_settled(self) -> bool:
        return self.repaired is not None and self.repaired.settled

    @property
    def has_failed(self) -> bool:
        return self.repaired is not None and self.repaired.end == "failed"

    @property
    def has_case(self) -> bool:
        opened = self.repaired is not None and self.repaired.end == "case"
        return opened or self.discrepancy.kind in HAVE_A_CASE


@dataclass(slots=True)
class Report:
    look: Look
    findings: list[Finding] = field(default_factory=list)
    unreachable: str = ""  # why Stripe could not be asked
    unfinished: bool = False  # there was no time for the rest
    idle: list[str] = field(default_factory=list)  # queues whose jobs nobody takes

    @property
    def repaired(self) -> int:
        return sum(
            one.repaired is not None and one.repaired.end == "mended" for one in self.findings
        )

    @property
    def left(self) -> int:
        return sum(not one.is_settled for one in self.findings)

    @property
    def unseen(self) -> list[Finding]:
        """What is left for a person, and has no case that would tell them."""
        return [one for one in self.findings if not (one.is_settled or one.has_case)]


def reconcile(
    *,
    account: Account,
    since: datetime,
    apply: bool,
    seconds: float,
    tick: Callable[[int], None] = lambda _: None,
) -> Report:
    """Look at everything since then; `apply`: and mend what can be mended, as it is found."""
    started = timezone.now()
    look = Look(since, seconds, tick)
    report = Report(look, idle=idle_queues())
    if _go_through(stalled_discrepancies(look), report, apply=apply):
        before = len(report.findings)
        asked = _go_through(payment_discrepancies(look, account=account), report, apply=apply)
        # A payment that could not be noted must stay within the next look's reach.
        if asked and apply and not any(one.has_failed for one in report.findings[before:]):
            _note_look(since, started)
        _go_through(record_discrepancies(look), report, apply=apply)
    return report


def _go_through(discrepancies: Iterator[Discrepancy], report: Report, *, apply: bool) -> bool:
    """Whether it came to its end."""
    try:
        for discrepancy in discrepancies:
            report.findings.append(
                _mended(discrepancy) if apply and discrepancy.repair else Finding(discrepancy)
            )
    except OutOfTime:
        report.unfinished = True
    except PaymentError as error:
        if report.look.left > 0:
            report.unreachable = str(error)
        report.unfinished = True
    else:
        return True
    return False


def _mended(discrepancy: Discrepancy) -> Finding:
    assert discrepancy.repair  # noqa: S101 - see the caller
    with log_session(discrepancy.session_id):
        try:
            repaired = discrepancy.repair()
        except Exception:
            # One that cannot be mended must not keep the others waiting.
            logger.exception(
                "%s of order %s cannot be mended", discrepancy.kind, discrepancy.order_id
            )
            return Finding(discrepancy, Repaired("it failed: see the service log", "failed"))
    if repaired.end == "mended":
        DayCount.add(timezone.now().date(), DayCount.DISCREPANCY, key=discrepancy.kind)
    return Finding(discrepancy, repaired)


def last_look() -> datetime | None:
    """What was paid by then is known here."""
    return Reconciled.objects.filter(pk=Reconciled.ONLY).values_list("looked_at", flat=True).first()


def _note_look(since: datetime, started: datetime) -> None:
    """Only one that began where the last one ended: a shorter one leaves something unseen."""
    if started - since >= USUAL:
        Reconciled.objects.get_or_create(pk=Reconciled.ONLY, defaults={"looked_at": started})
    joined = Q(looked_at__gte=since + OVERLAP, looked_at__lt=started)
    Reconciled.objects.filter(joined, pk=Reconciled.ONLY).update(looked_at=started)
