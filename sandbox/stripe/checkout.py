"""Creates a Checkout Session from request parameters, with Stripe's validation."""

import time
from typing import Any, Final, NamedTuple
from urllib.parse import urlsplit

from sandbox.stripe.custom_fields import read_custom_fields
from sandbox.stripe.errors import StripeError, missing
from sandbox.stripe.parameters import child, integer, parse_metadata, reject_unknown, text
from sandbox.stripe.session import DAY, blank_session, customer_details
from sandbox.stripe.store import Session

MIN_AMOUNT: Final = 50
MAX_AMOUNT: Final = 99_999_999
MIN_EXPIRY_SECONDS: Final = 30 * 60
# Every parameter that Stripe accepts; those the sandbox does not need are ignored.
KNOWN: Final = frozenset(
    "adaptive_pricing after_expiration allow_promotion_codes "  # noqa: SIM905 - a word list
    "automatic_tax billing_address_collection branding_settings cancel_url client_reference_id "
    "consent_collection currency custom_fields custom_text customer customer_creation "
    "customer_email customer_update discounts expand expires_at invoice_creation line_items "
    "locale metadata mode name_collection optional_items origin_context payment_intent_data "
    "payment_method_collection payment_method_configuration payment_method_data "
    "payment_method_options payment_method_types permissions phone_number_collection "
    "redirect_on_completion return_url saved_payment_method_options setup_intent_data "
    "shipping_address_collection shipping_options submit_type subscription_data success_url "
    "tax_id_collection ui_mode wallet_options".split()
)


def create_session(params: dict[str, Any], base_url: str) -> Session:
    """A new open session, or StripeError."""
    reject_unknown(params, KNOWN)
    if text(params, "mode", required=True) != "payment":
        raise StripeError("The sandbox supports mode=payment only.", param="mode")
    lines = params.get("line_items")
    if not isinstance(lines, list) or not lines:
        raise missing("line_items")
    amount, currency, product, description = _total(lines)
    email = text(params, "customer_email")
    if email is not None and "@" not in email:
        raise StripeError(
            f"Invalid email address: {email}", code="email_invalid", param="customer_email"
        )
    data = blank_session(base_url)
    data |= {
        "amount_subtotal": amount,
        "amount_total": amount,
        "cancel_url": _url(params, "cancel_url", required=False),
        "client_reference_id": text(params, "client_reference_id"),
        "currency": currency,
        "custom_fields": read_custom_fields(params.get("custom_fields", [])),
        "customer_details": customer_details(email) if email else None,
        "customer_email": email,
        "expires_at": _expiry(params),
        "locale": text(params, "locale"),
        "metadata": parse_metadata(params),
        "success_url": _url(params, "success_url", required=True),
    }
    return Session(data, product, description)


class _Line(NamedTuple):
    amount: int
    currency: str
    name: str
    description: str


def _parse_line(line: Any, where: str) -> _Line:
    if not isinstance(line, dict):
        raise StripeError(f"Invalid object: {where}", param=where)
    inside = f"{where}[price_data]"
    price = child(line, "price_data", where)
    product = child(price, "product_data", inside)
    unit = integer(price, "unit_amount", inside, required=True) or 0
    quantity = integer(line, "quantity", where, required=True) or 0
    if unit < 0 or quantity < 1:
        raise StripeError("Invalid non-negative integer", param=f"{inside}[unit_amount]")
    return _Line(
        amount=unit * quantity,
        currency=(text(price, "currency", inside, required=True) or "").lower(),
        name=text(product, "name", f"{inside}[product_data]", required=True) or "",
        description=text(product, "description") or "",
    )


def _total(items: list[Any]) -> _Line:
    """All line items as one: amounts added, names and descriptions joined."""
    lines = [_parse_line(item, f"line_items[{position}]") for position, item in enumerate(items)]
    total = sum(line.amount for line in lines)
    currencies = {line.currency for line in lines}
    if len(currencies) > 1:
        raise StripeError("All prices on a Checkout session must have the same currency.")
    currency = currencies.pop()
    if len(currency) != 3 or not currency.isalpha():
        raise StripeError(
            f"Invalid currency: {currency}.", param="line_items[0][price_data][currency]"
        )
    _check_total(total, currency)
    names = " + ".join(line.name for line in lines)
    descriptions = " ".join(line.description for line in lines if line.description)
    return _Line(total, currency, names, descriptions)


def _check_total(total: int, currency: str) -> None:
    if not MIN_AMOUNT <= total <= MAX_AMOUNT:
        code = "amount_too_small" if total < MIN_AMOUNT else "amount_too_large"
        side = "at least $0.50" if total < MIN_AMOUNT else "no more than $999,999.99"
        raise StripeError(
            f"The Checkout Session's total amount due must add up to {side} {currency}", code=code
        )


def _url(params: dict[str, Any], name: str, *, required: bool) -> str | None:
    url = text(params, name, required=required)
    if url is None:
        return None
    try:
        parts = urlsplit(url)
        is_valid = parts.scheme in ("http", "https") and bool(parts.hostname)
    except ValueError:
        is_valid = False
    if not is_valid or len(url) > 5_000:
        raise StripeError(f"Not a valid URL: {url[:200]}", code="url_invalid", param=name)
    return url


def _expiry(params: dict[str, Any]) -> int:
    now = int(time.time())
    expires_at = integer(params, "expires_at")
    if expires_at is None:
        return now + DAY
    # A minute of tolerance for the duration of the request.
    if expires_at < now + MIN_EXPIRY_SECONDS - 60 or expires_at > now + DAY + 60:
        raise StripeError(
            "The `expires_at` timestamp must be between 30 minutes and 24 hours from "
            "Checkout Session creation.",
            param="expires_at",
        )
    return expires_at
