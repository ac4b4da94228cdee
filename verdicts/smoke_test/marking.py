"""Marks an order of a smoke test, so that statistics exclude it.

Only this module marks orders, it needs access to the site's database, and the order must be
unpaid: no customer can have an order excluded, and no paid order can be excluded afterwards.
"""

from django.db import transaction

from audit.actions import record_action
from verdicts.core.prompt import clean_query
from verdicts.models import Order, Status


def mark_as_smoke(session_id: str, *, query: str, who: str) -> Order | None:
    """The marked order, with a staff action on record; None if there is no unpaid order with
    that session id and query."""
    with transaction.atomic():
        unpaid = Order.objects.filter(session_id=session_id, status=Status.CREATED, paid_at=None)
        if not unpaid.filter(query=clean_query(query)).update(smoke=True):
            return None
        record_action(
            session_id=session_id, action="mark as smoke", who=who, reason="made by smoke_test"
        )
    return Order.objects.get(session_id=session_id)
