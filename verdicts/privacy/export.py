"""Export of personal data (GDPR, right of access), by email address."""

from collections.abc import Iterable
from typing import Any

from django.db.models import QuerySet
from django.db.models.functions import Lower

from audit.models import CrosscheckLog, unescape_evidence
from verdicts.models import Order


def orders_of(email: str) -> QuerySet[Order]:
    """The customer's orders; the address matches case-insensitively."""
    lower = Order.objects.alias(lower_email=Lower("email"))
    return lower.filter(lower_email__in=case_variants(email)).order_by("pk")


def case_variants(email: str) -> set[str]:
    """What LOWER() may return for the address: some databases lower-case ASCII only."""
    return {email.lower(), _ascii_lower(email), _ascii_lower(email.upper())}


def _ascii_lower(text: str) -> str:
    return "".join(char.lower() if char.isascii() else char for char in text)


def personal_data(orders: Iterable[Order]) -> list[dict[str, Any]]:
    """Ready for DjangoJSONEncoder."""
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
            {
                "kind": verdict.kind,
                "label": verdict.label,
                "made_at": verdict.created_at,
                "text": verdict.payload,
            }
            for verdict in order.verdicts.order_by("pk")
        ],
        "held_back": [
            {"kind": check.kind, "at": check.created_at, "text": unescape_evidence(check.evidence)}
            for check in CrosscheckLog.objects.filter(session_id=order.session_id or "")
            .exclude(evidence="")
            .order_by("pk")
        ],
        "emails": [
            {
                "kind": delivery.kind,
                "state": delivery.state,
                "about": delivery.about,
                "sent_at": delivery.sent_at,
                "message_id": delivery.message_id,
            }
            for delivery in order.deliveries.order_by("pk")
        ],
        "notes": list(order.cases.exclude(note="").values_list("note", flat=True)),
    }
