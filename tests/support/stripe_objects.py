"""Stripe's objects and signatures, with overrides per test."""

import hashlib
import hmac
import time
from typing import Any


def session_object(**changes: Any) -> dict[str, Any]:
    return {
        "id": "cs_test_a1B2c3D4e5",
        "object": "checkout.session",
        "amount_subtotal": 500,
        "amount_total": 500,
        "client_reference_id": None,
        "created": 1_700_000_000,
        "currency": "cad",
        "custom_fields": [],
        "customer_details": {"email": "buyer@example.com"},
        "customer_email": None,
        "metadata": {"tier": "full", "query_0": "Should I open a bakery?"},
        "payment_intent": "pi_123",
        "payment_status": "paid",
        "status": "complete",
        **changes,
    }


def charge_object(**changes: Any) -> dict[str, Any]:
    return {
        "id": "ch_123",
        "object": "charge",
        "amount": 500,
        "amount_refunded": 500,
        "payment_intent": "pi_123",
        "refunded": True,
        **changes,
    }


SECRET = "whsec_sandbox"
EVENT = {
    "id": "evt_1",
    "object": "event",
    "type": "checkout.session.completed",
    "data": {"object": session_object()},
}


def signature(body: bytes, *, secret: str = SECRET, at: float | None = None) -> str:
    stamp = int(at or time.time())
    signed = hmac.new(secret.encode(), f"{stamp}.".encode() + body, hashlib.sha256).hexdigest()
    return f"t={stamp},v1={signed}"
