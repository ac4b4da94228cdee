"""A Stripe Checkout session as we need it: what was bought, by whom, and is it paid?

Pure: no I/O, no clock, no Django. Reads Stripe's objects as plain dicts, from
an event or from a re-read, and writes the metadata that a session carries.

Policy
- The query travels in metadata `query_0` to `query_7`, 500 characters each, in
  order and without gaps. A session made elsewhere may carry it in its
  `custom_fields` instead, under the key `query`.
- Anything of the wrong type or form is as good as absent.
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
LATEST: Final = 2**32  # in 2106; no calendar takes any number of seconds

PAID: Final = ("paid", "no_payment_required")
_WORD: Final = re.compile(r"\w{1,255}", re.ASCII)
_UUID: Final = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
# An address we could send to; whether somebody reads it there is another question.
_EMAIL: Final = re.compile(
    r"[^@\s\x00-\x1f\x7f\ud800-\udfff]{1,64}@[^@\s\x00-\x1f\x7f\ud800-\udfff]{1,255}"
)

# `unpaid` is a delayed method that may still succeed.
Payment = Literal["paid", "unpaid"]


# What services see of the payment provider: sessions of another one have to be mapped to this.
@dataclass(frozen=True, slots=True)
class CheckoutSession:
    id: str
    tier: TierName | None  # None: no tier of ours is named
    query: str | None  # None: none that could be judged
    email: str
    amount_cents: int | None
    currency: str
    payment: Payment
    created: int | None  # Unix seconds
    complete: bool  # the customer has finished with Stripe's page
    payment_intent: str
    reference: str  # the order's token, for a session that was made here


def is_session_id(text: str) -> bool:
    return SESSION_ID.fullmatch(text) is not None


def session_number(session_id: str) -> int:
    """63 bits of it, by which databases find it sooner. Whoever does compares the id, too."""
    return int.from_bytes(blake2b(session_id.encode(), digest_size=8).digest()) >> 1


def metadata(tier: TierName, query: str) -> dict[str, str]:
    """What a session is created with, so that an order can be rebuilt from it alone."""
    chunks = [query[start : start + CHUNK] for start in range(0, len(query), CHUNK)]
    if len(chunks) > CHUNKS:
        raise ValueError("a query of more than 4,000 characters was never cleaned")
    return {"tier": tier, **{f"query_{n}": chunk for n, chunk in enumerate(chunks)}}


def read_session(raw: object) -> CheckoutSession | None:
    """The session in a Stripe object, or None where it is none."""
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
    """Of a session or a charge: the id, or the whole object where Stripe was asked to expand it."""
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
    return seconds if type(seconds) is int and 0 <= seconds <= LATEST else None


def _match(form: re.Pattern[str], text: str) -> str:
    """The text, if it is of that form; else nothing."""
    return text if form.fullmatch(text) else ""


def _part(raw: dict[str, Any], key: str) -> dict[str, Any]:
    part = raw.get(key)
    return part if isinstance(part, dict) else {}


def _text(raw: dict[str, Any], key: str) -> str:
    text = raw.get(key)
    return text if isinstance(text, str) else ""
