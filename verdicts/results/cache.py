"""The ready-made answer of a session, written with the verdict it shows.

Whoever puts or refreshes an entry holds the order's row (`Order.lock`), so that an entry
and the comparison it tells of cannot pass each other unseen.
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
    """The entry, if it is there, has not expired and was approved; else it is a miss."""
    entry = CachedVerdict.objects.filter(session_id=session_id).first()
    if entry is None or (entry.expires_at is not None and entry.expires_at <= time.time()):
        return None
    if not entry.approved:
        CachedVerdict.objects.filter(session_id=session_id, approved=False).delete()  # C17
        return None
    return entry


def put(order: Order, verdict: Verdict, comparison: Comparison | None) -> CachedVerdict:
    """Cache `verdict` as what the session's readers get from now on."""
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
        # Not the session: should two have one number, the later one takes the other's place.
        unique_fields=["id"],
        update_fields=[
            *("session_id", "verdict", "approved", "body", "etag", "expires_at", "cached_at")
        ],
    )
    return entry


def refresh(order: Order, *, of: Verdict | None = None) -> bool:
    """Render the entry anew from what is on record now; where there is none, there stays none.

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
    """Whether the entry says what is on record now, of that very order."""
    if entry.verdict.order_id != order.pk or not entry.approved:
        return False
    verdict, comparison = entry.verdict, None
    if verdict.kind != "original":  # its event may have been read with it, for many at once
        comparison = _compared(verdict, getattr(verdict.crosscheck, "divergence", None))
    return Rendered(entry.body, entry.etag) == _render(order, verdict, comparison)


def correct(order: Order) -> bool:
    """Have the entry say what is on record now; False: there is none. No model is asked.

    For whoever holds the order.
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
    """What the record says of a verdict beside the emailed one; None: it is the emailed one."""
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
    """The label that stands: stored, or as a comparison found it in the log; else nothing."""
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
        # When the text was made, so that the same verdict put back is the same answer.
        cached_at=verdict.created_at,
        comparison=comparison,
        refunded_at=order.refunded_at,
    )
