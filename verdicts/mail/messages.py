"""What each email says: subject, text and HTML from one family of templates."""

from dataclasses import dataclass
from typing import cast
from urllib.parse import urlencode

from django.conf import settings
from django.template.loader import render_to_string

from audit.core.vocabulary import Label
from audit.models import CrosscheckLog, DivergenceEvent
from verdicts.core.disclaimer import NOTE
from verdicts.core.label_texts import MEANING
from verdicts.core.presentation import readable, without_links
from verdicts.core.tiers import TIER, Price
from verdicts.models import Delivery, Order, Verdict

_SUBJECTS = {
    Delivery.Kind.VERDICT: "Your Oracle verdict: {label}",
    Delivery.Kind.HELD_BACK: "Your Oracle verdict was held back",
    Delivery.Kind.REFUND: "Your Oracle payment was refunded",
    Delivery.Kind.STAFF: "Oracle: an order needs you",
    Delivery.Kind.RETIRED: "Oracle: the model no longer answers",
    Delivery.Kind.DIVERGENCE: "About your Oracle verdict: your emailed {label} stands",
    Delivery.Kind.ESCALATION: "Oracle: the model contradicts itself too often",
    Delivery.Kind.UNRECONCILED: "Oracle: Stripe's books and ours do not agree",
}
TO_STAFF = frozenset(
    {
        Delivery.Kind.STAFF,
        Delivery.Kind.RETIRED,
        Delivery.Kind.ESCALATION,
        Delivery.Kind.UNRECONCILED,
    }
)


@dataclass(frozen=True, slots=True)
class Message:
    to: list[str]
    subject: str
    text: str
    html: str
    message_id: str
    label: str = ""  # the verdict it carries, if it carries one


def compose(delivery: Delivery) -> Message:
    """The letter, from what is stored: the same each time, so a second attempt is a copy."""
    order, kind = delivery.order, Delivery.Kind(delivery.kind)
    verdict = None
    if kind == Delivery.Kind.VERDICT:
        verdict = Verdict.objects.get(order=order, kind="original")
    emailed = verdict.label if verdict else ""
    if delivery.regen:
        emailed = DivergenceEvent.objects.get(crosscheck=delivery.regen.crosscheck).original_verdict
    context = {
        "order": order,
        "about": delivery.about,
        "emailed": emailed,
        "regen": delivery.regen,
        "note": NOTE,
        "tier": TIER[order.tier_name],
        "price": Price(order.price_cents, order.currency),
        "refunded": Price(order.refunded_cents, order.currency),
        # Of the emailed label; what was emailed from elsewhere may be unknown here.
        "meaning": MEANING.get(cast("Label", emailed)),
        "reading": without_links(readable(order.tier_name, verdict.payload)) if verdict else None,
        "fingerprint": verdict.fingerprint if verdict else "",
        "check": _last_check(order) if kind == Delivery.Kind.STAFF else None,
        "result_url": result_url(order),
        "admin_url": f"{settings.SITE_URL}/admin/verdicts/order/{order.pk}/change/",
        "support": settings.SUPPORT_EMAIL,
        "sandbox": settings.SANDBOX,
    }
    subject = _SUBJECTS[kind].format(label=emailed)
    return Message(
        to=list(settings.STAFF_EMAILS) if kind in TO_STAFF else [order.email] * bool(order.email),
        subject=f"[SANDBOX] {subject}" if settings.SANDBOX else subject,
        text=render_to_string(f"email/{kind}.txt", context),
        html=render_to_string(f"email/{kind}.html", context),
        message_id=delivery.message_id,
        label=emailed,
    )


def result_url(order: Order) -> str:
    return f"{settings.SITE_URL}/oracle/result?{urlencode({'session_id': order.session_id or ''})}"


def _last_check(order: Order) -> CrosscheckLog | None:
    return CrosscheckLog.objects.filter(session_id=order.session_id).order_by("-pk").first()
