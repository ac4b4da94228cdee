"""All that is stored about a person, for the person: found by email address."""

from collections.abc import Iterable
from typing import Any

from django.db.models import QuerySet
from django.db.models.functions import Lower

from audit.models import CrosscheckLog, unescape_evidence
from verdicts.models import Order


def orders_of(email: str) -> QuerySet[Order]:
    """The person's orders, however the address was typed."""
    lower = Order.objects.alias(lower_email=Lower("email"))
    return lower.filter(lower_email__in=spellings(email)).order_by("pk")


def spellings(email: str) -> set[str]:
    """What a database may make of the address in lower case: some leave all but ASCII as it is."""
    return {email.lower(), _ascii_lower(email), _ascii_lower(email.upper())}


def _ascii_lower(text: str) -> str:
    return "".join(one.lower() if one.isascii() else one for one in text)


def personal_data(orders: Iterable[Order]) -> list[dict[str, Any]]:
    """As JSON would have it, but for times."""
    return [_order(order) for order in orders]


def _order(order: Order) -> dict[str, Any]:
    return {
        "session_id": order.session_id,
        "status": order.status,
        "tier": order.tier,
        "email": order.email,
        "query": order.query,
        "ordered_at": order.created_at,
        "payment": {
            "id": order.payment_intent,
            "price_cents": order.price_cents,
            "currency": order.currency,
            "paid_at": order.paid_at,
            "refunded_cents": order.refunded_cents,
            "refunded_at": order.refunded_at,
        },
        "read": {"answers": order.hits, "last_at": order.last_read_at},
        "verdicts": [
            {"kind": one.kind, "label": one.label, "made_at": one.created_at, "text": one.payload}
            for one in order.verdicts.order_by("pk")
        ],
        "held_back": [
            {"kind": one.kind, "at": one.created_at, "text": unescape_evidence(one.evidence)}
            for one in CrosscheckLog.objects.filter(session_id=order.session_id or "")
            .exclude(evidence="")
            .order_by("pk")
        ],
        "emails": [
            {
                "kind": one.kind,
                "state": one.state,
                "about": one.about,
                "sent_at": one.sent_at,
                "message_id": one.message_id,
            }
            for one in order.deliveries.order_by("pk")
        ],
        "notes": list(order.cases.exclude(note="").values_list("note", flat=True)),
    }
