"""The verdict cache: the rendered response of each session, written with the verdict it shows.

Callers of `put` and `refresh` hold the order's row (`Order.lock`), so that an entry and the
comparison that it states are written one after the other.
"""

import time
from typing import Final

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from audit.actions import record_action
from audit.core.vocabulary import UNKNOWN
from audit.models import DivergenceEvent
from verdicts.core.disclaimer import Comparison
from verdicts.core.response_body import Rendered, render
from verdicts.models import CachedVerdict, Order, Verdict

DAY: Final = 24 * 3600


def find(session_id: str) -> CachedVerdict | None:
    """The entry, if it exists, has not expired and was approved; None is a cache miss."""
    entry = CachedVerdict.objects.filter(session_id=session_id).first()
    if entry is None or (entry.expires_at is not None and entry.expires_at <= time.time()):
        return None
    if not entry.approved:
        CachedVerdict.objects.filter(session_id=session_id, approved=False).delete()  # C17
        return None
    return entry


def put(order: Order, verdict: Verdict, comparison: Comparison | None) -> CachedVerdict:
    """Cache `verdict` as the response of the session from now on."""
    now = timezone.now()
    rendered = _render(order, verdict, comparison)
    days = settings.ORACLE_CACHE_DAYS
    entry = CachedVerdict(
        session_id=order.session_id or "",
        verdict=verdict,
        approved=verdict.crosscheck.approved,
        body=rendered.body,
        etag=rendered.etag,
        expires_at=int(now.timestamp()) + days * DAY if days else None,
        cached_at=now,
    )
    CachedVerdict.objects.bulk_create(
        [entry],
        update_conflicts=True,
        # Not the session: if two have one number, the later one replaces the other.
        unique_fields=["id"],
        update_fields=[
            *("session_id", "verdict", "approved", "body", "etag", "expires_at", "cached_at")
        ],
    )
    return entry


def refresh(order: Order, *, of: Verdict | None = None) -> bool:
    """Render an existing entry again from what is stored now; False: there is none.

    `of`: only if it holds that verdict.
    """
    entries = CachedVerdict.objects.filter(session_id=order.session_id)
    if of:
        entries = entries.filter(verdict=of)
    entry = entries.select_related("verdict__order").first()
    if entry is None:
        return False
    rendered = _render(order, entry.verdict, comparison_of(entry.verdict))
    # Only while it still holds the verdict that was rendered.
    same = entries.filter(verdict=entry.verdict_id)
    return bool(same.update(body=rendered.body, etag=rendered.etag))


def matches_record(order: Order, entry: CachedVerdict) -> bool:
    """Whether the entry is what would be rendered now, for that order."""
    if entry.verdict.order_id != order.pk or not entry.approved:
        return False
    verdict, comparison = entry.verdict, None
    if verdict.kind != "original":  # its event may have been prefetched
        comparison = _compared(verdict, getattr(verdict.crosscheck, "divergence", None))
    return Rendered(entry.body, entry.etag) == _render(order, verdict, comparison)


def correct(order: Order) -> bool:
    """Repair the entry from what is stored; False: there is none. Calls no model.

    The caller holds the order's lock.
    """
    entry = CachedVerdict.objects.select_related("verdict").filter(session_id=order.session_id)
    found = entry.first()
    if found is None:
        return False
    if found.verdict.order_id == order.pk and found.approved:
        return refresh(order)
    stored = Verdict.objects.select_related("crosscheck", "order").filter(order=order)
    newest = stored.order_by("-pk").first()
    if newest:
        put(order, newest, comparison_of(newest))
    else:
        found.delete()
    return True


def evict(order: Order, *, who: str, reason: str) -> bool:
    """Remove the entry, on record: the next read is a miss like any other (R15).

    False: there was none, and nothing is put on record.
    """
    with transaction.atomic():
        removed, _ = CachedVerdict.objects.filter(session_id=order.session_id).delete()
        if removed:
            record_action(session_id=order.session_id or "", action="evict", who=who, reason=reason)
    return bool(removed)


def comparison_of(verdict: Verdict) -> Comparison | None:
    """How a stored verdict compares with the emailed one; None: it is the emailed one."""
    if verdict.kind == "original":
        return None
    event = DivergenceEvent.objects.filter(crosscheck=verdict.crosscheck_id).first()
    return _compared(verdict, event)


def _compared(verdict: Verdict, event: DivergenceEvent | None) -> Comparison:
    if event is None:
        return Comparison(emailed_label(verdict.order) or UNKNOWN)
    return Comparison(
        event.original_verdict,
        "skipped" if event.skipped else "checked",
        event.level or None,
    )


def emailed_label(order: Order) -> str:
    """The emailed label: stored, or as a comparison found it in the log; else empty."""
    originals = Verdict.objects.filter(order=order, kind="original")
    compared = DivergenceEvent.objects.filter(session_id=order.session_id, skipped=False)
    return (
        originals.values_list("label", flat=True).first()
        or compared.order_by("-pk").values_list("original_verdict", flat=True).first()
        or ""
    )


def _render(order: Order, verdict: Verdict, comparison: Comparison | None) -> Rendered:
    return render(
        tier=order.tier,
        query=order.query,
        payload=verdict.payload,
        # When the text was generated, so that the same verdict gives the same response.
        cached_at=verdict.created_at,
        comparison=comparison,
        refunded_at=order.refunded_at,
    )
