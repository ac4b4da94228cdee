"""Stripe: create, re-read and list checkout sessions, refund, verify and parse webhook events.

The only importer of the stripe package. Returns plain dicts; maps the SDK's errors to ours.
"""

import re
import time
from collections.abc import Callable, Coroutine, Iterator
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from audit.core.json_depth import loads
from verdicts.core.errors import (
    AlreadyRefunded,
    BadEvent,
    BadSignature,
    PaymentRefused,
    PaymentsBusy,
    UnknownSession,
)
from verdicts.http.deadline import loop_id, run_with_deadline

if TYPE_CHECKING:
    from stripe import StripeClient

DEADLINE: Final = 15.0
PAGE: Final = 100  # Stripe's maximum
_NAME: Final = re.compile(r"[\w.]{1,255}", re.ASCII)
TOLERANCE: Final = 300  # seconds that a signature stays valid, Stripe's own default


# Another payment provider has to implement these types and functions, with the same errors.
@dataclass(frozen=True, slots=True)
class Account:
    secret_key: str
    base_url: str | None = None
    deadline: float = DEADLINE


@dataclass(frozen=True, slots=True)
class NewSession:
    id: str
    url: str


@dataclass(frozen=True, slots=True)
class Event:
    id: str
    type: str
    object: dict[str, Any]


def create_session(account: Account, params: Any, *, idempotency_key: str) -> NewSession:
    sessions = _client(account, loop_id()).v1.checkout.sessions
    options: Any = {"idempotency_key": idempotency_key}
    raw = _call(account, sessions.create_async(params, options))
    return NewSession(id=raw["id"], url=raw["url"])


def retrieve_session(account: Account, session_id: str) -> dict[str, Any]:
    sessions = _client(account, loop_id()).v1.checkout.sessions
    return _call(account, sessions.retrieve_async(session_id))


def list_sessions(
    account: Account, *, since: int, seconds: float
) -> Iterator[list[dict[str, Any]]]:
    """Completed sessions created since then, in pages, newest first.

    Complete does not mean paid: Stripe has no such filter. Raises a PaymentError, also after
    `seconds`, which include the caller's work between the pages.
    """
    sessions = _client(account, loop_id()).v1.checkout.sessions
    wanted = {"status": "complete", "created": {"gte": since}}
    yield from _pages(account, sessions.list_async, wanted, seconds)


def list_refunds(account: Account, *, since: int, seconds: float) -> Iterator[list[dict[str, Any]]]:
    """Refunds made since then, each with its `charge` as in an event."""
    refunds = _client(account, loop_id()).v1.refunds
    wanted = {"expand": ["data.charge"], "created": {"gte": since}}
    yield from _pages(account, refunds.list_async, wanted, seconds)


def refund(account: Account, payment_intent: str, *, idempotency_key: str) -> dict[str, Any]:
    """Refund all that is left of a payment; idempotent for the same key."""
    refunds = _client(account, loop_id()).v1.refunds
    options: Any = {"idempotency_key": idempotency_key}
    return _call(account, refunds.create_async({"payment_intent": payment_intent}, options))


def read_event(payload: bytes, signature: str, secrets: list[str]) -> Event:
    """The event in a signed webhook body. Several secrets are accepted during a rotation."""
    # Imported at the call, like every SDK.
    from stripe import SignatureVerificationError, WebhookSignature  # noqa: PLC0415 - see _call

    try:
        text = payload.decode()
    except UnicodeDecodeError:
        raise BadEvent("the body is not UTF-8") from None
    for secret in secrets:
        try:
            WebhookSignature.verify_header(text, signature, secret, TOLERANCE)
            break
        except (SignatureVerificationError, ValueError, TypeError):  # TypeError: not ASCII
            continue
    else:
        raise BadSignature("the signature does not match the body")
    return _event(text)


def _event(text: str) -> Event:
    try:
        raw = loads(text)
        event = Event(raw["id"], raw["type"], raw["data"]["object"])
    except (ValueError, KeyError, TypeError):
        raise BadEvent("the body is not a Stripe event") from None
    named = all(isinstance(name, str) and _NAME.fullmatch(name) for name in (event.id, event.type))
    if not (named and isinstance(event.object, dict)):
        raise BadEvent("the body is not a Stripe event")
    return event


def _pages(
    account: Account,
    ask: Callable[[Any], Coroutine[Any, Any, Any]],
    wanted: dict[str, Any],
    seconds: float,
) -> Iterator[list[dict[str, Any]]]:
    end = time.monotonic() + seconds
    wanted = {**wanted, "limit": PAGE}
    while True:
        left = end - time.monotonic()
        if left <= 0:
            raise PaymentsBusy(f"Stripe's list was not complete within {seconds:.3g} s")
        page = _call(replace(account, deadline=min(left, account.deadline)), ask(wanted))
        yield page["data"]
        if not page["data"] or not page["has_more"]:
            return
        wanted = {**wanted, "starting_after": page["data"][-1]["id"]}


def _call(account: Account, call: Coroutine[Any, Any, Any]) -> dict[str, Any]:
    import stripe  # noqa: PLC0415 - a quarter of a second, for processes that call it only

    try:
        result: dict[str, Any] = run_with_deadline(account.deadline, call).to_dict()
    except TimeoutError:
        raise PaymentsBusy(f"no answer from Stripe within {account.deadline:.3g} s") from None
    except stripe.InvalidRequestError as error:
        if error.code == "resource_missing":
            raise UnknownSession("Stripe does not know it") from None
        if error.code == "charge_already_refunded":
            raise AlreadyRefunded("it was refunded before") from None
        raise PaymentRefused(f"Stripe refused the request ({error.code or error.param})") from None
    except (stripe.AuthenticationError, stripe.PermissionError) as error:
        raise PaymentRefused(f"Stripe refused our key ({type(error).__name__})") from None
    except stripe.StripeError as error:
        raise PaymentsBusy(f"Stripe is unreachable ({type(error).__name__})") from None
    return result


@cache  # a client that is dropped leaves its connections open
def _client(account: Account, _generation: int) -> "StripeClient":
    import stripe  # noqa: PLC0415 - see _call

    addresses: Any = {"api": account.base_url} if account.base_url else None
    return stripe.StripeClient(
        account.secret_key,
        base_addresses=addresses,
        max_network_retries=2,
        http_client=stripe.HTTPXClient(timeout=10),
    )
