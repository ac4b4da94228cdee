"""What needs a person: opened with the state that asks, claimed by one, closed once.

A claim is a courtesy with an end: who closes a case must hold it. Every way of
closing one is on record with who and why.
"""

from datetime import timedelta
from typing import Final

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from audit.actions import record_action
from audit.core.printable import printable
from audit.models import CrosscheckLog
from verdicts.core.errors import CaseTaken
from verdicts.core.formatting import format_time
from verdicts.models import Case, Delivery, Order

CLAIM: Final = timedelta(minutes=15)
# A customer who was written to may answer: that case can still come to something.
UNDECIDED: Final = Q(closed_at=None) | Q(outcome=Case.Outcome.CONTACTED)


def open_case(
    order: Order,
    kind: Case.Kind,
    *,
    crosscheck: CrosscheckLog | None = None,
    delivery: Delivery | None = None,
) -> Case | None:
    """In the transaction of what it is about. An email has one open case at most.

    None for a smoke test's order: nobody waits for it, and whoever runs the test has
    the answer before them. Staff are then not written to either.
    """
    if order.smoke:
        return None
    about = {"kind": kind, "order": order, "crosscheck": crosscheck}
    if delivery is None:
        return Case.objects.create(**about)
    case, _ = Case.objects.get_or_create(delivery=delivery, closed_at=None, defaults=about)
    return case


def claim(case: Case, *, who: User) -> Case:
    """Ours for a quarter of an hour. Raises CaseTaken: somebody is at it, or it is closed."""
    if not _free(case, who).update(claimed_by=who, claimed_until=timezone.now() + CLAIM):
        raise CaseTaken(_why_not(case))
    case.refresh_from_db()
    return case


def leave(case: Case, *, who: User) -> bool:
    """Given back, if it was ours."""
    mine = Case.objects.filter(UNDECIDED, pk=case.pk, claimed_by=who)
    return bool(mine.update(claimed_by=None, claimed_until=None))


def close(case: Case, outcome: Case.Outcome, *, who: User, note: str) -> Case:
    """Once, by whoever may have it now. Raises CaseTaken, and then nothing has happened.

    In the caller's transaction, where the outcome is more than a note.
    """
    with transaction.atomic():
        closed = _free(case, who).update(
            outcome=outcome,
            note=printable(note, 500),
            closed_by=who,
            closed_at=timezone.now(),
            claimed_by=None,
            claimed_until=None,
        )
        if not closed:
            raise CaseTaken(_why_not(case))
        record_action(
            session_id=case.order.session_id or "",
            action=f"case {outcome}",
            who=who.get_username(),
            reason=note,
        )
    case.refresh_from_db()
    return case


def close_all(cases: QuerySet[Case], outcome: Case.Outcome, *, who: User, note: str) -> int:
    """As many of them as are free; returns how many that was."""
    closed = 0
    for case in cases.select_related("order"):
        try:
            close(case, outcome, who=who, note=note)
        except CaseTaken:
            continue  # somebody else is at it: theirs to finish
        closed += 1
    return closed


def _free(case: Case, who: User) -> QuerySet[Case]:
    unclaimed = Q(claimed_by=None) | Q(claimed_by=who) | Q(claimed_until__lt=timezone.now())
    return Case.objects.filter(unclaimed, UNDECIDED, pk=case.pk)


def _why_not(case: Case) -> str:
    now = Case.objects.select_related("claimed_by", "closed_by").get(pk=case.pk)
    if now.closed_at and now.closed_by:
        name, outcome = now.closed_by.get_username(), now.get_outcome_display()
        return f"{name} has closed it already: {outcome}."
    if now.claimed_by and now.claimed_until:
        name = now.claimed_by.get_username()
        return f"{name} is at it until {format_time(now.claimed_until)} UTC."
    return "It has changed meanwhile: look again."
