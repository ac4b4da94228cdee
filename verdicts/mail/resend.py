"""Sends the stored verdict email again, on request of a member of staff.

The same text under the same Message-ID, so that mailboxes can deduplicate it; nothing is
generated. Who and why is recorded.
"""

from datetime import datetime

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from audit.actions import record_action
from verdicts.core.errors import CannotResend, CaseTaken
from verdicts.jobs import queue
from verdicts.models import Case, Delivery, Order, Status, Verdict
from verdicts.review.cases import close

State = Delivery.State
ENDED = (State.SENT, State.FAILED, State.UNCERTAIN)


def resendable_email(order: Order) -> Delivery | None:
    """The order's verdict email, if there is one and its verdict is still stored."""
    if order.status == Status.ERASED or Verdict.original_of(order) is None:
        return None
    return Delivery.objects.filter(order=order, kind=Delivery.Kind.VERDICT).first()


def resend(order: Order, *, who: User, reason: str, seen: datetime | None) -> Delivery:
    """Make it pending again, once per page view: `seen` is the `sent_at` that `who` was shown.

    Raises CannotResend, with a sentence that says why; then nothing has happened.
    """
    delivery = resendable_email(order)
    if delivery is None:
        raise CannotResend("There is no stored verdict email to send.")
    ended = Delivery.objects.filter(pk=delivery.pk, state__in=ENDED)
    with transaction.atomic():
        if not ended.filter(sent_at=seen).update(
            state=State.PENDING, attempts=0, due_at=timezone.now(), error=""
        ):
            # Another member of staff has resent it since the page was loaded.
            raise CannotResend("It is already being sent, or was sent after you opened the page.")
        _close_case(delivery, who=who, reason=reason)
        record_action(
            session_id=order.session_id or "",
            action="resend verdict email",
            who=who.get_username(),
            reason=reason,
        )
        queue.enqueue(queue.DELIVER, delivery.pk)
    delivery.refresh_from_db()
    return delivery


def _close_case(delivery: Delivery, *, who: User, reason: str) -> None:
    """Close the open case about the unsent email."""
    for case in Case.objects.select_related("order").filter(delivery=delivery, closed_at=None):
        try:
            close(case, Case.Outcome.RESENT, who=who, note=reason)
        except CaseTaken as error:
            raise CannotResend(str(error)) from None
