"""Renders each email from what is stored: subject, text and HTML."""

from typing import cast
from urllib.parse import urlencode

from django.conf import settings
from django.template.loader import render_to_string

from audit.core.vocabulary import Label
from audit.models import CrosscheckLog, DivergenceEvent
from verdicts.core.disclaimer import NOTE
from verdicts.core.label_texts import MEANING
from verdicts.core.presentation import defang, present
from verdicts.core.tiers import TIER, Price
from verdicts.mail.client import Message
from verdicts.mail.kinds import KINDS, Audience, Kind
from verdicts.models import Delivery, Order, Verdict


def compose(delivery: Delivery) -> Message:
    """The email, from what is stored: the same each time, so that a retry is a copy."""
    order, kind = delivery.order, Kind(delivery.kind)
    row = KINDS[kind]
    verdict = Verdict.objects.get(order=order, kind="original") if kind == Kind.VERDICT else None
    emailed = verdict.label if verdict else ""
    if delivery.regen:
        emailed = DivergenceEvent.objects.get(crosscheck=delivery.regen.crosscheck).original_verdict
    context = {
        "order": order,
        "about": delivery.about,
        "emailed": emailed,
        "regen": delivery.regen,
        "note": NOTE,
        "tier": TIER[order.tier],
        "price": Price(order.price_cents, order.currency),
        "refunded": Price(order.refunded_cents, order.currency),
        # Of the emailed label, which is unknown for a session sold by another installation.
        "meaning": MEANING.get(cast("Label", emailed)),
        "reading": defang(present(order.tier, verdict.payload)) if verdict else None,
        "fingerprint": verdict.fingerprint if verdict else "",
        "check": _last_check(order) if kind == Kind.STAFF else None,
        "result_url": result_url(order),
        "admin_url": f"{settings.SITE_URL}/admin/verdicts/order/{order.pk}/change/",
        "support": settings.SUPPORT_EMAIL,
        "sandbox": settings.SANDBOX,
    }
    subject = row.subject.format(label=emailed)
    customer = [order.email] if order.email else []
    return Message(
        to=customer if row.audience is Audience.CUSTOMER else list(settings.STAFF_EMAILS),
        subject=f"[SANDBOX] {subject}" if settings.SANDBOX else subject,
        text=render_to_string(f"email/{row.template}.txt", context),
        html=render_to_string(f"email/{row.template}.html", context),
        message_id=delivery.message_id,
        label=emailed,
    )


def result_url(order: Order) -> str:
    return f"{settings.SITE_URL}/oracle/result?{urlencode({'session_id': order.session_id or ''})}"


def _last_check(order: Order) -> CrosscheckLog | None:
    return CrosscheckLog.objects.filter(session_id=order.session_id).order_by("-pk").first()
