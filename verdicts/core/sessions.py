"""A Stripe Checkout session: what was bought, by whom, and whether it is paid.

Pure: no I/O, no clock, no Django. Parses Stripe's objects as plain dicts, from
an event or an API response, and builds the metadata for a new session.

Policy
- The query is in metadata `query_0` to `query_7`, 500 characters each, numbered
  consecutively. A session created elsewhere may have it in `custom_fields` under
  the key `query` instead.
- A value of the wrong type or format is treated as absent.
"""

import re
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, Final, Literal

from audit.core.vocabulary import TIERS, TierName
from verdicts.core.prompt import QueryError, clean_query

CHUNK: Final = 500
CHUNKS: Final = 8
SESSION_ID: Final = re.compile(r"cs_(test|live)_[A-Za-z0-9]{8,200}")
MAX_TIMESTAMP: Final = 2**32  # in 2106; datetime has an upper bound

PAID: Final = ("paid", "no_payment_required")
_WORD: Final = re.compile(r"\w{1,255}", re.ASCII)
_UUID: Final = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
# Syntax only, not whether the mailbox exists.
_EMAIL: Final = re.compile(
    r"[^@\s\x00-\x1f\x7f\ud800-\udfff]{1,64}@[^@\s\x00-\x1f\x7f\ud800-\udfff]{1,255}"
)

# `unpaid` includes delayed payment methods that may still succeed.
Payment = Literal["paid", "unpaid"]


# What services see of the payment provider: sessions of another one have to be mapped to this.
@dataclass(frozen=True, slots=True)
class CheckoutSession:
    id: str
    tier: TierName | None  # None: not one of our tiers
    query: str | None  # None: no valid query
    email: str
    amount_cents: int | None
    currency: str
    payment: Payment
    created: int | None  # Unix seconds
    complete: bool  # the customer has completed the checkout page
    payment_intent: str
    reference: str  # the order's token, for a session created by this site


def is_session_id(text: str) -> bool:
    return SESSION_ID.fullmatch(text) is not None


def session_number(session_id: str) -> int:
    """A 63-bit hash for a compact index. Collisions are possible: callers compare the id, too."""
    return int.from_bytes(blake2b(session_id.encode(), digest_size=8).digest()) >> 1


def metadata(tier: TierName, query: str) -> dict[str, str]:
    """Metadata for a new session, from which alone the order can be rebuilt."""
    chunks = [query[start : start + CHUNK] for start in range(0, len(query), CHUNK)]
    if len(chunks) > CHUNKS:
        raise ValueError("the query exceeds 4,000 characters: clean_query was not called")
    return {"tier": tier, **{f"query_{n}": chunk for n, chunk in enumerate(chunks)}}


def read_session(raw: object) -> CheckoutSession | None:
    """The session in a Stripe object; None if it is not one."""
    if not isinstance(raw, dict) or not is_session_id(_text(raw, "id")):
        return None
    tier = _text(_part(raw, "metadata"), "tier")
    amount = raw.get("amount_subtotal")
    return CheckoutSession(
        id=_text(raw, "id"),
        tier=tier if tier in TIERS else None,
        query=_query(raw),
        email=_match(_EMAIL, _contact(raw)),
        amount_cents=amount if type(amount) is int else None,
        currency=_match(_WORD, _text(raw, "currency")).lower(),
        payment="paid" if raw.get("payment_status") in PAID else "unpaid",
        created=_seconds(raw, "created"),
        complete=raw.get("status") == "complete",
        payment_intent=payment_intent(raw),
        reference=_match(_UUID, _text(raw, "client_reference_id")),
    )


def payment_intent(raw: dict[str, Any]) -> str:
    """The PaymentIntent's id of a session or a charge, whether expanded or not."""
    intent = _text(raw, "payment_intent") or _text(_part(raw, "payment_intent"), "id")
    return _match(_WORD, intent)


def _query(raw: dict[str, Any]) -> str | None:
    meta = _part(raw, "metadata")
    text = ""
    for number in range(CHUNKS):
        chunk = _text(meta, f"query_{number}")
        if not chunk:
            break
        text += chunk
    try:
        return clean_query(text or _custom_query(raw))
    except QueryError:
        return None


def _custom_query(raw: dict[str, Any]) -> str:
    fields = raw.get("custom_fields")
    for field in fields if isinstance(fields, list) else []:
        if isinstance(field, dict) and field.get("key") == "query":
            return _text(_part(field, "text"), "value")
    return ""


def _contact(raw: dict[str, Any]) -> str:
    return _text(_part(raw, "customer_details"), "email") or _text(raw, "customer_email")


def _seconds(raw: dict[str, Any], key: str) -> int | None:
    seconds = raw.get(key)
    return seconds if type(seconds) is int and 0 <= seconds <= MAX_TIMESTAMP else None


def _match(pattern: re.Pattern[str], text: str) -> str:
    """The text if it matches, else an empty string."""
    return text if pattern.fullmatch(text) else ""


def _part(raw: dict[str, Any], key: str) -> dict[str, Any]:
    part = raw.get(key)
    return part if isinstance(part, dict) else {}


def _text(raw: dict[str, Any], key: str) -> str:
    text = raw.get(key)
    return text if isinstance(text, str) else ""
