"""Creates a Checkout Session the way the product does."""

from typing import Any

import stripe


def order(**changes: Any) -> dict[str, Any]:
    """The parameters of an ordinary Checkout Session."""
    line = {
        "price_data": {
            "currency": "cad",
            "unit_amount": 500,
            "product_data": {"name": "Full Breakdown", "description": "Five dimensions."},
        },
        "quantity": 1,
    }
    return {
        "mode": "payment",
        "line_items": [line],
        "customer_email": "ada@example.com",
        "metadata": {"tier": "full", "query_0": "Should I open a bakery?"},
        "success_url": "http://127.0.0.1:8000/oracle/result?session_id={CHECKOUT_SESSION_ID}",
        "cancel_url": "http://127.0.0.1:8000/",
        **changes,
    }


def checkout(shop: stripe.StripeClient, **changes: Any) -> stripe.checkout.Session:
    return shop.v1.checkout.sessions.create(order(**changes))
