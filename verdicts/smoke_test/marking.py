"""An order that a smoke test has made is marked, so that it counts in no figure.

Only here, only by whoever can run commands on the site's database, and only
before it is paid: no customer can hide an order, and none is hidden afterwards.
"""

from django.db import transaction

from audit.actions import record_action
from verdicts.core.prompt import clean_query
from verdicts.models import Order, Status


def mark_as_smoke(session_id: str, *, query: str, who: str) -> Order | None:
    """The marked order, on record; None: there is no unpaid one by that id with that query."""
    with transaction.atomic():
        unpaid = Order.objects.filter(session_id=session_id, status=Status.CREATED, paid_at=None)
        if not unpaid.filter(query=clean_query(query)).update(smoke=True):
            return None
        record_action(
            session_id=session_id, action="mark as smoke", who=who, reason="made by smoke_test"
        )
    return Order.objects.get(session_id=session_id)
