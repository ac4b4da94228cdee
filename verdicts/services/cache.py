"""The ready-made answer of a session, written with the verdict it shows."""

from django.conf import settings
from django.utils import timezone

from verdicts.core.body import render
from verdicts.models import CachedVerdict, Order, Verdict

DAY = 24 * 3600


def put(order: Order, verdict: Verdict) -> None:
    """Cache `verdict` as what the session's readers get from now on."""
    now = timezone.now()
    rendered = render(
        tier=order.tier,
        query=order.query,
        payload=verdict.payload,
        cached_at=now,
        regen=verdict.kind == "regen",
        divergence=None,
    )
    days = settings.ORACLE_CACHE_DAYS
    CachedVerdict.objects.update_or_create(
        session_id=order.session_id,
        defaults={
            "verdict": verdict,
            "body": rendered.body,
            "etag": rendered.etag,
            "expires_at": int(now.timestamp()) + days * DAY if days else None,
            "cached_at": now,
        },
    )
