"""One cache entry is removed, on record: the next read is then a miss like any other (R15)."""

from django.db import transaction

from audit.actions import record_action
from verdicts.models import CachedVerdict, Order


def evict(order: Order, *, who: str, reason: str) -> bool:
    """False: there was no entry to remove, and nothing is put on record."""
    with transaction.atomic():
        removed, _ = CachedVerdict.objects.filter(session_id=order.session_id).delete()
        if removed:
            record_action(session_id=order.session_id or "", action="evict", who=who, reason=reason)
    return bool(removed)
