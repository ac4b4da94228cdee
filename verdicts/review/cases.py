"""Cases for staff: opened with the state that needs a decision, claimed by one user, closed once.

A claim expires. A case that another user has claimed cannot be closed. Each closing is recorded in
the audit log with user and reason.
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

CLAIM_TTL: Final = timedelta(minutes=15)
# A customer who was contacted may answer, so that case can be closed again with another outcome.
UNDECIDED: Final = Q(closed_at=None) | Q(outcome=Case.Outcome.CONTACTED)


def open_case(
    order: Order,
    kind: Case.Kind,
    *,
    crosscheck: CrosscheckLog | None = None,
    delivery: Delivery | None = None,
) -> Case | None:
    """Call inside the transaction that needs it. An email has at most one open case.

    None for a smoke test's order, whose result the caller of the test sees. Callers then do not
    notify staff either.
    """
    if order.smoke:
        return None
    about = {"kind": kind, "order": order, "crosscheck": crosscheck}
    if delivery is None:
        return Case.objects.create(**about)
    case, _ = Case.objects.get_or_create(delivery=delivery, closed_at=None, defaults=about)
    return case


def claim(case: Case, *, who: User) -> Case:
    """Claim it for CLAIM_TTL. Raises CaseTaken if another user has claimed or closed it."""
    if not _available(case, who).update(claimed_by=who, claimed_until=timezone.now() + CLAIM_TTL):
        raise CaseTaken(_conflict(case))
    case.refresh_from_db()
    return case


def unclaim(case: Case, *, who: User) -> bool:
    """False if the user had not claimed it."""
    claimed = Case.objects.filter(UNDECIDED, pk=case.pk, claimed_by=who)
    return bool(claimed.update(claimed_by=None, claimed_until=None))


def close(case: Case, outcome: Case.Outcome, *, who: User, note: str) -> Case:
    """Close it once. Raises CaseTaken, and then nothing has changed.

    An outcome with further effects is closed inside the transaction of those effects.
    """
    with transaction.atomic():
        closed = _available(case, who).update(
            outcome=outcome,
            note=printable(note, 500),
            closed_by=who,
            closed_at=timezone.now(),
            claimed_by=None,
            claimed_until=None,
        )
        if not closed:
            raise CaseTaken(_conflict(case))
        record_action(
            session_id=case.order.session_id or "",
            action=f"case {outcome}",
            who=who.get_username(),
            reason=note,
        )
    case.refresh_from_db()
    return case


def close_all(cases: QuerySet[Case], outcome: Case.Outcome, *, who: User, note: str) -> int:
    """Close those that no other user has claimed; returns how many."""
    closed = 0
    for case in cases.select_related("order"):
        try:
            close(case, outcome, who=who, note=note)
        except CaseTaken:
            continue  # claimed by another user, or closed
        closed += 1
    return closed


def _available(case: Case, who: User) -> QuerySet[Case]:
    unclaimed = Q(claimed_by=None) | Q(claimed_by=who) | Q(claimed_until__lt=timezone.now())
    return Case.objects.filter(unclaimed, UNDECIDED, pk=case.pk)


def _conflict(case: Case) -> str:
    current = Case.objects.select_related("claimed_by", "closed_by").get(pk=case.pk)
    if current.closed_at and current.closed_by:
        name, outcome = current.closed_by.get_username(), current.get_outcome_display()
        return f"{name} has already closed it: {outcome}."
    if current.claimed_by and current.claimed_until:
        name = current.claimed_by.get_username()
        return f"{name} has claimed it until {format_time(current.claimed_until)} UTC."
    return "It has changed: reload the page."
