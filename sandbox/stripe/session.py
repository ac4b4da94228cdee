"""A Checkout Session with the fields and types of Stripe's API."""

import time
from typing import Any, Final

from sandbox.stripe.ids import new_id

DAY: Final = 24 * 60 * 60
NULL_FIELDS: Final = (
    "adaptive_pricing",
    "after_expiration",
    "allow_promotion_codes",
    "billing_address_collection",
    "cancel_url",
    "client_reference_id",
    "client_secret",
    "collected_information",
    "consent",
    "consent_collection",
    "currency_conversion",
    "customer",
    "customer_details",
    "customer_email",
    "invoice",
    "locale",
    "payment_intent",
    "payment_link",
    "payment_method_configuration_details",
    "permissions",
    "recovered_from",
    "saved_payment_method_options",
    "setup_intent",
    "shipping_address_collection",
    "shipping_cost",
    "submit_type",
    "subscription",
    "success_url",
    "url",
    "wallet_options",
)


def blank_session(base_url: str) -> dict[str, Any]:
    """An open, unpaid session; the caller sets the requested fields."""
    now = int(time.time())
    identifier = new_id("cs_test", 58)
    return {
        "id": identifier,
        "object": "checkout.session",
        **dict.fromkeys(NULL_FIELDS),
        "amount_subtotal": 0,
        "amount_total": 0,
        "automatic_tax": {"enabled": False, "liability": None, "provider": None, "status": None},
        "created": now,
        "currency": "cad",
        "custom_fields": [],
        "custom_text": {
            "after_submit": None,
            "shipping_address": None,
            "submit": None,
            "terms_of_service_acceptance": None,
        },
        "customer_creation": "if_required",
        "discounts": [],
        "expires_at": now + DAY,
        "livemode": False,
        "metadata": {},
        "mode": "payment",
        "payment_method_collection": "if_required",
        "payment_method_options": {"card": {"request_three_d_secure": "automatic"}},
        "payment_method_types": ["card"],
        "payment_status": "unpaid",
        "phone_number_collection": {"enabled": False},
        "shipping_options": [],
        "status": "open",
        "total_details": {"amount_discount": 0, "amount_shipping": 0, "amount_tax": 0},
        "ui_mode": "hosted_page",
        "url": f"{base_url}/pay/{identifier}",
    }


def customer_details(email: str | None) -> dict[str, Any]:
    return {
        "address": None,
        "business_name": None,
        "email": email,
        "individual_name": None,
        "name": None,
        "phone": None,
        "tax_exempt": "none",
        "tax_ids": None,
    }
