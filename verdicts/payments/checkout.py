"""Starts a checkout: stores the order, then creates the Stripe session that pays for it."""

from typing import Final

from django.conf import settings

from audit.core.vocabulary import TierName
from audit.log_context import set_log_session
from verdicts.core.errors import PaymentsBusy
from verdicts.core.sessions import metadata
from verdicts.core.tiers import TIER
from verdicts.http.concurrency_limit import ConcurrencyLimit
from verdicts.models import Order
from verdicts.payments import client
from verdicts.payments.client import Account, NewSession

CHECKOUT_SESSION: Final = "{CHECKOUT_SESSION_ID}"  # Stripe fills it in

# Of this process: checkouts that wait for Stripe must not occupy all threads.
in_progress = ConcurrencyLimit()


def start_checkout(*, account: Account, tier: TierName, query: str, email: str = "") -> NewSession:
    """A new order and the Stripe session that pays for it. Raises a PaymentError.

    The query must be clean. If the process dies before the session's id is stored, the webhook
    still finds the order by its token.
    """
    with in_progress.acquire(limit=settings.SERVING.checkouts) as free:
        if not free:
            raise PaymentsBusy("too many orders are waiting for Stripe")
        return _place_order(account, tier, query, email)


def _place_order(account: Account, tier: TierName, query: str, email: str) -> NewSession:
    price = settings.ORACLE_PRICES[tier]
    order = Order.objects.create(
        tier=tier,
        query=query,
        email=email,
        price_cents=price.cents,
        currency=price.currency,
    )
    session = client.create_session(
        account, _params(order), idempotency_key=f"checkout-{order.token}"
    )
    set_log_session(session.id)
    Order.objects.filter(pk=order.pk, session_id=None).update(session_id=session.id)
    return session


def _params(order: Order) -> dict[str, object]:
    params: dict[str, object] = {
        "mode": "payment",
        "client_reference_id": str(order.token),
        "line_items": [
            {
                "quantity": 1,
                "price_data": {
                    "currency": order.currency,
                    "unit_amount": order.price_cents,
                    "product_data": {"name": f"Oracle: {TIER[order.tier].title}"},
                },
            }
        ],
        "metadata": metadata(order.tier, order.query),
        "success_url": f"{settings.SITE_URL}/oracle/result?session_id={CHECKOUT_SESSION}",
        "cancel_url": f"{settings.SITE_URL}/",
    }
    if order.email:
        params["customer_email"] = order.email
    return params
